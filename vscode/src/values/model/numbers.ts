// Numbers of a tensor, as text and as colours.

export type Element = number | string;

export const isNan = (value: Element): boolean => value === 'NaN';
export const isInfinite = (value: Element): boolean => value === 'Infinity' || value === '-Infinity';

/** Of one decimal width in a column: "1.5", "-0.00123", "6.02e+23". */
export function element(value: Element): string {
  if (typeof value === 'string') return value.replace('Infinity', '∞');
  if (Number.isInteger(value)) return Math.abs(value) < 1e9 ? String(value) : value.toExponential(4);
  const size = Math.abs(value);
  return size >= 1e-4 && size < 1e6 ? String(Number(value.toPrecision(6))) : value.toExponential(4);
}

export const figure = (value: number | null): string => (value === null ? '–' : element(value));

/** A point of 0 … 1 on a scale from dark blue over green to yellow that grows evenly brighter (viridis, by its published samples). */
const SCALE = [
  [68, 1, 84],
  [72, 40, 120],
  [62, 73, 137],
  [49, 104, 142],
  [38, 130, 142],
  [31, 158, 137],
  [53, 183, 121],
  [110, 206, 88],
  [181, 222, 43],
  [253, 231, 37],
] as const;

export function colour(share: number): readonly [number, number, number] {
  const at = Math.max(0, Math.min(share, 1)) * (SCALE.length - 1);
  const low = SCALE[Math.floor(at)] ?? SCALE[0];
  const high = SCALE[Math.ceil(at)] ?? low;
  const part = at - Math.floor(at);
  const mix = (i: 0 | 1 | 2) => Math.round(low[i] + (high[i] - low[i]) * part);
  return [mix(0), mix(1), mix(2)];
}

/** Smallest and largest of the finite ones; null where there is none. */
export function range(values: readonly Element[]): readonly [number, number] | null {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (typeof value !== 'number') continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : null;
}
