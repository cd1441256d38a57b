import { describe, expect, it } from 'vitest';
import { readCompared } from '../../src/trace/model/compared.ts';
import { pairs } from '../../src/trace/model/paired.ts';
import { instructionLine, sourcePlace } from '../../src/trace/model/place.ts';
import { search } from '../../src/trace/model/search.ts';
import { describe as inWords, readTimeline } from '../../src/trace/model/timeline.ts';
import { eventAt, firstAt, lasting, shares, tracksOf, type Row } from '../../src/trace/model/tracks.ts';
import { around, clamped, mark, panned, ticks, time, whole, zoomed } from '../../src/trace/model/view.ts';

interface Event {
  readonly kind: number;
  readonly begin: number;
  readonly duration: number;
  readonly tier?: number;
  readonly thread?: number;
  readonly instruction?: number;
  readonly name?: number;
  readonly detail?: number;
}

const KINDS = ['run', 'region', 'call', 'native', 'copy', 'between', 'compile', 'jit', 'slow_path', 'note'];
const TEXTS = ['', 'fast', 'slow', 'f32[2] -> f32[2]', 'N=2'];
const SIZES = { f64: 8, f32: 4, u32: 4, i32: 4, u16: 2, u8: 1 } as const;

/** As the program writes it. */
function file(events: readonly Event[], change: (header: Record<string, unknown>) => void = () => undefined, shift = 0): Uint8Array {
  const columns: [string, keyof typeof SIZES, (e: Event) => number][] = [
    ['begin', 'f64', (e) => e.begin],
    ['duration', 'f64', (e) => e.duration],
    ['bytes', 'f64', () => 1024],
    ['gflop', 'f32', () => 0.5],
    ['instruction', 'i32', (e) => e.instruction ?? -1],
    ['region', 'i32', () => 0],
    ['name', 'u32', (e) => e.name ?? 0],
    ['detail', 'u32', (e) => e.detail ?? 0],
    ['thread', 'u32', (e) => e.thread ?? 7],
    ['run', 'u32', () => 1],
    ['program', 'u16', () => 1],
    ['function', 'u16', () => 0],
    ['kind', 'u8', (e) => e.kind],
    ['tier', 'u8', (e) => e.tier ?? 0],
  ];
  let offset = 0;
  const table = columns.map(([name, type]) => {
    const at = offset;
    offset += Math.ceil((events.length * SIZES[type]) / 8) * 8;
    return { name, type, offset: at };
  });
  const header: Record<string, unknown> = {
    format: 1,
    events: events.length,
    kinds: KINDS,
    modes: ['interpreted', 'native', 'specialised'],
    texts: TEXTS,
    programs: [{ name: 'net', functions: [{ name: 'main', instructions: [['TENSOR_CREATE', '', '', ''], ['OP_CALL', 'Conv', 'net.py:4', ''], ['OP_CALL', 'Relu', 'net.py:5', '']] }] }],
    outliers: [{ event: 1, usual_us: 2, cause: 'the first' }],
    columns: table,
  };
  change(header);
  let line = JSON.stringify(header);
  line += `${' '.repeat((8 - ((line.length + 1) % 8)) % 8)}\n`;
  const bytes = new Uint8Array(shift + line.length + offset).subarray(shift);
  bytes.set(new TextEncoder().encode(line));
  const view = new DataView(bytes.buffer, shift + line.length);
  for (const [k, [, type, get]] of columns.entries())
    events.forEach((e, i) => {
      const at = (table[k]?.offset ?? 0) + i * SIZES[type];
      const set = { f64: () => view.setFloat64(at, get(e), true), f32: () => view.setFloat32(at, get(e), true), u32: () => view.setUint32(at, get(e), true), i32: () => view.setInt32(at, get(e), true), u16: () => view.setUint16(at, get(e), true), u8: () => view.setUint8(at, get(e)) };
      set[type]();
    });
  return bytes;
}

const EVENTS: readonly Event[] = [
  { kind: 0, begin: 0, duration: 100, tier: 0 },
  { kind: 2, begin: 1, duration: 40, tier: 0, instruction: 1, name: 1, detail: 3 },
  { kind: 2, begin: 45, duration: 50, tier: 0, instruction: 2, name: 2, detail: 3 },
  { kind: 7, begin: 60, duration: 0, name: 1 },
  { kind: 0, begin: 200, duration: 50, tier: 2, thread: 8 },
  { kind: 3, begin: 205, duration: 40, tier: 2, thread: 8, instruction: 2, name: 1 },
];
const t = readTimeline(file(EVENTS));

describe('a timeline', () => {
  it('is read as it was written, wherever it stands in a buffer', () => {
    for (const shift of [0, 3, 8]) {
      const read = readTimeline(file(EVENTS, undefined, shift));
      expect([...read.begin]).toEqual([0, 1, 45, 60, 200, 205]);
      expect([...read.instruction]).toEqual([-1, 1, 2, -1, -1, 2]);
      expect([...read.tier]).toEqual([0, 0, 0, 0, 2, 2]);
    }
  });
  it('refuses what it does not know', () => {
    expect(() => readTimeline(new Uint8Array([1, 2]))).toThrow('first line');
    expect(() => readTimeline(file(EVENTS, (h) => (h.format = 2)))).toThrow('format 1, found 2');
    expect(() => readTimeline(file(EVENTS, (h) => (h.columns = [])))).toThrow('no column begin');
  });
  it('says events in words', () => {
    expect(inWords(t, 0)).toMatchObject({ kind: 'run', title: 'net @main', mode: 'interpreted' });
    expect(inWords(t, 1)).toMatchObject({ title: 'Conv', name: 'fast', detail: 'f32[2] -> f32[2]', place: 'net.py:4' });
    expect(inWords(t, 5)).toMatchObject({ title: 'native code up to Relu', mode: 'specialised' });
    expect(inWords(t, 3)).toMatchObject({ title: 'fast', mode: '' });
  });
});

describe('tracks', () => {
  const tracks = tracksOf(t);
  const row = (track: number, k: number): Row => {
    const found = tracks[track]?.rows[k];
    if (!found) throw new Error('no such row');
    return found;
  };
  it('are threads, with runs above instructions, and the JIT last', () => {
    expect(tracks.map((x) => [x.label, ...x.rows.map((r) => `${r.kind} ${[...r.events].join()}`)])).toEqual([
      ['thread 7', 'runs 0', 'instructions 1,2'],
      ['thread 8', 'runs 4', 'instructions 5'],
      ['JIT', 'moments 3'],
    ]);
  });
  it('give shares by tier', () => {
    expect(firstAt(t, row(0, 1), 2)).toBe(1);
    expect(shares(t, row(0, 1), 0, 100)).toEqual({ first: 0, last: 2, tiers: [0.9, 0, 0] });
    expect(shares(t, row(1, 0), 200, 300).tiers).toEqual([0, 0, 0.5]);
  });
  it('name what lasts longer than a pixel', () => {
    expect([...lasting(t, row(0, 1), 0, 300, 30)]).toEqual([1, 2]);
    expect([...lasting(t, row(0, 1), 0, 300, 45)]).toEqual([2]);
    expect([...lasting(t, row(0, 1), 0, 300, 60)]).toEqual([]);
  });
  it('find the event under a pointer', () => {
    expect(eventAt(t, row(0, 1), 20, 1)).toBe(1);
    expect(eventAt(t, row(0, 1), 43, 1)).toBeUndefined();
    expect(eventAt(t, row(0, 1), 43, 3)).toBeDefined();
    expect(eventAt(t, row(2, 0), 62, 3)).toBe(3);
  });
  it('find it behind many short ones that began later', () => {
    const many = readTimeline(file([{ kind: 0, begin: 0, duration: 1000 }, ...Array.from({ length: 200 }, (_, k) => ({ kind: 0, begin: 1 + k, duration: 0.1 }))]));
    const [first] = tracksOf(many);
    expect(first?.rows[0] && eventAt(many, first.rows[0], 900, 1)).toBe(0);
  });
});

describe('search', () => {
  it('wants every word', () => {
    expect([...search(t, 'conv')]).toEqual([1]);
    expect([...search(t, 'net.py:5 special')]).toEqual([5]);
    expect([...search(t, '  ')]).toEqual([]);
    expect([...search(t, 'F32[2]')]).toEqual([1, 2]);
  });
});

describe('the window', () => {
  const all = { from: 0, to: 1000 };
  it('zooms about a moment and stays within the log', () => {
    expect(zoomed(all, 0.5, 250, all)).toEqual({ from: 125, to: 625 });
    expect(zoomed({ from: 400, to: 500 }, 100, 450, all)).toEqual(all);
    expect(zoomed(all, 1e-12, 500, all).to - zoomed(all, 1e-12, 500, all).from).toBeCloseTo(0.05);
    expect(panned({ from: 900, to: 1000 }, 50, all)).toEqual({ from: 900, to: 1000 });
    expect(clamped({ from: -50, to: 50 }, all)).toEqual({ from: 0, to: 100 });
    expect(around(500, 10, all)).toEqual({ from: 480, to: 530 });
    expect(whole(t.begin, t.duration)).toEqual({ from: -2.5, to: 252.5 });
  });
  it('has round marks, apart from each other', () => {
    const marks = ticks({ from: 0, to: 1000 }, 900);
    expect(marks).toEqual([0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000]);
    expect(ticks({ from: 0.02, to: 0.9 }, 300, 90).length).toBeLessThan(5);
  });
  it('tells times', () => {
    expect([0, 0.812, 3.2, 1040, 2_500_000, -120].map(time)).toEqual(['0', '812 ns', '3.2 µs', '1.04 ms', '2.5 s', '-120 µs']);
    expect([mark(1_234_567, 1), mark(1_234_568, 1), mark(200, 100), mark(0.05, 0.01)]).toEqual(['1.234567 s', '1.234568 s', '200 µs', '50 ns']);
  });
});

describe('places', () => {
  it('are files with a line', () => {
    expect(sourcePlace('net/model.py:47:9')).toEqual({ file: 'net/model.py', line: 47, column: 9 });
    expect(sourcePlace('model.py:47')).toEqual({ file: 'model.py', line: 47, column: 1 });
    expect(sourcePlace('nowhere')).toBeUndefined();
  });
  it('of instructions count within their function', () => {
    const operations = new Map([[3, 0], [4, 0], [8, 0], [9, 0]]);
    const functions = [{ name: '@a', line: 1, end: 5 }, { name: '@"b c"', line: 6, end: 20 }];
    expect(instructionLine(operations, functions, 'b c', 1)).toBe(9);
    expect(instructionLine(operations, functions, 'a', 2)).toBeUndefined();
  });
});

it('a comparison is read with what it leaves out', () => {
  const side = { count: 3, median_us: 5, total_ms: 1, mode: 'native', name: 'k' };
  const rows = readCompared([{ program: 'p', function: 'f', instruction: 2, operator: 'Conv', place: '', before: side, after: side, ratio: 1 }, { program: 'p', function: 'f', before: side }]);
  expect(rows[0]).toMatchObject({ instruction: 2, ratio: 1 });
  expect('instruction' in (rows[1] ?? {})).toBe(false);
  expect(rows[1]?.after.count).toBe(0);
});

describe('a comparison by operators', () => {
  const side = (count: number, median_us: number, total_ms: number) => ({ count, median_us, total_ms, mode: '', name: '' });
  const none = side(0, 0, 0);
  const row = (instruction: number | undefined, operator: string, before: typeof none, after: typeof none) => ({ program: 'p', function: 'f', operator, place: '', before, after, ...(instruction === undefined ? {} : { instruction }) });
  const rows = [
    row(undefined, '', side(100, 50, 5), side(100, 60, 6)),
    row(1, 'Relu', side(100, 2, 0.3), side(100, 1, 0.1)),
    row(2, 'Conv', side(100, 10, 1), side(100, 10, 1)),
    row(3, 'Conv', side(300, 30, 9), side(300, 90, 27)),
    row(4, 'Exp', none, side(10, 5, 0.05)),
    row(5, 'Tanh', side(10, 7, 0.07), none),
  ];

  it('one call is the mean of the instructions’ medians, each as often as it was called', () => {
    expect(pairs(rows, 'call')).toEqual([
      { operator: 'Conv', before: 25, after: 70, ratio: 2.8 },
      { operator: 'Tanh', before: 7 },
      { operator: 'Exp', after: 5 },
      { operator: 'Relu', before: 2, after: 1, ratio: 0.5 },
    ]);
  });

  it('all calls are their sum', () => {
    expect(pairs(rows, 'all').map(({ operator, before, after }) => [operator, before, after])).toEqual([
      ['Conv', 10_000, 28_000],
      ['Relu', 300, 100],
      ['Tanh', 70, undefined],
      ['Exp', undefined, 50],
    ]);
  });
});
