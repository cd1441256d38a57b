// A log as `msvm trace timeline` writes it: a line of JSON, then a column of numbers for each fact of an event.
import { list, number, object, string, table, type Read, type Reader } from '../../../../web/src/api/decode.ts';

const row: Reader<readonly string[]> = list(string);

const readHeader = object({
  format: number,
  pid: number,
  began: string,
  seconds: number,
  core_gflops: number,
  dropped: number,
  damage: list(string),
  events: number,
  kinds: list(string),
  modes: list(string),
  texts: list(string),
  /** Instructions: mnemonic, operator, place, origins. */
  programs: list(object({ name: string, functions: list(object({ name: string, instructions: list(row) })) })),
  outliers: list(object({ event: number, usual_us: number, cause: string })),
  summary: object({
    seconds: number,
    threads: number,
    programs: list(
      object({
        name: string,
        runs: number,
        failed: number,
        interpreted: number,
        native: number,
        specialised: number,
        p50_ms: number,
        p90_ms: number,
        p99_ms: number,
        max_ms: number,
        region_runs: number,
        native_region_runs: number,
        specialised_region_runs: number,
        instructions: list(object({ function: number, instruction: number, operator: string, place: string, mode: string, name: string, count: number, ms: number, bytes: number, gflops: number, gbytes_per_s: number })),
      }),
    ),
    compilations: object({ count: number, ms: number, longest_ms: number }),
    jit: table(number),
    slow_paths: table(number),
  }),
  columns: list(object({ name: string, type: string, offset: number })),
});

export type Header = Read<typeof readHeader>;

type Column = Float64Array | Float32Array | Uint32Array | Int32Array | Uint16Array | Uint8Array;

/** Times are in microseconds since the log began; a row for each event, by its begin. */
export interface Timeline {
  readonly header: Header;
  readonly count: number;
  readonly begin: Float64Array;
  readonly duration: Float64Array;
  readonly bytes: Float64Array;
  readonly gflop: Float32Array;
  readonly instruction: Int32Array;
  readonly region: Int32Array;
  readonly name: Uint32Array;
  readonly detail: Uint32Array;
  readonly thread: Uint32Array;
  readonly run: Uint32Array;
  readonly program: Uint16Array;
  readonly function: Uint16Array;
  readonly kind: Uint8Array;
  readonly tier: Uint8Array;
}

const ARRAYS = { f64: Float64Array, f32: Float32Array, u32: Uint32Array, i32: Int32Array, u16: Uint16Array, u8: Uint8Array } as const;

function columnOf(header: Header, buffer: ArrayBuffer, start: number, name: string, type: keyof typeof ARRAYS): Column {
  const found = header.columns.find((c) => c.name === name);
  if (found?.type !== type) throw new Error(`the timeline has no column ${name} of ${type}; do the extension and msvm have the same version?`);
  return new ARRAYS[type](buffer, start + found.offset, header.events);
}

/** @param bytes the whole of it; its buffer is kept, not copied. */
export function readTimeline(bytes: Uint8Array): Timeline {
  const end = bytes.indexOf(10);
  if (end < 0) throw new Error('not a timeline: its first line does not end');
  const header = readHeader(JSON.parse(new TextDecoder().decode(bytes.subarray(0, end))));
  if (header.format !== 1) throw new Error(`expected a timeline of format 1, found ${header.format}`);
  // Columns are aligned within the file; the file may stand anywhere in a buffer.
  const aligned = bytes.byteOffset % 8 === 0 && bytes.buffer instanceof ArrayBuffer ? { buffer: bytes.buffer, start: bytes.byteOffset + end + 1 } : { buffer: bytes.slice().buffer, start: end + 1 };
  const column = (name: string, type: keyof typeof ARRAYS): Column => columnOf(header, aligned.buffer, aligned.start, name, type);
  return {
    header,
    count: header.events,
    begin: column('begin', 'f64') as Float64Array,
    duration: column('duration', 'f64') as Float64Array,
    bytes: column('bytes', 'f64') as Float64Array,
    gflop: column('gflop', 'f32') as Float32Array,
    instruction: column('instruction', 'i32') as Int32Array,
    region: column('region', 'i32') as Int32Array,
    name: column('name', 'u32') as Uint32Array,
    detail: column('detail', 'u32') as Uint32Array,
    thread: column('thread', 'u32') as Uint32Array,
    run: column('run', 'u32') as Uint32Array,
    program: column('program', 'u16') as Uint16Array,
    function: column('function', 'u16') as Uint16Array,
    kind: column('kind', 'u8') as Uint8Array,
    tier: column('tier', 'u8') as Uint8Array,
  };
}

export interface Described {
  readonly kind: string;
  readonly title: string;
  readonly mode: string;
  readonly program: string;
  readonly function: string;
  readonly instruction: number;
  readonly operator: string;
  readonly mnemonic: string;
  readonly place: string;
  readonly name: string;
  readonly detail: string;
}

const MODED = new Set(['run', 'region', 'call', 'native', 'copy']);

/** An event in words. */
export function describe(t: Timeline, e: number): Described {
  const { header } = t;
  const kind = header.kinds[t.kind[e] ?? 0] ?? '';
  const program = header.programs[(t.program[e] ?? 0) - 1];
  const part = program?.functions[t.function[e] ?? 0];
  const at = t.instruction[e] ?? -1;
  const i = at >= 0 ? part?.instructions[at] : undefined;
  const name = header.texts[t.name[e] ?? 0] ?? '';
  const detail = header.texts[t.detail[e] ?? 0] ?? '';
  const operator = i?.[1] ?? '';
  const mnemonic = i?.[0] ?? '';
  const mode = MODED.has(kind) ? (header.modes[t.tier[e] ?? 0] ?? '') : '';
  const op = operator === '' ? mnemonic : operator;
  const titles: Readonly<Record<string, string>> = {
    run: `${program?.name ?? ''} @${part?.name ?? ''}`,
    region: `region ${t.region[e] ?? -1}`,
    call: op,
    native: `native code up to ${op}`,
    copy: 'copy',
    between: 'sizes, views, memory',
    compile: `compile ${name}`,
    jit: name,
    slow_path: `slow path: ${name}`,
    note: `${name}: ${detail}`,
  };
  return { kind, title: titles[kind] ?? kind, mode, program: program?.name ?? '', function: part?.name ?? '', instruction: at, operator, mnemonic, place: i?.[2] ?? '', name, detail };
}
