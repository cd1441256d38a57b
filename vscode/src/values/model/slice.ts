// Which part of a tensor is looked at: two axes as rows and columns, an index on each of the others, and a window on the two.

/** What the panel asks for at most in one answer. */
export const MOST = 65_536;
export const TABLE_ROWS = 64;
export const TABLE_COLUMNS = 32;

export interface View {
  /** Axis that runs down, and that runs right; -1: there is none. */
  readonly rows: number;
  readonly columns: number;
  /** One a dimension; those of the two axes are not read. */
  readonly index: readonly number[];
  /** The first row and column that is asked for. */
  readonly top: number;
  readonly left: number;
}

export function firstView(shape: readonly number[]): View {
  return { rows: shape.length - 2 >= 0 ? shape.length - 2 : -1, columns: shape.length - 1, index: shape.map(() => 0), top: 0, left: 0 };
}

const clamp = (value: number, low: number, high: number) => Math.max(low, Math.min(value, high));

/** The same view over a tensor whose sizes are others: what still fits is kept. */
export function fitted(view: View, shape: readonly number[]): View {
  if (view.index.length !== shape.length) return firstView(shape);
  const size = (axis: number) => (axis < 0 ? 1 : (shape[axis] ?? 1));
  return {
    ...view,
    index: view.index.map((at, axis) => clamp(at, 0, Math.max(0, (shape[axis] ?? 1) - 1))),
    top: clamp(view.top, 0, Math.max(0, size(view.rows) - 1)),
    left: clamp(view.left, 0, Math.max(0, size(view.columns) - 1)),
  };
}

/** The slice as the adapter reads it: "0, 2, 0:64, 32:64". A negative size means the whole axis. */
export function sliceText(view: View, shape: readonly number[], height: number, width: number): string {
  return shape
    .map((size, axis) => {
      if (axis === view.rows) return `${view.top}:${Math.min(size, view.top + height)}`;
      if (axis === view.columns) return `${view.left}:${Math.min(size, view.left + width)}`;
      return String(view.index[axis] ?? 0);
    })
    .join(', ');
}

/** Height and width of a picture: the whole plane where it is small enough, a window of its upper left part otherwise. */
export function pictureSize(view: View, shape: readonly number[]): readonly [number, number] {
  const height = view.rows < 0 ? 1 : (shape[view.rows] ?? 1);
  const width = view.columns < 0 ? 1 : (shape[view.columns] ?? 1);
  if (height * width <= MOST) return [height, width];
  const side = Math.floor(Math.sqrt(MOST));
  if (height <= side) return [height, Math.floor(MOST / height)];
  if (width <= side) return [Math.floor(MOST / width), width];
  return [side, side];
}
