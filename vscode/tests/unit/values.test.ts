import { expect, test } from 'vitest';
import { isFromPage } from '../../src/values/model/messages.ts';
import { colour, element, range } from '../../src/values/model/numbers.ts';
import { firstView, fitted, MOST, pictureSize, sliceText } from '../../src/values/model/slice.ts';

test('the last two axes are rows and columns', () => {
  const view = firstView([16, 3, 64, 48]);
  expect(sliceText(view, [16, 3, 64, 48], 64, 32)).toBe('0, 0, 0:64, 0:32');
  expect(sliceText({ ...view, index: [5, 2, 0, 0], top: 32, left: 32 }, [16, 3, 64, 48], 64, 32)).toBe('5, 2, 32:64, 32:48');
  expect(sliceText(firstView([7]), [7], 64, 32)).toBe('0:7');
  expect(sliceText(firstView([]), [], 64, 32)).toBe('');
});

test('a view keeps what still fits when sizes are others', () => {
  const view = { rows: 2, columns: 3, index: [9, 1, 0, 0], top: 60, left: 0 };
  expect(fitted(view, [4, 3, 32, 48])).toEqual({ ...view, index: [3, 1, 0, 0], top: 31 });
  expect(fitted(view, [4, 3])).toEqual(firstView([4, 3]));
  expect(fitted(view, [0, 3, 0, 48])).toMatchObject({ index: [0, 1, 0, 0], top: 0 });
});

test('a picture is never larger than one answer', () => {
  for (const shape of [[64, 48], [1000, 1000], [2, 100_000], [100_000, 2], [512, 512]]) {
    const [height, width] = pictureSize(firstView(shape), shape);
    expect(height * width).toBeLessThanOrEqual(MOST);
    expect(height).toBeGreaterThan(0);
    expect(width).toBeGreaterThan(0);
  }
  expect(pictureSize(firstView([64, 48]), [64, 48])).toEqual([64, 48]);
});

test('numbers as text', () => {
  expect([0, -3, 1.5, 1 / 3, 1e-9, 123456789012, 'NaN', '-Infinity'].map(element)).toEqual(['0', '-3', '1.5', '0.333333', '1.0000e-9', '1.2346e+11', 'NaN', '-∞']);
});

test('the range is that of finite values', () => {
  expect(range([2, 'NaN', -1, 'Infinity'])).toEqual([-1, 2]);
  expect(range(['NaN'])).toBeNull();
});

test('colours go from dark to bright', () => {
  const bright = ([r, g, b]: readonly [number, number, number]) => 0.2126 * r + 0.7152 * g + 0.0722 * b;
  const scale = Array.from({ length: 21 }, (_, at) => bright(colour(at / 20)));
  expect(scale).toEqual([...scale].sort((a, b) => a - b));
  expect(colour(-1)).toEqual(colour(0));
  expect(colour(2)).toEqual(colour(1));
});

test('messages of a page are looked at', () => {
  expect([{ type: 'ready' }, { type: 'save' }, { type: 'ask', slice: '0', max: 3 }].every(isFromPage)).toBe(true);
  expect([null, 7, {}, { type: 'ask' }, { type: 'ask', slice: 0, max: 3 }, { type: 'run' }].some(isFromPage)).toBe(false);
});
