import { describe, expect, it } from 'vitest';
import { bytes, clock, count, decimal, duration, percent, seconds, shape, shortRegion, tick } from '../../src/text/format.ts';

describe('format', () => {
  it.each([
    [0, '0'],
    [999, '999'],
    [1000, '1\u202f000'],
    [12_345_678, '12\u202f345\u202f678'],
    [null, '–'],
  ])('count %s', (n, text) => expect(count(n)).toBe(text));

  it.each([
    [0, '0.00'],
    [0.0456, '0.046'],
    [1.2345, '1.23'],
    [42.42, '42.4'],
    [123.4, '123'],
    [4567.8, '4\u202f568'],
    [-3.5, '-3.50'],
  ])('decimal %s', (n, text) => expect(decimal(n)).toBe(text));

  it.each([
    [0, '0.0 %'],
    [1, '100 %'],
    [0.9483, '94.8 %'],
    [0.99996, '99.9 %'], // isn't all
    [0.00001, '0.1 %'], // isn't nothing
    [null, '–'],
  ])('percent %s', (n, text) => expect(percent(n)).toBe(text));

  it.each([
    [0, '0 B'],
    [1023, '1023 B'],
    [1024, '1.00 KiB'],
    [1536, '1.50 KiB'],
    [10 * 1024, '10.0 KiB'],
    [1024 * 1024 - 1, '1.00 MiB'],
    [186_368, '182 KiB'],
    [64 * 2 ** 20, '64.0 MiB'],
    [5 * 2 ** 40, '5.00 TiB'],
  ])('bytes %s', (n, text) => expect(bytes(n)).toBe(text));

  it.each([
    [0, '0 ms'],
    [0.0123, '12.3 µs'],
    [0.5, '500 µs'],
    [3.14159, '3.14 ms'],
    [31.4159, '31.4 ms'],
    [314.159, '314 ms'],
    [2000, '2.0 s'],
    [61_000, '1 m 01 s'],
  ])('duration of %s ms', (ms, text) => expect(duration(ms)).toBe(text));

  it.each([
    [0, '0.0 s'],
    [0.02, '<0.1 s'],
    [9.9, '9.9 s'],
    [59.9, '59 s'],
    [60, '1 m 00 s'],
    [3599, '59 m 59 s'],
    [7500, '2 h 05 m'],
    [270_000, '3 d 3 h'],
  ])('seconds %s', (s, text) => expect(seconds(s)).toBe(text));

  it('times of day', () => {
    const at = new Date(2026, 11, 1, 4, 5, 6);
    expect(clock(at.toISOString())).toBe('04:05:06');
    expect(clock('')).toBe('–');
    expect(clock('yesterday')).toBe('–');
  });

  it('shapes by their symbols', () => {
    expect(shape(['N', 'H'], [1, 480])).toBe('N=1 H=480');
    expect(shape(['N'], [1, 480])).toBe('N=1 480');
    expect(shape([], [])).toBe('');
  });

  it('short names of regions', () => {
    expect(shortRegion('@main instructions 3 to 141')).toBe('@main 3–141');
    expect(shortRegion('something else')).toBe('something else');
  });

  it.each([
    ['50.0 %', '50 %'],
    ['100 %', '100 %'],
    ['1.50 KiB', '1.5 KiB'],
    ['20.0 ms', '20 ms'],
    ['0 B', '0 B'],
    ['1.05 ms', '1.05 ms'],
  ])('tick %s', (text, short) => expect(tick(text)).toBe(short));
});
