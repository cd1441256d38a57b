import { expect, test } from 'vitest';
import { parsed, propose, proposed, readInfo } from '../../src/debug/model/shapes.ts';

const symbol = (name: string, min: number, max: number | null = null, divisor: number | null = null, remainder: number | null = null) => ({ name, min, max, divisor, remainder });

test.each([
  [symbol('N', 0), 8],
  [symbol('N', 1, 4), 4],
  [symbol('N', 20), 20],
  [symbol('H', 0, null, 32, 0), 32],
  [symbol('H', 0, null, 32, 5), 37],
  [symbol('H', 1, 7, 4, 0), 4],
  [symbol('H', 3, 3), 3],
])('a size is proposed that fits: %j', (given, wanted) => expect(proposed(given)).toBe(wanted));

test('shapes for the inputs, from types and symbols', () => {
  const info = readInfo({
    symbols: [{ name: 'N', min: 1 }, { name: 'H', min: 0, divisor: 16, remainder: 0 }],
    functions: [{ name: 'main', inputs: [{ name: 'x', type: 'f32[N, 3, H, 2*H] @nhwc' }, { name: 'k', type: 'i64' }, { name: 'w', type: 'f32[4]' }, { name: 's', type: 'f32[]' }] }, { name: 'fixed', inputs: [{ name: 'x', type: 'f32[2, 3]' }] }],
  });
  expect(propose(info, undefined)).toEqual({ shapes: ['x=8x3x16x32', 'w=4'], open: true, inputs: 'x: f32[N, 3, H, 2*H] @nhwc, k: i64, w: f32[4], s: f32[]' });
  expect(propose(info, 'fixed')).toMatchObject({ shapes: ['x=2x3'], open: false });
  expect(propose(info, 'none')).toBeUndefined();
});

test('commas inside expressions do not separate sizes', () => {
  const info = readInfo({ symbols: [], functions: [{ name: 'f', inputs: [{ name: 'x', type: 'f32[max(A, B), 3]' }] }] });
  expect(propose(info, undefined)?.shapes).toEqual(['x=8x3']);
});

test('what is typed', () => {
  expect(parsed('x=1x3  y=4')).toEqual(['x=1x3', 'y=4']);
  expect(parsed('')).toEqual([]);
  expect(parsed('x=1x y=4')).toMatch(/"x=1x" is no shape/);
  expect(parsed('x')).toMatch(/NAME=SIZES/);
});

test('an answer of another form is no proposal', () => {
  expect(propose(readInfo(undefined), undefined)).toBeUndefined();
  expect(propose(readInfo({ functions: 7 }), undefined)).toBeUndefined();
});
