import { describe, expect, it } from 'vitest';
import type { Column } from '../../src/table/columns.ts';
import { layout } from '../../src/table/layout.ts';
import { compare, filtered, ordered } from '../../src/table/order.ts';
import { slice } from '../../src/table/slice.ts';

describe('order', () => {
  it('sorts numbers as numbers, within names, too', () => {
    expect(ordered([10, 9, 100], (n) => n, false)).toEqual([9, 10, 100]);
    expect(ordered(['S9', 'S10', 'S1'], (s) => s, false)).toEqual(['S1', 'S9', 'S10']);
  });
  it('puts nothing last, whichever way', () => {
    expect(ordered([null, 1, 2], (n) => n, false)).toEqual([1, 2, null]);
    expect(ordered([null, 1, 2], (n) => n, true)).toEqual([2, 1, null]);
    expect(compare(null, null, true)).toBe(0);
  });
  it('leaves equal rows as they came, and what it is given untouched', () => {
    const rows = [{ k: 1, n: 'a' }, { k: 0, n: 'b' }, { k: 1, n: 'c' }];
    expect(ordered(rows, (r) => r.k, true).map((r) => r.n)).toEqual(['a', 'c', 'b']);
    expect(rows.map((r) => r.n)).toEqual(['a', 'b', 'c']);
  });
});

describe('filter', () => {
  const rows = ['jit_1920x1080 main', 'jit_3840x2160 main', 'encode'];
  const find = (query: string) => filtered(rows, query, (r) => [r]);
  it('wants every word, whatever its case', () => {
    expect(find('MAIN 1920')).toEqual(['jit_1920x1080 main']);
    expect(find('main 77')).toEqual([]);
  });
  it('takes blanks as no filter', () => expect(find('  ')).toBe(rows));
});

describe('slice', () => {
  it('covers the screen and some rows more', () => {
    const s = slice(2000, 30, 30_000, 300);
    expect(s.first).toBeLessThanOrEqual(1000);
    expect(s.end).toBeGreaterThanOrEqual(1010);
    expect(s.end - s.first).toBeLessThan(50);
    expect(s.above + (s.end - s.first) * 30 + s.below).toBe(2000 * 30);
  });
  it('is everything of a short list', () => expect(slice(5, 30, 0, 300)).toEqual({ first: 0, end: 5, above: 0, below: 0 }));
  it('is empty of an empty one', () => expect(slice(0, 30, 0, 300)).toEqual({ first: 0, end: 0, above: 0, below: 0 }));
  it('follows a list that became shorter than where it was scrolled to', () => {
    const s = slice(20, 30, 30_000, 300);
    expect(s.end).toBe(20);
    expect(s.first).toBeLessThan(20);
  });
});

describe('layout', () => {
  const column = (id: string, width: number, more: Partial<Column<number>> = {}): Column<number> => ({ id, label: 'hits', width, value: (n) => n, ...more });
  const columns = [column('name', 100, { grow: 3 }), column('hits', 50), column('age', 50, { wide: true, grow: 1 }), column('file only', 0)];
  const widths = (room: number) => Object.fromEntries(layout(columns, room).map((p) => [p.column.id, p.width]));
  it('gives what is left to those that grow', () => expect(widths(240)).toEqual({ name: 130, hits: 50, age: 60 }));
  it('drops columns where not all fit', () => expect(widths(180)).toEqual({ name: 130, hits: 50 }));
  it('never goes below what columns need', () => expect(widths(100)).toEqual({ name: 100, hits: 50 }));
});
