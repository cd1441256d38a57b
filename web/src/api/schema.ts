// What a program's monitor sends. Times are ISO-8601 UTC, durations milliseconds unless named, sizes bytes, rates 0 to 1.
import { boolean, list, number, numberOrNull, object, oneOf, orNull, string, table, type Read } from './decode.ts';

/** The version of the JSON that this page is made for. */
export const VERSION = 1;

const spread = object({ count: number, mean_ms: number, max_ms: number });
const latency = object({ count: number, mean_ms: number, p50_ms: number, p90_ms: number, p99_ms: number, p999_ms: number, max_ms: number });

const queue = object({
  engine: number,
  running: orNull(object({ label: string, program: string, phase: string, elapsed_ms: number, estimate_ms: number, progress: number })),
  next: list(object({ label: string, urgency: string, gain: numberOrNull, estimate_ms: numberOrNull })),
  queued: number,
  outcomes: table(number),
  phases: table(spread),
  compiled: spread,
  cpu_s: number,
  budget_s: number,
  compiler_starts: number,
});

const memory = object({
  engine: number,
  device: string,
  in_use: number,
  reserved: number,
  peak: number,
  fragmentation: number,
  by_owner: table(number),
  hint: string,
});

const entry = object({
  name: string,
  alias: string,
  box: string,
  tier: number,
  hits: number,
  code_bytes: number,
  shared: boolean,
  outcome: string,
  compile_ms: number,
  age_s: numberOrNull,
  last_hit_s: numberOrNull,
});

const region = object({
  function: number,
  region: number,
  name: string,
  place: string,
  symbols: list(string),
  calls: number,
  fused_calls: number,
  fused: list(string),
  not_fused: list(string),
  state: string,
  scd: number,
  runs: number,
  native: number,
  specialised: number,
  interpreted_ms: number,
  native_ms: number,
  shapes: list(object({ values: list(number), runs: number, tier: number, entry: string })),
  entries: list(entry),
});

const slowPath = object({ time: string, region: string, reason: string, place: string });
const event = object({ time: string, kind: string, what: string });

const program = object({
  id: number,
  name: string,
  runs: number,
  failed_runs: number,
  hit_rate: numberOrNull,
  specialised_hit_rate: numberOrNull,
  window: object({ runs: number, hit_rate: numberOrNull, specialised_hit_rate: numberOrNull }),
  region_runs: number,
  native: number,
  specialised: number,
  compiled: number,
  from_disk: number,
  failed: number,
  evicted: number,
  compile_ms: number,
  code_bytes: number,
  cache_bytes: number,
  hint: string,
  cache_mode: string,
  boundaries: table(list(number)),
  latency: object({ interpreted: latency, native: latency, specialised: latency }),
  rates: object({ runs_per_s: numberOrNull, gflops: numberOrNull, peak_share: numberOrNull, gbytes_per_s: numberOrNull, layout_bytes: number }),
  regions: list(region),
  slow_path: list(slowPath),
  events: list(event),
});

const warning = object({
  time: string,
  kind: string,
  severity: oneOf(['error', 'warning', 'info'], 'warning'),
  program: string,
  region: string,
  place: string,
  text: string,
  mend: string,
});

const alert = object({
  rule: string,
  state: oneOf(['ok', 'pending', 'firing'], 'ok'),
  since: string,
  value: numberOrNull,
  message: string,
});

export const readState = object({
  version: number,
  time: string,
  uptime_s: number,
  pid: number,
  command: string,
  msvm: string,
  isa: string,
  threads: number,
  role: string,
  tracing: boolean,
  queues: list(queue),
  memory: list(memory),
  programs: list(program),
  warnings: list(warning),
  alerts: list(alert),
});

export const readPoint = object({
  time: string,
  hit_rate: numberOrNull,
  specialised_hit_rate: numberOrNull,
  runs_per_s: numberOrNull,
  p50_ms: numberOrNull,
  p99_ms: numberOrNull,
  in_use: numberOrNull,
  reserved: numberOrNull,
  queued: numberOrNull,
  compiled: numberOrNull,
  fallbacks: numberOrNull,
});

export const readHistory = object({ step_s: number, points: list(readPoint) });

export const readDisassembly = object({
  entry: string,
  kernels: list(
    object({
      name: string,
      size: number,
      ir: list(object({ text: string })),
      lines: list(object({ address: string, text: string, ir: numberOrNull, instructions: list(number), places: list(string), finding: numberOrNull })),
    }),
  ),
  findings: list(object({ kind: string, kernel: number, line: number, text: string, mend: string })),
  calls: list(object({ instruction: number, operator: string, kernel: string })),
});

export const readBytecode = object({
  lines: list(object({ text: string, instruction: numberOrNull, place: string, region: numberOrNull })),
});

export type State = Read<typeof readState>;
export type Program = Read<typeof program>;
export type Region = Read<typeof region>;
export type Entry = Read<typeof entry>;
export type Queue = Read<typeof queue>;
export type Memory = Read<typeof memory>;
export type Warning = Read<typeof warning>;
export type Alert = Read<typeof alert>;
export type SlowPath = Read<typeof slowPath>;
export type JitEvent = Read<typeof event>;
export type Point = Read<typeof readPoint>;
export type History = Read<typeof readHistory>;
export type Disassembly = Read<typeof readDisassembly>;
export type Bytecode = Read<typeof readBytecode>;
