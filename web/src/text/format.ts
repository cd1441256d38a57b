// Numbers for people: the same in every language, with dot decimals, so that a page and a CSV file read alike.

export const NOTHING = '–';

/** About three significant digits, no exponent, thousands by a narrow space. */
export function count(n: number | null): string {
  if (n === null) return NOTHING;
  return Math.round(n).toString().replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f');
}

export function decimal(n: number | null): string {
  if (n === null) return NOTHING;
  const size = Math.abs(n);
  if (size >= 1000) return count(n);
  return n.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 || size === 0 ? 2 : 3);
}

/** 0.9483 → "94.8 %". What isn't quite all or nothing isn't shown as such. */
export function percent(rate: number | null): string {
  if (rate === null) return NOTHING;
  const p = rate * 100;
  if (p > 99.9 && p < 100) return '99.9 %';
  if (p > 0 && p < 0.1) return '0.1 %';
  return `${p.toFixed(p >= 100 ? 0 : 1)} %`;
}

const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

export function bytes(n: number | null): string {
  if (n === null) return NOTHING;
  let size = n;
  let unit = 0;
  while (Math.abs(size) >= 1024 && unit < BYTE_UNITS.length - 1) {
    size /= 1024;
    unit += 1;
  }
  // 1023.9 KiB would round to 1024: it is the next unit's 1.00.
  if (unit > 0 && Math.abs(size) >= 1023.5 && unit < BYTE_UNITS.length - 1) {
    size /= 1024;
    unit += 1;
  }
  const digits = unit === 0 || Math.abs(size) >= 100 ? 0 : Math.abs(size) >= 10 ? 1 : 2;
  return `${size.toFixed(digits)} ${BYTE_UNITS[unit] ?? ''}`;
}

/** A duration in the unit that suits it. */
export function duration(ms: number | null): string {
  if (ms === null) return NOTHING;
  if (ms === 0) return '0 ms';
  if (ms < 1) return `${(ms * 1000).toFixed(ms < 0.1 ? 1 : 0)} µs`;
  if (ms < 1000) return `${ms.toFixed(ms < 10 ? 2 : ms < 100 ? 1 : 0)} ms`;
  return seconds(ms / 1000);
}

/** "4 s", "3 m 12 s", "2 h 05 m", "3 d 4 h". */
export function seconds(s: number | null): string {
  if (s === null) return NOTHING;
  if (s > 0 && s < 0.05) return '<0.1 s';
  if (s < 10) return `${s.toFixed(1)} s`;
  const whole = Math.floor(s);
  if (whole < 60) return `${whole} s`;
  const two = (n: number) => String(n).padStart(2, '0');
  if (whole < 3600) return `${Math.floor(whole / 60)} m ${two(whole % 60)} s`;
  if (whole < 86_400) return `${Math.floor(whole / 3600)} h ${two(Math.floor((whole % 3600) / 60))} m`;
  return `${Math.floor(whole / 86_400)} d ${Math.floor((whole % 86_400) / 3600)} h`;
}

/** Time of day of an ISO time, in the reader's own zone. */
export function clock(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return NOTHING;
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map((n) => String(n).padStart(2, '0')).join(':');
}

/** "@main instructions 3 to 141" → "@main 3–141". */
export function shortRegion(name: string): string {
  return name.replace(/ instructions (\d+) to (\d+)$/, ' $1–$2');
}

/** For axes: "50.0 %" → "50 %". */
export function tick(text: string): string {
  return text.replace(/(\.\d*?)0+(?= )/, '$1').replace(/\.(?= )/, '');
}

/** [1, 3, 480] with [N, C, H] → "N=1 C=3 H=480". */
export function shape(symbols: readonly string[], values: readonly number[]): string {
  return values.map((v, k) => (symbols[k] === undefined ? String(v) : `${symbols[k]}=${v}`)).join(' ');
}
