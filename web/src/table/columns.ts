// A column says once what a table, its sorting, its filter and its CSV file need.
import type { ComponentChildren } from 'preact';
import type { Key } from '../text/strings.ts';
import type { Value } from './csv.ts';

export interface Column<Row> {
  /** Name in CSV files: stable. */
  readonly id: string;
  readonly label: Key;
  readonly value: (row: Row) => Value;
  /** What is drawn, if it isn't just the value. */
  readonly cell?: (row: Row) => ComponentChildren;
  readonly numeric?: boolean;
  /** Pixels that it needs at least; 0: in CSV files only. */
  readonly width: number;
  /** Its share of the room that is left over. */
  readonly grow?: number;
  /** Left out where there is little room. */
  readonly wide?: boolean;
  /** The value is the row's name: a header of the row. */
  readonly head?: boolean;
}
