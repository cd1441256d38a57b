// language/msasm.tmLanguage.json is made from the tables: MSVM_UPDATE_GOLDEN=1 writes it anew.
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { grammar } from '../../src/msasm/model/grammar.ts';
import { tables } from '../../src/msasm/model/tables.ts';

const path = resolve(import.meta.dirname, '../../language/msasm.tmLanguage.json');

describe('the grammar', () => {
  it('is the one that the tables make', () => {
    const text = `${JSON.stringify(grammar(tables), null, 2)}\n`;
    if (process.env.MSVM_UPDATE_GOLDEN !== undefined) writeFileSync(path, text);
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  it('knows every instruction, and each pattern is one that the editor can read', () => {
    const text = JSON.stringify(grammar(tables));
    for (const { mnemonic } of tables.instructions) expect(text).toContain(mnemonic);
    JSON.parse(text, (key, value: unknown) => {
      if ((key === 'match' || key === 'begin' || key === 'end') && typeof value === 'string') expect(() => new RegExp(value)).not.toThrow();
      return value;
    });
  });
});
