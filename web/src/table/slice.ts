// Which rows of a long list are on the screen. All rows are of one height.

export interface Slice {
  readonly first: number;
  readonly end: number;
  /** Heights of what is left out above and below. */
  readonly above: number;
  readonly below: number;
}

/** Rows drawn beyond the edges, so that scrolling doesn't show gaps. */
const OVERSCAN = 12;

export function slice(rows: number, row_height: number, scroll_top: number, height: number): Slice {
  const last_top = Math.max(0, rows * row_height - height);
  const top = Math.min(Math.max(0, scroll_top), last_top);
  const first = Math.max(0, Math.floor(top / row_height) - OVERSCAN);
  const end = Math.min(rows, Math.ceil((top + height) / row_height) + OVERSCAN);
  return { first, end, above: first * row_height, below: (rows - end) * row_height };
}
