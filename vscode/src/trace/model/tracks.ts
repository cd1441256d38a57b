// Which event is drawn where: for each thread runs, regions, instructions; for the compiler its compilations; for moments a row of marks.
import type { Timeline } from './timeline.ts';

export type RowKind = 'runs' | 'regions' | 'instructions' | 'compilations' | 'moments';

export interface Row {
  readonly kind: RowKind;
  readonly label: string;
  /** Events, by their begin. */
  readonly events: Uint32Array;
  /** Time of the tiers up to an event, without it: [tier][k]; of rows whose events have no tier all is tier 0. */
  readonly sums: readonly Float64Array[];
  /** The longest duration: how far before a window an event may begin that reaches into it. */
  readonly longest: number;
}

export interface Track {
  readonly label: string;
  readonly rows: readonly Row[];
}

const ROWS: Readonly<Record<string, RowKind>> = {
  run: 'runs',
  region: 'regions',
  call: 'instructions',
  native: 'instructions',
  copy: 'instructions',
  between: 'instructions',
  compile: 'compilations',
  jit: 'moments',
  slow_path: 'moments',
  note: 'moments',
};
const OF_THREAD: readonly RowKind[] = ['runs', 'regions', 'instructions'];

function rowOf(t: Timeline, kind: RowKind, events: Uint32Array): Row {
  const tiers = t.header.modes.length;
  const sums = Array.from({ length: tiers }, () => new Float64Array(events.length + 1));
  let longest = 0;
  for (let k = 0; k < events.length; k++) {
    const e = events[k] ?? 0;
    const duration = t.duration[e] ?? 0;
    const tier = kind === 'compilations' || kind === 'moments' ? 0 : (t.tier[e] ?? 0);
    for (let each = 0; each < tiers; each++) {
      const sum = sums[each];
      if (sum) sum[k + 1] = (sum[k] ?? 0) + (each === tier ? duration : 0);
    }
    if (duration > longest) longest = duration;
  }
  return { kind, label: kind, events, sums, longest };
}

export function tracksOf(t: Timeline): readonly Track[] {
  const kinds = t.header.kinds.map((name) => ROWS[name] ?? 'moments');
  const lists = new Map<string, number[]>();
  const threads: number[] = [];
  for (let e = 0; e < t.count; e++) {
    const kind = kinds[t.kind[e] ?? 0] ?? 'moments';
    const ofThread = OF_THREAD.includes(kind);
    const thread = t.thread[e] ?? 0;
    if (ofThread && !threads.includes(thread)) threads.push(thread);
    const key = ofThread ? `${thread} ${kind}` : kind;
    const known = lists.get(key);
    if (known) known.push(e);
    else lists.set(key, [e]);
  }
  const row = (kind: RowKind, key: string): Row[] => {
    const events = lists.get(key);
    return events ? [rowOf(t, kind, Uint32Array.from(events))] : [];
  };
  const tracks: Track[] = threads.map((thread) => ({ label: `thread ${thread}`, rows: OF_THREAD.flatMap((kind) => row(kind, `${thread} ${kind}`)) }));
  const jit = [...row('compilations', 'compilations'), ...row('moments', 'moments')];
  return jit.length > 0 ? [...tracks, { label: 'JIT', rows: jit }] : tracks;
}

export const rowsOf = (tracks: readonly Track[]): readonly Row[] => tracks.flatMap((track) => track.rows);

/** The row of each event, as its number among `rows`. */
export function rowNumbers(t: Timeline, rows: readonly Row[]): Uint16Array {
  const out = new Uint16Array(t.count);
  for (const [k, row] of rows.entries()) for (const e of row.events) out[e] = k;
  return out;
}

/** Events (by their begin) apart by row. */
export function byRow(events: Iterable<number>, rows: readonly Row[], numbers: Uint16Array): ReadonlyMap<Row, readonly number[]> {
  const out = new Map<Row, number[]>();
  for (const e of events) {
    const row = rows[numbers[e] ?? 0];
    if (!row) continue;
    const list = out.get(row);
    if (list) list.push(e);
    else out.set(row, [e]);
  }
  return out;
}

/** The first of a row's events (as its number in the row) that begins at or after `time`. */
export function firstAt(t: Timeline, row: Row, time: number): number {
  return firstOf(t, row.events, time);
}

/** Likewise of any events by their begin, from `low` on. */
export function firstOf(t: Timeline, events: ArrayLike<number>, time: number, low = 0): number {
  let high = events.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((t.begin[events[middle] ?? 0] ?? 0) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Number in the row of the first event that may reach into a window that begins at `time`. */
export function firstReaching(t: Timeline, row: Row, time: number): number {
  return firstAt(t, row, time - row.longest);
}

/** How much of [from, to) a row's events of each tier take, 0 to 1 each; events count where they begin. */
export function shares(t: Timeline, row: Row, from: number, to: number): { readonly first: number; readonly last: number; readonly tiers: readonly number[] } {
  const first = firstAt(t, row, from);
  const last = firstAt(t, row, to);
  const width = Math.max(to - from, 1e-9);
  return { first, last, tiers: row.sums.map((sum) => Math.min(1, ((sum[last] ?? 0) - (sum[first] ?? 0)) / width)) };
}

/** Events that last longer than `least` and may be seen within a window: shares() counts them where they begin only. */
export function* lasting(t: Timeline, row: Row, from: number, to: number, least: number): Generator<number> {
  if (row.longest <= least) return;
  for (let k = firstReaching(t, row, from), end = firstAt(t, row, to); k < end; k++) {
    const e = row.events[k] ?? 0;
    if ((t.duration[e] ?? 0) > least) yield e;
  }
}

/** The event of a row at a moment: the one that lasts then, else the nearest within `slack`. */
export function eventAt(t: Timeline, row: Row, time: number, slack: number): number | undefined {
  const after = firstAt(t, row, time + slack + 1e-9);
  let best: number | undefined;
  let distance = Infinity;
  for (let k = after - 1; k >= 0; k--) {
    const e = row.events[k] ?? 0;
    const begin = t.begin[e] ?? 0;
    if (begin < time - slack - row.longest) break;
    const end = begin + (t.duration[e] ?? 0);
    const away = time < begin ? begin - time : time > end ? time - end : 0;
    if (away <= slack && away < distance) {
      distance = away;
      best = e;
      if (away === 0) break;
    }
  }
  return best;
}
