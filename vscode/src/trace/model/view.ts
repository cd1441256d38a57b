// The window of time that is seen: zoom and pan.

export interface Window {
  readonly from: number;
  readonly to: number;
}

/** What a log spans, with a little room at its ends. */
export function whole(begin: Float64Array, duration: Float64Array): Window {
  const first = begin[0] ?? 0;
  let last = first + 1;
  for (let k = 0; k < begin.length; k++) last = Math.max(last, (begin[k] ?? 0) + (duration[k] ?? 0));
  const room = (last - first) * 0.01;
  return { from: first - room, to: last + room };
}

const NARROWEST_US = 0.05;

export function clamped(w: Window, all: Window): Window {
  const width = Math.min(Math.max(w.to - w.from, NARROWEST_US), all.to - all.from);
  const from = Math.min(Math.max(w.from, all.from), all.to - width);
  return { from, to: from + width };
}

/** @param factor below 1 zooms in. @param at the moment that stays where it is. */
export function zoomed(w: Window, factor: number, at: number, all: Window): Window {
  const width = Math.min(Math.max((w.to - w.from) * factor, NARROWEST_US), all.to - all.from);
  const share = (at - w.from) / (w.to - w.from);
  return clamped({ from: at - share * width, to: at + (1 - share) * width }, all);
}

export function panned(w: Window, by: number, all: Window): Window {
  return clamped({ from: w.from + by, to: w.to + by }, all);
}

/** Room around an event. */
export function around(begin: number, duration: number, all: Window): Window {
  const room = Math.max(duration * 2, 5);
  return clamped({ from: begin - room, to: begin + duration + room }, all);
}

/** Moments for the ruler: a step of 1, 2 or 5 times a power of ten, at least `least` pixels apart. */
export function ticks(w: Window, pixels: number, least = 90): readonly number[] {
  const raw = ((w.to - w.from) / Math.max(pixels, 1)) * least;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw) ?? raw;
  const out: number[] = [];
  for (let k = Math.ceil(w.from / step); k * step <= w.to; k++) out.push(k * step);
  return out;
}

/** Microseconds for people: "812 ns", "3.2 µs", "1.04 ms", "2.5 s". */
export function time(us: number): string {
  if (us === 0) return '0';
  const [unit, name] = unitOf(us);
  const v = us / unit;
  return `${Math.abs(v) >= 100 ? v.toFixed(0) : String(Number(v.toPrecision(3)))} ${name}`;
}

/** A mark of the ruler, with as many digits as tell it from the next one. */
export function mark(us: number, step: number): string {
  if (us === 0) return '0';
  const [unit, name] = unitOf(us);
  return `${(us / unit).toFixed(Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / unit) - 1e-9))))} ${name}`;
}

function unitOf(us: number): readonly [number, string] {
  const n = Math.abs(us);
  return n < 1 ? [1e-3, 'ns'] : n < 1e3 ? [1, 'µs'] : n < 1e6 ? [1e3, 'ms'] : [1e6, 's'];
}
