// A scripted program: a detector fed by a camera that changes its resolution, and an encoder with buckets for its sequence length.
// Every step follows from its number alone.
import type { Bytecode, Disassembly, History, Point, State } from '../../src/api/schema.ts';
import type { Recording } from '../../src/feed/recorded.ts';

export const START = Date.parse('2026-12-01T09:30:00.000Z');
const iso = (ms: number): string => new Date(ms).toISOString();

/** The second at which the detector falls back. */
export const FALLBACK_AT = 6;

/** 0 to 1, always the same for the same number. */
export function noise(n: number): number {
  let x = Math.imul(n ^ (n >>> 16), 0x45d9f3b);
  x = Math.imul(x ^ (x >>> 16), 0x45d9f3b);
  return ((x ^ (x >>> 16)) >>> 0) / 2 ** 32;
}

const RESOLUTIONS = [
  [1080, 1920, 4210, 2],
  [2160, 3840, 1395, 2],
  [720, 1280, 118, 1],
  [1088, 1920, 41, 1],
  [540, 960, 6, 0],
] as const;

const LENGTHS = [17, 24, 31, 32, 40, 48, 57, 64, 71, 96, 102, 128, 131, 160, 211];

const spread = (count: number, p50: number, tail: number) => ({ count, mean_ms: p50 * 1.06, p50_ms: p50, p90_ms: p50 * 1.2, p99_ms: p50 * tail, p999_ms: p50 * tail * 1.4, max_ms: p50 * tail * 2.1 });

function detector(k: number): State['programs'][number] {
  const frames = 5770 + 30 * k;
  const now = START + 1000 * k;
  const hd = 4210 + (k % 8 < 5 ? 30 * k : 0);
  return {
    id: 1,
    name: 'detect',
    runs: frames,
    failed_runs: 0,
    hit_rate: 0.981,
    specialised_hit_rate: 0.943,
    window: { runs: 1000, hit_rate: 0.992, specialised_hit_rate: 0.958 },
    region_runs: frames * 2,
    native: Math.round(frames * 1.96),
    specialised: Math.round(frames * 1.88),
    compiled: 7 + Math.floor(k / 5),
    from_disk: 2,
    failed: 1,
    evicted: 0,
    compile_ms: 412.6,
    code_bytes: 186_368,
    cache_bytes: 67_108_864,
    hint: '',
    cache_mode: 'exact',
    boundaries: {},
    latency: { interpreted: spread(22, 41.2, 1.9), native: spread(1140, 24.7, 1.5), specialised: spread(frames - 1162, 18.3, 1.4) },
    rates: { runs_per_s: 30.1 - noise(k), gflops: 96.4 + 3 * noise(k + 7), peak_share: 0.63, gbytes_per_s: 11.8 + noise(k + 3), layout_bytes: 3_211_264 },
    regions: [
      {
        function: 0,
        region: 0,
        name: '@main instructions 3 to 141',
        place: 'detect.py:47',
        symbols: ['N', 'H', 'W'],
        calls: 62,
        fused_calls: 41,
        fused: ['group 0: Mul, Add, HardSwish'],
        not_fused: ['Resize (detect.py:61): its sizes follow from data', 'Concat (detect.py:66): operands are views of one buffer'],
        state: 'the entry N*_H1080_W1920 serves these sizes',
        scd: 0.67,
        runs: frames,
        native: frames - 22,
        specialised: frames - 170,
        interpreted_ms: 41.2,
        native_ms: 18.3,
        shapes: RESOLUTIONS.map(([h, w, runs, tier]) => ({ values: [1, h, w], runs: runs + (h === 1080 ? 30 * k : 0), tier, entry: tier === 0 ? '' : tier === 1 ? 'jit_symbolic_51f0c2aa' : `jit_cache_237a4b1c_N*_H${h}_W${w}` })),
        entries: [
          { name: 'jit_cache_237a4b1c_N*_H1080_W1920', alias: 'jit_1920x1080', box: 'N*_H1080_W1920', tier: 2, hits: hd, code_bytes: 41_216, shared: false, outcome: 'compiled', compile_ms: 61.4, age_s: 180 + k, last_hit_s: 0.02 },
          { name: 'jit_cache_237a4b1c_N*_H2160_W3840', alias: 'jit_3840x2160', box: 'N*_H2160_W3840', tier: 2, hits: 1395 + (k % 8 >= 5 ? 30 * k : 0), code_bytes: 42_752, shared: false, outcome: 'compiled', compile_ms: 66.9, age_s: 121 + k, last_hit_s: k % 8 >= 5 ? 0.03 : 4.2 + k },
          { name: 'jit_symbolic_51f0c2aa', alias: '', box: 'N*_H*_W*', tier: 1, hits: 159 + (k % 3 === 0 ? k : 0), code_bytes: 38_144, shared: false, outcome: 'from disk', compile_ms: 58.2, age_s: 191 + k, last_hit_s: 2.6 },
        ],
      },
      {
        function: 0,
        region: 1,
        name: '@main instructions 149 to 203',
        place: 'detect.py:72',
        symbols: ['K'],
        calls: 18,
        fused_calls: 11,
        fused: [],
        not_fused: [],
        state: 'SCD 0.50 is below the threshold of 0.80: K takes many values',
        scd: 0.5,
        runs: frames,
        native: frames - 310,
        specialised: 0,
        interpreted_ms: 3.1,
        native_ms: 1.2,
        shapes: Array.from({ length: 14 }, (_, n) => ({ values: [4 + 3 * n + Math.floor(3 * noise(n))], runs: Math.round(880 * Math.exp(-((n - 5) ** 2) / 14)) + 12, tier: n > 11 ? 0 : 1, entry: n > 11 ? '' : 'jit_symbolic_77ab01d9' })).sort((a, b) => b.runs - a.runs),
        entries: [{ name: 'jit_symbolic_77ab01d9', alias: '', box: 'K*', tier: 1, hits: frames - 310, code_bytes: 9_728, shared: false, outcome: 'compiled', compile_ms: 14.8, age_s: 188 + k, last_hit_s: 0.02 }],
      },
    ],
    slow_path: [
      { time: iso(START - 171_000), region: '@main instructions 3 to 141', reason: 'compilation timed out after 2.0 s; the code for all sizes runs instead', place: 'detect.py:47' },
      ...(k >= FALLBACK_AT ? [{ time: iso(START + 1000 * FALLBACK_AT - 120), region: '@main instructions 149 to 203', reason: 'K = 0: the condition K ≥ 1 of the entry fails; interpreted', place: 'detect.py:72' }] : []),
    ],
    events: [
      { time: iso(START - 191_000), kind: 'analysed', what: '@main: 2 regions, 52 of 80 calls in 17 groups' },
      { time: iso(START - 189_000), kind: 'compiled', what: 'jit_symbolic_77ab01d9 in 14.8 ms' },
      { time: iso(START - 180_000), kind: 'compiled', what: 'jit_cache_237a4b1c_N*_H1080_W1920 in 61.4 ms' },
      { time: iso(START - 179_900), kind: 'hot patch', what: '@main offset 0x1a: tier 1 → jit_cache_237a4b1c_N*_H1080_W1920' },
      { time: iso(START - 171_000), kind: 'failed', what: 'jit_cache_237a4b1c_N*_H720_W1280: timed out after 2.0 s' },
      { time: iso(START - 121_000), kind: 'compiled', what: 'jit_cache_237a4b1c_N*_H2160_W3840 in 66.9 ms' },
      { time: iso(START - 120_900), kind: 'hot patch', what: '@main offset 0x1a: tier 1 → jit_cache_237a4b1c_N*_H2160_W3840' },
      ...(now > START + 4000 ? [{ time: iso(START + 4000), kind: 'evicted', what: 'jit_cache_237a4b1c_N*_H540_W960: not used for 180 s' }] : []),
    ],
  };
}

function encoder(k: number): State['programs'][number] {
  const runs = 2140 + 12 * k;
  const entry = (range: string, hits: number, shared: boolean) => ({
    name: `jit_cache_9c04e7d2_B*_S${range}`,
    alias: '',
    box: `B*_S${range}`,
    tier: 2,
    hits,
    code_bytes: 17_920,
    shared,
    outcome: shared ? '' : 'compiled',
    compile_ms: shared ? 0 : 33.7,
    age_s: 92 + k,
    last_hit_s: 0.4,
  });
  return {
    id: 2,
    name: 'encoder',
    runs,
    failed_runs: 2,
    hit_rate: 0.871,
    specialised_hit_rate: 0.802,
    window: { runs: 1000, hit_rate: 0.904, specialised_hit_rate: 0.85 },
    region_runs: runs,
    native: Math.round(runs * 0.871),
    specialised: Math.round(runs * 0.802),
    compiled: 3,
    from_disk: 0,
    failed: 0,
    evicted: 1,
    compile_ms: 91.2,
    code_bytes: 52_224,
    cache_bytes: 67_108_864,
    hint: '6 % of the runs have S > 160, beyond the last bucket: a boundary at 256 would serve them',
    cache_mode: 'adaptive',
    boundaries: { S: [32, 64, 96, 160] },
    latency: { interpreted: spread(276, 12.4, 2.2), native: spread(148, 7.1, 1.6), specialised: spread(runs - 424, 5.2, 1.5) },
    rates: { runs_per_s: 12.2, gflops: 38.5, peak_share: 0.25, gbytes_per_s: 4.1, layout_bytes: 0 },
    regions: [
      {
        function: 0,
        region: 0,
        name: '@encode instructions 0 to 88',
        place: 'encoder.py:118',
        symbols: ['B', 'S'],
        calls: 44,
        fused_calls: 29,
        fused: [],
        not_fused: ['Attention (encoder.py:131): a prebuilt kernel'],
        state: 'widened to the bucket 65–96 of S: its weight is 171 of 369 runs and saves 1.9 % per byte',
        scd: 0.83,
        runs,
        native: Math.round(runs * 0.871),
        specialised: Math.round(runs * 0.802),
        interpreted_ms: 12.4,
        native_ms: 5.2,
        shapes: LENGTHS.map((s, n) => ({ values: [8, s], runs: Math.round(20 + 210 * noise(s)) + n, tier: s > 160 ? 1 : 2, entry: s > 160 ? 'jit_symbolic_b1aa90f3' : 'jit_cache_9c04e7d2_B*_S' })).sort((a, b) => b.runs - a.runs),
        entries: [
          entry('0-32', 402 + 4 * k, false),
          entry('33-64', 618 + 5 * k, true),
          entry('65-96', 391, true),
          entry('97-160', 305 + 3 * k, true),
          { ...entry('*', 148, false), name: 'jit_symbolic_b1aa90f3', box: 'B*_S*', tier: 1, outcome: 'compiled', compile_ms: 29.1, last_hit_s: 8.1 },
        ],
      },
    ],
    slow_path: [],
    events: [
      { time: iso(START - 140_000), kind: 'analysed', what: '@encode: 1 region, 29 of 44 calls in 9 groups' },
      { time: iso(START - 92_000), kind: 'compiled', what: 'jit_cache_9c04e7d2_B*_S0-32 in 33.7 ms' },
      { time: iso(START - 40_000), kind: 'retired', what: 'jit_cache_9c04e7d2_B*_S0-48: boundaries of S moved' },
    ],
  };
}

const PHASES = ['parse', 'optimize', 'codegen'] as const;

export function stateAt(k: number): State {
  const time = START + 1000 * k;
  const progress = ((k * 2 + 3) % 10) / 10;
  return {
    version: 1,
    time: iso(time),
    uptime_s: 192 + k,
    pid: 41_207,
    command: 'python inspect_line.py --camera 0',
    msvm: '0.1.0',
    isa: 'avx512',
    threads: 2,
    role: 'admin',
    tracing: false,
    queues: [
      {
        engine: 0,
        running: { label: '@main 3 to 141, N*_H720_W1280', program: 'detect', phase: PHASES[Math.min(2, Math.floor(progress * 3))] ?? 'parse', elapsed_ms: 64 * progress, estimate_ms: 64, progress },
        next: [
          { label: '@main 3 to 141, N*_H1088_W1920', urgency: 'normal', gain: 2.31, estimate_ms: 62 },
          { label: '@encode 0 to 88, B*_S161-256', urgency: 'waited', gain: 1.2, estimate_ms: 34 },
          { label: '@main 149 to 203, K1-16', urgency: 'idle', gain: 0.4, estimate_ms: 15 },
        ],
        queued: 3,
        outcomes: { compiled: 10 + Math.floor(k / 5), 'from disk': 2, 'timed out': 1 },
        phases: { parse: { count: 11, mean_ms: 1.2, max_ms: 2.4 }, optimize: { count: 11, mean_ms: 21.4, max_ms: 38 }, codegen: { count: 11, mean_ms: 26.9, max_ms: 44 } },
        compiled: { count: 10, mean_ms: 50.4, max_ms: 71 },
        cpu_s: 0.62,
        budget_s: 5,
        compiler_starts: 1,
      },
    ],
    memory: [
      {
        engine: 0,
        device: 'CPU(0)',
        in_use: 121_634_816 + Math.round(4_000_000 * noise(k)),
        reserved: 167_772_160,
        peak: 158_334_976,
        fragmentation: 0.084,
        by_owner: { weights: 48_234_496, arena: 52_428_800, scratch: 12_582_912, results: 6_291_456, interpreter: 2_097_152 },
        hint: '',
      },
    ],
    programs: [detector(k), encoder(k)],
    warnings: [
      { time: iso(START - 95_000), kind: 'capability', severity: 'info', program: '', region: '', place: '', text: 'Capability DB updated', mend: 'kernels are chosen anew at the next calls' },
      { time: iso(START - 64_000), kind: 'kernel', severity: 'warning', program: 'encoder', region: '@encode instructions 0 to 88', place: 'encoder.py:131', text: 'Kernel not found for op MatMul (fp16) on device CPU(0) [avx2]', mend: 'MatMul runs in f32 after a cast: measure with `msvm tune`, or keep these weights in f32' },
      {
        time: iso(START - 31_000),
        kind: 'hit_rate',
        severity: 'warning',
        program: 'encoder',
        region: '@encode instructions 0 to 88',
        place: 'encoder.py:118',
        text: 'Hit rate 0.64 over the latest 1000 runs; open symbols: S',
        mend: 'sizes of S beyond 160 have no bucket: add 256 to bucket_boundaries, or let cache_mode="adaptive" learn them',
      },
      ...(k >= FALLBACK_AT
        ? [
            {
              time: iso(START + 1000 * FALLBACK_AT - 120),
              kind: 'fallback',
              severity: 'error' as const,
              program: 'detect',
              region: '@main instructions 149 to 203',
              place: 'detect.py:72',
              text: 'Fallback triggered at line 72',
              mend: 'K was 0: no box was found in the frame; return early, or let the region take empty sizes',
            },
          ]
        : []),
    ],
    alerts: [
      { rule: 'hit_rate < 0.85 for 60s', state: 'ok', since: iso(START - 180_000), value: 0.957, message: 'check camera feed resolution' },
      { rule: 'p99_ms > 40', state: k >= FALLBACK_AT ? 'firing' : 'pending', since: iso(START - 12_000), value: 41.8, message: 'frames will be dropped above 33 ms' },
    ],
  };
}

export function pointAt(k: number): Point {
  const idle = k > -190 && k < -160;
  const warm = 1 - Math.exp(-(k + 300) / 40);
  const dip = k % 97 > -8 && k % 97 < -2 ? 0.14 : 0;
  const rate = Math.max(0, Math.min(1, 0.985 * warm - dip - 0.02 * noise(k)));
  return {
    time: iso(START + 1000 * k),
    hit_rate: idle ? null : rate,
    specialised_hit_rate: idle ? null : Math.max(0, rate - 0.05 - 0.35 * Math.exp(-(k + 300) / 60)),
    runs_per_s: idle ? 0 : 42 - noise(k),
    p50_ms: idle ? null : 18.3 + 14 * (1 - warm) + noise(k + 1),
    p99_ms: idle ? null : 26 + 20 * (1 - warm) + 5 * noise(k + 2) + (dip > 0 ? 14 : 0),
    in_use: 121_634_816 + Math.round(9_000_000 * noise(Math.floor(k / 3))) - (idle ? 60_000_000 : 0),
    reserved: k < -120 ? 134_217_728 : 167_772_160,
    queued: 3,
    compiled: 10,
    fallbacks: dip > 0 ? 1 : 0,
  };
}

/** Five minutes before the start. */
export const history: History = { step_s: 1, points: Array.from({ length: 300 }, (_, k) => pointAt(k - 300)) };

const IR = [
  'kernel group_0 avx512 f32',
  'arg in %0 rows=H*W cols=C',
  'arg in %1 rows=1 cols=C',
  'arg out %2 rows=H*W cols=C',
  'row r in 0..H*W',
  '  col c in 0..C step 16',
  '    %a = load %0[r, c]',
  '    %b = load %1[0, c]',
  '    %m = mul %a, %b',
  '    %s = add %m, 3.0',
  '    %t = clamp %s, 0.0, 6.0',
  '    %u = mul %m, %t',
  '    %v = mul %u, 0.166667',
  '    store %2[r, c], %v',
  '  end',
  'end',
];

const ASM: readonly (readonly [text: string, ir: number | null, instructions: readonly number[], finding?: number])[] = [
  ['push rbp', null, []],
  ['mov rbp, rsp', null, []],
  ['mov r8, qword ptr [rdi + 0x18]', 4, [17]],
  ['test r8, r8', 4, [17]],
  ['je 0x9c', 4, [17], 1],
  ['vbroadcastss zmm4, dword ptr [rip + 0x1c0]', 9, [18]],
  ['vbroadcastss zmm5, dword ptr [rip + 0x1be]', 10, [19]],
  ['vxorps xmm6, xmm6, xmm6', 10, [19]],
  ['vbroadcastss zmm7, dword ptr [rip + 0x1b4]', 12, [20]],
  ['nop dword ptr [rax]', null, []],
  ['mov rax, qword ptr [rbp - 0x20]', 5, [17], 0],
  ['vmovups zmm0, zmmword ptr [rsi + 4*rcx]', 6, [17]],
  ['vmovups zmm1, zmmword ptr [rdx + 4*rcx]', 7, [17]],
  ['vmulps zmm2, zmm0, zmm1', 8, [17]],
  ['vaddps zmm3, zmm2, zmm4', 9, [18]],
  ['vminps zmm3, zmm3, zmm5', 10, [19]],
  ['vmaxps zmm3, zmm3, zmm6', 10, [19]],
  ['vmulps zmm2, zmm2, zmm3', 11, [20]],
  ['vmulps zmm2, zmm2, zmm7', 12, [20]],
  ['vmovups zmmword ptr [r9 + 4*rcx], zmm2', 13, [20]],
  ['add rcx, 16', 5, [17]],
  ['cmp rcx, rax', 5, [17]],
  ['jl 0x3a', 5, [17]],
  ['dec r8', 4, [17]],
  ['jne 0x2e', 4, [17]],
  ['pop rbp', null, []],
  ['vzeroupper', null, []],
  ['ret', null, []],
];

const PLACES: Readonly<Record<number, string>> = { 17: 'detect.py:47', 18: 'detect.py:48', 19: 'detect.py:48', 20: 'detect.py:49' };

/** @param repeats how often the code is there, to make long listings. */
export function disassemblyOf(entry: string, repeats = 1): Disassembly {
  const lines = Array.from({ length: repeats }, (_, turn) =>
    ASM.map(([text, ir, instructions, finding], k) => ({
      address: `0x${(6 * (turn * ASM.length + k)).toString(16)}`,
      text,
      ir,
      instructions,
      places: [...new Set(instructions.map((i) => PLACES[i] ?? ''))],
      finding: turn === 0 ? (finding ?? null) : null,
    })),
  ).flat();
  return {
    entry,
    kernels: [
      { name: 'group 0', size: 6 * lines.length, ir: IR.map((text) => ({ text })), lines },
      { name: 'group 1', size: 48, ir: [{ text: 'kernel group_1 avx512 f32' }], lines: lines.slice(0, 8).map((line) => ({ ...line, finding: null })) },
    ],
    findings: [
      { kind: 'symbolic_moves', kernel: 0, line: 10, text: 'the size of the row is reloaded from the stack in each turn of the inner loop.', mend: 'C is open in this entry: a box that fixes C turns it into a constant' },
      { kind: 'size_branch', kernel: 0, line: 4, text: 'a branch tests whether H*W is 0.', mend: 'say H ≥ 1 with ms.Dim("H", min=1)' },
      { kind: 'generic_kernel', kernel: 99, line: 0, text: 'Resize runs resize_generic: no tuned kernel takes a factor that is known at run time only.', mend: 'give the factor as a constant' },
    ],
    calls: [
      { instruction: 12, operator: 'Conv', kernel: 'conv_nhwc_avx512' },
      { instruction: 16, operator: 'Conv', kernel: 'conv_depthwise_avx512' },
      { instruction: 31, operator: 'Resize', kernel: 'resize_generic' },
    ],
  };
}

export const bytecode: Bytecode = {
  lines: [
    ['R16 = OP_CALL Conv R3, R14, R15', 16, 'detect.py:46', 0],
    ['R17 = OP_CALL Mul R16, R5', 17, 'detect.py:47', 0],
    ['R18 = OP_CALL Add R17, R6', 18, 'detect.py:48', 0],
    ['R19 = OP_CALL Clip R18, R7, R8', 19, 'detect.py:48', 0],
    ['R20 = OP_CALL Mul R17, R19', 20, 'detect.py:49', 0],
    ['FREE R16, R18, R19', 21, '', 0],
  ].map(([text, instruction, place, region]) => ({ text: String(text), instruction: Number(instruction), place: String(place), region: Number(region) })),
};

export const recording = (seconds: number): Recording => ({
  history,
  steps: Array.from({ length: seconds }, (_, k) => ({ state: stateAt(k), point: pointAt(k) })),
  disassembly: (address) => (address.entry.startsWith('jit_') ? disassemblyOf(address.entry) : null),
  bytecode,
});

/** A state with so many entries, each with some hits more than in the step before or not. */
export function bigState(k: number, entries: number): State {
  const state = stateAt(k);
  const [first, ...rest] = state.programs;
  const region = first?.regions[0];
  const model = region?.entries[0];
  if (!first || !region || !model) throw new Error('the scenario has no region');
  const many = Array.from({ length: entries }, (_, n) => ({
    ...model,
    name: `jit_cache_237a4b1c_N*_H${100 + n}_W${200 + n}`,
    alias: `jit_${200 + n}x${100 + n}`,
    hits: 10 * (entries - n) + (noise(n + 31 * k) > 0.5 ? k : 0),
    age_s: n + k,
  }));
  return { ...state, programs: [{ ...first, regions: [{ ...region, entries: many }, ...first.regions.slice(1)] }, ...rest] };
}
