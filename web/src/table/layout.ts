// Which columns a table of some width has, and how wide they are.
import type { Column } from './columns.ts';

export interface Placed<Row> {
  readonly column: Column<Row>;
  /** Pixels. */
  readonly width: number;
}

/** Columns that may go do so where not all fit; what room is left over goes to those that grow. What still doesn't fit is scrolled to. */
export function layout<Row>(columns: readonly Column<Row>[], room: number): readonly Placed<Row>[] {
  const drawn = columns.filter((c) => c.width > 0);
  const need = (some: readonly Column<Row>[]) => some.reduce((sum, c) => sum + c.width, 0);
  const kept = need(drawn) <= room ? drawn : drawn.filter((c) => !c.wide);
  const left = Math.max(0, room - need(kept));
  const shares = kept.reduce((sum, c) => sum + (c.grow ?? 0), 0);
  return kept.map((column) => ({ column, width: column.width + (shares > 0 ? (left * (column.grow ?? 0)) / shares : left / kept.length) }));
}
