import { expect, test } from 'vitest';
import { readDisassembly, readState } from '../../../web/src/api/schema.ts';
import { mismatch } from '../../src/debug/model/versions.ts';
import { readVersions } from '../../src/debug/model/wire.ts';
import { machineCode } from '../../src/reports/model/machine_code.ts';
import { code, table, text } from '../../src/reports/model/markdown.ts';
import { ofFile, ofPrograms, readDeclared, readFileScd } from '../../src/reports/model/scd.ts';

test('cells can not break a table', () => {
  expect(table([{ name: 'a', cell: (row: string) => code(row) }], ['x|y', 'a`b', '']).split('\n').slice(2)).toEqual(['| `x\\|y` |', '| ``a`b`` |', '|  |']);
  expect(text('[a](b) | <c>\nd')).toBe('\\[a\\](b) \\| \\<c\\> d');
});

test('a file: declared degrees, regions, borders', () => {
  const report = ofFile(
    readFileScd({
      file: 'add.msbc',
      functions: [
        {
          function: 'main',
          scd: 0.25,
          tensors: [{ name: 'x', scd: 0, dims: ['symbolic:N'], reason: 'input' }, { name: 'uncounted', dims: [] }],
          regions: [{ first: 2, last: 3, calls: 1, symbols: [{ name: 'N', free: true }, { name: 'M' }] }],
          borders: [{ instruction: 4, what: 'TENSOR_READ', why: 'reads data', place: 'a.py:3' }],
        },
      ],
    }),
  );
  expect(report).toContain('## @main: 0.25');
  expect(report).toContain('| `x` | **0.00** | `[symbolic:N]` | input |  |  |');
  expect(report).not.toContain('uncounted');
  expect(report).toContain('- **region 0**: instructions 2 to 3, 1 calls; decided by `N` (free), `M`');
  expect(report).toContain('| 4 | `TENSOR_READ` | reads data | a.py:3 |');
});

test('programs that run: hit rates, regions, declared degrees', () => {
  const { programs } = readState({ programs: [{ id: 1, name: 'neck', runs: 12, hit_rate: 0.75, regions: [{ name: 'neck:0', scd: 1, symbols: ['N'], runs: 8, native: 6, state: 'compiled' }] }] });
  const report = ofPrograms(programs, readDeclared({ programs: [{ id: 1, tensors: [{ name: 'y', scd: 0.5, dims: ['3'], mend: 'use h * 2' }] }] }));
  expect(report).toContain('12 runs; hit rate **75.0 %**');
  expect(report).toContain('| `neck:0` | 1.00 | `N` | 8 | 75.0 % | compiled |  |');
  expect(report).toContain('| `y` | 0.50 | `[3]` |  | use h \\* 2 |  |');
  expect(ofPrograms([], readDeclared(null))).toContain('no program yet');
  const file = readFileScd({ functions: [{ function: 'main', regions: [], borders: [{ instruction: 1, what: 'Resize', why: 'the call allocates its output', place: 'neck.py:5' }] }, { function: 'plain' }] });
  const written = ofPrograms(programs, readDeclared(null), file);
  expect(written).toContain('## @main as it is written\n\n### Borders');
  expect(written).toContain('| 1 | `Resize` | the call allocates its output | neck.py:5 |');
  expect(written).not.toContain('@plain');
});

test('machine code names what stands out, and where lines come from', () => {
  const asm = machineCode(
    'jit_64',
    readDisassembly({
      entry: 'e',
      kernels: [{ name: 'k0', size: 12, lines: [{ address: '0x0', text: 'vmovups ymm0, [rdi]', places: ['model.py:9'], instructions: [3], finding: 0 }, { address: '0x1c5', text: 'ret', places: ['model.py:9'], instructions: [3], finding: null }] }],
      findings: [{ kind: 'unaligned', kernel: 0, line: 0, text: 'an unaligned load', mend: 'align it' }],
      calls: [{ instruction: 4, operator: 'Relu', kernel: 'relu_avx2' }],
    }),
  );
  expect(asm).toMatch(/; unaligned: an unaligned load \(kernel k0, line 1\)\n; {3}align it/);
  expect(asm).toMatch(/0x0 {4}vmovups ymm0, \[rdi\] +; model\.py:9, instruction 3 {2}<- unaligned\n {2}0x1c5 {2}ret\n/);
  expect(asm).toContain(';   instruction 4: Relu, relu_avx2');
  expect(asm.split('\n')[0]).toBe('; jit_64: e');
});

test.each([
  [{ msvm: '0.1.7', dap: 1 }, undefined],
  [{ msvm: '0.1.0', dap: 0 }, /pip install --upgrade msvm/],
  [{}, /pip install --upgrade msvm/],
  [{ msvm: '0.1.0', dap: 2 }, /code --install-extension/],
  [{ msvm: '0.2.0', dap: 1 }, /is version 0\.2\.0, this extension 0\.1\.0.*Take both/],
])('versions that do not fit name the command that mends it: %j', (found, wanted) => {
  const wrong = mismatch('0.1.0', readVersions(found), '/bin/msvm');
  if (wanted === undefined) expect(wrong).toBeUndefined();
  else expect(`${wrong?.text} ${wrong?.mend}`).toMatch(wanted);
});
