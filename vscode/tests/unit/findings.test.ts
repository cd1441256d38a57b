import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { character } from '../../src/msasm/model/columns.ts';
import { backupPath, replaceFile, scratchPath } from '../../src/msbc/model/backup.ts';
import { explained, fixTitle, mended, readFindings } from '../../src/validate/model/findings.ts';

const raw = [
  {
    code: 'MSV0401',
    title: 'shape constraint violation',
    message: 'Missing SHAPE_CALC from h to 2*h',
    expected: '[N, h]',
    found: 'op Resize requires [N, 2*h]',
    fix: 'insert before instruction 2:  R4 = SHAPE_CALC mul R3, 2',
    place: { function: '@f', instruction: 2, offset: 9, mnemonic: 'TENSOR_ALLOC' },
    text: { line: 3, column: 3, end_line: 3, end_column: 30 },
    edits: [
      { line: 3, column: 1, end_line: 3, end_column: 1, new_text: '  R4 = SHAPE_CALC mul R3, 2\n' },
      { line: 3, column: 24, end_line: 3, end_column: 25, new_text: 'R4' },
    ],
  },
  { code: 'MSV0701', place: { file: '-', line: 2, column: 5 } },
];

describe('findings', () => {
  const findings = readFindings(raw);
  it('are read with their places', () => {
    expect(findings[0]?.text).toEqual({ line: 3, column: 3, end_line: 3, end_column: 30 });
    expect(findings[1]?.text).toBeNull();
    expect(findings[1]?.place.instruction).toBe(-1);
    expect(readFindings('nonsense')).toEqual([]);
  });
  it('say what was expected and found, and what the fix does', () => {
    const [first] = findings;
    expect(first && explained(first)).toBe('Missing SHAPE_CALC from h to 2*h\nExpected: [N, h]\nFound: op Resize requires [N, 2*h]\nFix: insert before instruction 2:  R4 = SHAPE_CALC mul R3, 2');
    expect(first && fixTitle(first)).toBe('Insert R4 = SHAPE_CALC mul R3, 2, write R4');
  });
  it('mend a text, columns being bytes', () => {
    const text = 'a\nb\n  "ö" = ALLOC [N,     h]\nc\n';
    const edits = readFindings(raw)[0]?.edits ?? [];
    expect(mended(text, edits, character)).toBe('a\nb\n  R4 = SHAPE_CALC mul R3, 2\n  "ö" = ALLOC [N,     R4]\nc\n');
  });
});

describe('a file that is replaced', () => {
  it('is kept, and no older backup is lost', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'msvm-backup-'));
    try {
      const path = join(folder, 'm.msbc');
      for (const [k, content] of ['one', 'two'].entries()) {
        await writeFile(path, `old ${content}`);
        const fresh = scratchPath(path, String(k));
        await writeFile(fresh, `new ${content}`);
        expect(await replaceFile(path, fresh)).toBe(join(folder, k === 0 ? 'm.msbc.bak' : 'm.msbc.bak1'));
        expect(await readFile(path, 'utf8')).toBe(`new ${content}`);
      }
      expect(await readFile(join(folder, 'm.msbc.bak'), 'utf8')).toBe('old one');
      expect((await readdir(folder)).sort()).toEqual(['m.msbc', 'm.msbc.bak', 'm.msbc.bak1']);
      expect(scratchPath(path, 'x').endsWith('.msbc')).toBe(true);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
  it('stays where the new one is missing', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'msvm-backup-'));
    try {
      const path = join(folder, 'm.msbc');
      await writeFile(path, 'old');
      await expect(replaceFile(path, join(folder, 'none.msbc'))).rejects.toThrow();
      expect(await readFile(path, 'utf8')).toBe('old');
      expect(await backupPath(path, () => Promise.resolve(false))).toBe(`${path}.bak`);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
