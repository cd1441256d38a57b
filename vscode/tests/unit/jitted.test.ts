import { expect, test } from 'vitest';
import { facts, line } from '../../src/codelens/model/facts.ts';
import { jitted, outsideStrings } from '../../src/codelens/model/jitted.ts';
import { readState } from '../../../web/src/api/schema.ts';

const names = (text: string) => jitted(text).map(({ name }) => name);

test.each([
  ['import msvm as ms\n@ms.jit\ndef f(x):\n    return x', ['f']],
  ['import msvm\n@msvm.jit\ndef f(x): return x', ['f']],
  ['import numpy as np, msvm as m\n@m.jit\ndef f(x): return x', ['f']],
  ['from msvm import jit\n@jit\ndef f(x): return x', ['f']],
  ['from msvm import Tensor, jit as fast\n@fast(jit_threshold=1)\ndef f(x): return x', ['f']],
  ['from msvm import (jit)\n@jit\nasync def f(x): return x', ['f']],
  ['import msvm as ms\nclass A:\n    @ms.jit\n    def f(self): pass\n    @ms.jit  # twice\n    def g(self): pass', ['f', 'g']],
  ['import msvm as ms\n@ms.jit\n@other\ndef f(x): return x', ['f']],
])('jitted functions are found under what the text has imported: %j', (text, wanted) => expect(names(text)).toEqual(wanted));

test.each(['@ms.jit\ndef f(x): return x', 'import msvm as ms\n@ms.jitter\ndef f(): pass', 'import msvm as ms\n"""\n@ms.jit\ndef f(): pass\n"""', 'from numba import jit\n@jit\ndef f(): pass', 'import msvm as ms\n# @ms.jit\ndef f(): pass'])(
  'others are not: %j',
  (text) => expect(names(text)).toEqual([]),
);

test('a function ends where its indentation does', () => {
  const text = 'import msvm as ms\n\n@ms.jit\ndef f(\n    x,\n):\n    y = x\n\n    # a note\n    return y\n\nprint(1)\n';
  expect(jitted(text)).toEqual([{ name: 'f', line: 2, def: 3, last: 9 }]);
});

test('strings of several lines keep their lines', () => {
  expect(outsideStrings('a\n"""b\nc"""\nd')).toHaveLength(4);
});

const program = (name: string, place: string, over: object = {}) => ({
  id: 3,
  name,
  runs: 10,
  region_runs: 10,
  native: 9,
  regions: [{ place, scd: 1, entries: [{ name: 'e', tier: 1, code_bytes: 10 }, { name: 's', tier: 2, code_bytes: 10 }] }],
  ...over,
});
const neck = jitted('import msvm as ms\n@ms.jit\ndef neck(x):\n    return x')[0] ?? expect.fail('not found');

test('facts come from the program whose regions lie in the function', () => {
  const { programs } = readState({ programs: [program('other', 'model.py:40'), program('a', 'model.py:4')] });
  const found = facts(programs, '/ws/model.py', neck) ?? expect.fail('no facts');
  expect(found.programs.map(({ name }) => name)).toEqual(['a']);
  expect(line(found)).toBe('tier 2 (native, these sizes) · SCD 1.00 · hit rate 90 %');
});

test('or from the one of its name, if nothing says where it is from', () => {
  const { programs } = readState({ programs: [program('model.neck#2', '', { regions: [], region_runs: 0 })] });
  expect(line(facts(programs, '/ws/model.py', neck) ?? expect.fail('no facts'))).toBe('tier 0 (interpreted) · 10 runs');
  expect(facts(readState({ programs: [program('neck', 'other.py:3')] }).programs, '/ws/model.py', neck)).toBeUndefined();
  expect(facts([], '/ws/model.py', neck)).toBeUndefined();
});
