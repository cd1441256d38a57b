// The few numbers that stand for all chosen programs.
import type { Program, State } from '../api/schema.ts';
import { chosen, type Choice } from './rows.ts';

export interface Summary {
  /** Over the latest runs of each program; null: nothing ran. */
  readonly hit_rate: number | null;
  readonly specialised_hit_rate: number | null;
  /** Since the programs were loaded. */
  readonly whole_hit_rate: number | null;
  readonly runs: number;
  readonly failed_runs: number;
  readonly runs_per_s: number | null;
  readonly gflops: number | null;
  readonly peak_share: number | null;
  readonly gbytes_per_s: number | null;
  readonly layout_bytes: number;
  readonly entries: number;
  readonly code_bytes: number;
  readonly cache_bytes: number;
  readonly compiled: number;
  readonly failed: number;
  readonly mean_compile_ms: number | null;
}

export function summary(state: State, choice: Choice): Summary {
  const programs = chosen(state, choice);
  const sum = (value: (p: Program) => number) => programs.reduce((all, p) => all + value(p), 0);
  const known = (value: (p: Program) => number | null) => {
    const values = programs.map(value).filter((v) => v !== null);
    return values.length > 0 ? values.reduce((a, b) => a + b, 0) : null;
  };
  const mean = (rate: (p: Program) => number | null, weight: (p: Program) => number) => {
    const rated = programs.filter((p) => rate(p) !== null && weight(p) > 0);
    const all = rated.reduce((w, p) => w + weight(p), 0);
    return all > 0 ? rated.reduce((r, p) => r + (rate(p) ?? 0) * weight(p), 0) / all : null;
  };
  const compiled = sum((p) => p.compiled);
  return {
    hit_rate: mean((p) => p.window.hit_rate, (p) => p.window.runs),
    specialised_hit_rate: mean((p) => p.window.specialised_hit_rate, (p) => p.window.runs),
    whole_hit_rate: mean((p) => p.hit_rate, (p) => p.region_runs),
    runs: sum((p) => p.runs),
    failed_runs: sum((p) => p.failed_runs),
    runs_per_s: known((p) => p.rates.runs_per_s),
    gflops: known((p) => p.rates.gflops),
    peak_share: known((p) => p.rates.peak_share),
    gbytes_per_s: known((p) => p.rates.gbytes_per_s),
    layout_bytes: sum((p) => p.rates.layout_bytes),
    entries: sum((p) => p.regions.reduce((n, r) => n + r.entries.length, 0)),
    code_bytes: sum((p) => p.code_bytes),
    cache_bytes: sum((p) => p.cache_bytes),
    compiled,
    failed: sum((p) => p.failed),
    mean_compile_ms: compiled > 0 ? sum((p) => p.compile_ms) / compiled : null,
  };
}

/** Below this a hit rate is worth a warning, as in the program itself. */
export const LOW_HIT_RATE = 0.7;
