// The rows of the page's tables, flattened out of a state.
import type { Alert, Entry, JitEvent, Memory, Program, Region, SlowPath, State, Warning } from '../api/schema.ts';

/** Which programs are looked at: one, by its id, or all. */
export type Choice = number | null;

export function chosen(state: State, choice: Choice): readonly Program[] {
  return choice === null ? state.programs : state.programs.filter((p) => p.id === choice);
}

/** An entry's row says what happened to it lately. */
export interface CacheRow {
  readonly key: string;
  readonly program: Program;
  readonly region: Region;
  readonly entry: Entry;
  /** Its hits rose since the state before. */
  readonly hit: boolean;
  /** Its region was interpreted not long ago, though it has code. */
  readonly fell: boolean;
}

/** For so long a fallback marks the entries of its region. */
export const FALLBACK_MARK_MS = 60_000;

export function entryKey(p: Program, r: Region, e: Entry): string {
  return `${p.id}/${r.function}/${r.region}/${e.name}`;
}

/** Hits of every entry, by its key: what the next state is compared with. */
export function hitsOf(state: State): ReadonlyMap<string, number> {
  const hits = new Map<string, number>();
  for (const p of state.programs) for (const r of p.regions) for (const e of r.entries) hits.set(entryKey(p, r, e), e.hits);
  return hits;
}

/** Regions of a program, by name, that fell back within FALLBACK_MARK_MS before the state. */
export function fallenRegions(state: State, program: Program): ReadonlySet<string> {
  const since = Date.parse(state.time) - FALLBACK_MARK_MS;
  const recent = (time: string) => Date.parse(time) >= since;
  return new Set(state.warnings.filter((w) => w.kind === 'fallback' && w.program === program.name && recent(w.time)).map((w) => w.region));
}

export function cacheRows(state: State, choice: Choice, before: ReadonlyMap<string, number>): readonly CacheRow[] {
  return chosen(state, choice).flatMap((program) => {
    const fallen = fallenRegions(state, program);
    return program.regions.flatMap((region) =>
      region.entries.map((entry) => {
        const key = entryKey(program, region, entry);
        const last = before.get(key);
        return { key, program, region, entry, hit: last !== undefined && entry.hits > last, fell: fallen.has(region.name) };
      }),
    );
  });
}

export interface QueueRow {
  readonly key: string;
  readonly engine: number;
  readonly position: number;
  readonly label: string;
  readonly urgency: string;
  readonly gain: number | null;
  readonly estimate_ms: number | null;
}

export function queueRows(state: State): readonly QueueRow[] {
  return state.queues.flatMap((q) => q.next.map((job, k) => ({ key: `${q.engine}/${k}/${job.label}`, engine: q.engine, position: k + 1, ...job })));
}

export interface OwnerRow {
  readonly key: string;
  readonly memory: Memory;
  readonly owner: string;
  readonly bytes: number;
}

export function ownerRows(state: State): readonly OwnerRow[] {
  return state.memory.flatMap((memory) => Object.entries(memory.by_owner).map(([owner, bytes]) => ({ key: `${memory.engine}/${owner}`, memory, owner, bytes })));
}

export interface ShapeRow {
  readonly key: string;
  readonly program: Program;
  readonly region: Region;
  readonly values: readonly number[];
  readonly runs: number;
  readonly tier: number;
  readonly entry: string;
  /** Of the runs that the region's listed shapes have. */
  readonly share: number;
}

export function shapeRows(program: Program, region: Region): readonly ShapeRow[] {
  const all = region.shapes.reduce((sum, s) => sum + s.runs, 0);
  return region.shapes.map((s) => ({ key: `${program.id}/${region.name}/${s.values.join('x')}`, program, region, ...s, share: all > 0 ? s.runs / all : 0 }));
}

/** Rows of a log of one kind, the latest first; keys don't move when new ones come. */
function latest<T extends { readonly time: string }>(rows: readonly T[], text: (row: T) => string): readonly (T & { readonly key: string })[] {
  const seen = new Map<string, number>();
  const keyed = rows.map((row) => {
    const name = `${row.time}/${text(row)}`;
    const nth = seen.get(name) ?? 0;
    seen.set(name, nth + 1);
    return { ...row, key: `${name}/${nth}` };
  });
  return keyed.sort((a, b) => (a.time < b.time ? 1 : a.time > b.time ? -1 : 0));
}

export type WarningRow = Warning & { readonly key: string };
export type AlertRow = Alert & { readonly key: string };
export type SlowPathRow = SlowPath & { readonly key: string; readonly program: string };
export type EventRow = JitEvent & { readonly key: string; readonly program: string };

/** Warnings of the chosen programs and those of none, such as a changed capability database. */
export function warningRows(state: State, choice: Choice): readonly WarningRow[] {
  const names = new Set(chosen(state, choice).map((p) => p.name));
  return latest(
    state.warnings.filter((w) => choice === null || w.program === '' || names.has(w.program)),
    (w) => `${w.kind}/${w.program}/${w.region}/${w.text}`,
  );
}

export function alertRows(state: State): readonly AlertRow[] {
  const order = { firing: 0, pending: 1, ok: 2 };
  return state.alerts.map((a, k) => ({ ...a, key: `${k}/${a.rule}` })).sort((a, b) => order[a.state] - order[b.state]);
}

export function slowPathRows(state: State, choice: Choice): readonly SlowPathRow[] {
  return latest(
    chosen(state, choice).flatMap((p) => p.slow_path.map((s) => ({ ...s, program: p.name }))),
    (s) => `${s.program}/${s.region}/${s.reason}`,
  );
}

export function eventRows(state: State, choice: Choice): readonly EventRow[] {
  return latest(
    chosen(state, choice).flatMap((p) => p.events.map((e) => ({ ...e, program: p.name }))),
    (e) => `${e.program}/${e.kind}/${e.what}`,
  );
}

export interface LatencyRow {
  readonly key: string;
  readonly program: Program;
  readonly tier: 0 | 1 | 2;
  readonly spread: Program['latency']['native'];
}

/** Tiers that served at least one run. */
export function latencyRows(state: State, choice: Choice): readonly LatencyRow[] {
  return chosen(state, choice).flatMap((program) => {
    const { interpreted, native, specialised } = program.latency;
    const tiers: readonly (readonly [0 | 1 | 2, typeof native])[] = [[0, interpreted], [1, native], [2, specialised]];
    return tiers.filter(([, spread]) => spread.count > 0).map(([tier, spread]) => ({ key: `${program.id}/${tier}`, program, tier, spread }));
  });
}
