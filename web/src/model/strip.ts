// One symbol's sizes on a line: how often each was seen, by tier, and the buckets that they fall in.
import type { Region } from '../api/schema.ts';

export interface Size {
  readonly value: number;
  readonly runs: number;
  /** By tier 0, 1, 2. */
  readonly tiers: readonly [number, number, number];
}

/** (after, last]; the band beyond the last boundary has no last. */
export interface Band {
  readonly after: number;
  readonly last: number | null;
  readonly runs: number;
}

export interface Strip {
  readonly symbol: string;
  readonly sizes: readonly Size[];
  readonly bands: readonly Band[];
  readonly least: number;
  readonly most: number;
}

export function strip(region: Region, index: number, boundaries: readonly number[]): Strip {
  const found = new Map<number, [number, number, number]>();
  for (const shape of region.shapes) {
    const value = shape.values[index];
    if (value === undefined) continue;
    const tiers = found.get(value) ?? [0, 0, 0];
    const tier = shape.tier >= 2 ? 2 : shape.tier === 1 ? 1 : 0;
    tiers[tier] += shape.runs;
    found.set(value, tiers);
  }
  const sizes = [...found].map(([value, tiers]) => ({ value, tiers, runs: tiers[0] + tiers[1] + tiers[2] })).sort((a, b) => a.value - b.value);
  const inside = (after: number, last: number | null) => sizes.reduce((sum, s) => (s.value > after && (last === null || s.value <= last) ? sum + s.runs : sum), 0);
  const bands: Band[] = boundaries.map((last, k) => ({ after: k === 0 ? -1 : (boundaries[k - 1] ?? 0), last, runs: inside(k === 0 ? -1 : (boundaries[k - 1] ?? 0), last) }));
  const end = boundaries.at(-1);
  if (end !== undefined && sizes.some((s) => s.value > end)) bands.push({ after: end, last: null, runs: inside(end, null) });
  const all = [...sizes.map((s) => s.value), ...boundaries];
  return { symbol: region.symbols[index] ?? `#${index}`, sizes, bands, least: Math.min(...all, Infinity), most: Math.max(...all, -Infinity) };
}

/** "≤ 32", "33–64", "> 64". */
export function bandName(band: Band): string {
  if (band.last === null) return `> ${band.after}`;
  return band.after < 0 ? `≤ ${band.last}` : `${band.after + 1}–${band.last}`;
}

/** Of values in order of importance, those whose places (0 to 1) keep a distance from all that were taken before. */
export function spaced<T>(values: readonly T[], place: (value: T) => number, distance: number): readonly T[] {
  const taken: T[] = [];
  for (const value of values) if (taken.every((other) => Math.abs(place(other) - place(value)) >= distance)) taken.push(value);
  return taken;
}
