// Order and choice of a table's rows.
import type { Value } from './csv.ts';

export interface Order {
  readonly column: string;
  readonly descending: boolean;
}

/** Nothing goes last, whichever way the rest is sorted; numbers within names count as numbers. */
export function compare(a: Value, b: Value, descending: boolean): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  const order = typeof a === 'number' && typeof b === 'number' ? a - b : collate(String(a), String(b));
  return descending ? -order : order;
}

const collator = new Intl.Collator('en', { numeric: true });
const collate = (a: string, b: string): number => collator.compare(a, b);

/** Stable: rows with equal values stay as they came. */
export function ordered<Row>(rows: readonly Row[], value: (row: Row) => Value, descending: boolean): readonly Row[] {
  return rows
    .map((row) => ({ row, value: value(row) }))
    .sort((a, b) => compare(a.value, b.value, descending))
    .map(({ row }) => row);
}

/** Rows in which every word of the query is part of some text, whatever its case. */
export function filtered<Row>(rows: readonly Row[], query: string, texts: (row: Row) => readonly Value[]): readonly Row[] {
  const words = query.toLowerCase().split(/\s+/).filter((word) => word !== '');
  if (words.length === 0) return rows;
  return rows.filter((row) => {
    const text = texts(row).map((v) => String(v ?? '').toLowerCase()).join('\n');
    return words.every((word) => text.includes(word));
  });
}
