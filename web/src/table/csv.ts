// Tables as CSV (RFC 4180, UTF-8): columns by their stable names, raw numbers with dot decimals, ISO times, nothing for null.

export type Value = string | number | null;

export interface CsvColumn<Row> {
  readonly id: string;
  readonly value: (row: Row) => Value;
}

export function csv<Row>(columns: readonly CsvColumn<Row>[], rows: readonly Row[]): string {
  const lines = [columns.map((c) => field(c.id)), ...rows.map((row) => columns.map((c) => field(c.value(row))))];
  return lines.map((line) => `${line.join(',')}\r\n`).join('');
}

/** A spreadsheet runs what looks like a formula: names come from models, so such texts get an apostrophe in front. */
const FORMULA = /^([=+\-\t\r]|@.*[(|!])/;

function field(value: Value): string {
  if (value === null) return '';
  if (typeof value === 'number') return plain(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Without an exponent where a table reader might stumble over it. */
function plain(n: number): string {
  if (!Number.isFinite(n)) return '';
  const text = String(n);
  if (!text.includes('e')) return text;
  return Math.abs(n) < 1 ? n.toFixed(12) : BigInt(n).toString();
}

/** "msvm-cache-2026-12-01T01-02-03.csv": sorts by time, and every file system takes it. */
export function csvName(view: string, iso: string): string {
  return `msvm-${view}-${iso.replace(/\.\d+/, '').replaceAll(':', '-').replace(/Z$/, '')}.csv`;
}
