import { expect, test } from 'vitest';
import { at, defined, heads, placesWithin, spans, tierName } from '../../src/bytecode/model/listing.ts';
import { readListing } from '../../src/debug/model/wire.ts';

const listing = readListing({
  lines: [
    [6, 0, null],
    [7, 0, 0],
    [8, 2, 0],
    [9, 2, 0],
    [11, 2, 0],
    [12, 1, 1],
  ].map(([line, tier, region]) => ({ line, tier, region, function: 0, signature: tier === 0 ? '' : `jit_${region}`, address: '0x0' })),
});

test('neighbouring lines of a tier are one span, counted from 0', () => {
  expect(spans(listing)).toEqual([
    { tier: 2, first: 7, last: 8 },
    { tier: 2, first: 10, last: 10 },
    { tier: 1, first: 11, last: 11 },
  ]);
});

test('a region with native code is named once', () => {
  expect(heads(listing).map(({ line, signature }) => [line, signature])).toEqual([
    [8, 'jit_0'],
    [12, 'jit_1'],
  ]);
});

test('a line of the editor is the one that is numbered one higher', () => {
  expect(at(listing, 5)?.line).toBe(6);
  expect(at(listing, 9)).toBeUndefined();
});

test.each([
  ['  R0 "x" = TENSOR_CREATE input 0', 0],
  ['  R31: f32[N, 64] strided = TENSOR_VIEW slice R0, axis 1 from 0 to 64', 31],
  ['  OP_CALL Conv(R0, R1) -> R2 {pads: [1]}', 2],
  ['  0x001a  R1 = TENSOR_CONST %weight', 1],
  ['  RETURN R2', undefined],
  ['b0:', undefined],
  ['  TENSOR_FREE R3', undefined],
])('the register that a line gives a value: %s', (text, wanted) => expect(defined(text)).toBe(wanted));

test('every tier has a name', () => {
  expect([0, 1, 2, 7].map(tierName)).toEqual(['interpreted, instruction by instruction', 'native code for any sizes', 'native code made for these sizes', 'tier 7']);
});

test('places are relative to the folder that is open, the innermost of several', () => {
  expect(placesWithin('R0 = TENSOR_CREATE input 0  ; /ws/model.py:9\nRETURN R0', ['/ws'])).toBe('R0 = TENSOR_CREATE input 0  ; model.py:9\nRETURN R0');
  expect(placesWithin('JUMP b1 ; /ws/sub/a.py:1', ['', '/ws', '/ws/sub'])).toBe('JUMP b1 ; a.py:1');
  expect(placesWithin('RETURN R0 ; a.py:12:5 from "work", "/ws/a.py"', ['/ws'])).toBe('RETURN R0 ; a.py:12:5 from "work", "a.py"');
  expect(placesWithin('JUMP b1 ; /wsx/a.py:1', ['/ws'])).toBe('JUMP b1 ; /wsx/a.py:1');
});
