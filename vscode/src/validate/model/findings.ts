// What `msvm verify --json` says.
import { list, number, object, orNull, string, type Read, type Reader } from '../../../../web/src/api/decode.ts';

const place = { line: number, column: number, end_line: number, end_column: number };
const readPlace = object(place);

const readFinding = object({
  code: string,
  title: string,
  message: string,
  expected: string,
  found: string,
  fix: string,
  /** Where the instruction came from, or, of a text that can't be read, where in the text. */
  place: object({ file: string, line: number, column: number, function: string, instruction: (raw: unknown) => (typeof raw === 'number' ? raw : -1), offset: (raw: unknown) => (typeof raw === 'number' ? raw : -1), mnemonic: string }),
  /** The statement within the text. */
  text: orNull(readPlace),
  /** What mends it; all of them together. */
  edits: list(object({ ...place, new_text: string })),
});

export const readFindings: Reader<readonly Finding[]> = list(readFinding);
export type Finding = Read<typeof readFinding>;
export type TextPlace = Read<typeof readPlace>;
export type TextEdit = Finding['edits'][number];

/** The whole finding as a person reads it. */
export function explained(f: Finding): string {
  const lines = [f.message === '' ? f.title : f.message];
  if (f.expected !== '') lines.push(`Expected: ${f.expected}`);
  if (f.found !== '') lines.push(`Found: ${f.found}`);
  if (f.fix !== '') lines.push(`Fix: ${f.fix}`);
  return lines.join('\n');
}

/** "Insert R4 = SHAPE_CALC mul R3, 2 before RETURN": what the light bulb offers. */
export function fixTitle(f: Finding): string {
  const inserted = f.edits.find((e) => e.new_text.endsWith('\n'));
  const replaced = f.edits.filter((e) => !e.new_text.endsWith('\n'));
  const statements = inserted ? inserted.new_text.trim().split('\n').map((line) => line.trim()) : [];
  const words = [
    ...(statements.length > 0 ? [`insert ${statements.join('; ')}`] : []),
    ...replaced.map((e) => (e.new_text.startsWith(': ') ? `declare it as ${e.new_text.slice(2)}` : `write ${e.new_text}`)),
  ];
  const title = words.join(', ');
  return title === '' ? f.fix : title.slice(0, 1).toUpperCase() + title.slice(1);
}

/** A text without a finding's mistake; edits in the order of the text, columns in bytes. */
export function mended(text: string, edits: readonly TextEdit[], character: (line: string, column: number) => number): string {
  const lines = text.split('\n');
  const starts: number[] = [];
  let at = 0;
  for (const line of lines) {
    starts.push(at);
    at += line.length + 1;
  }
  const position = (line: number, column: number): number => (starts[line - 1] ?? text.length) + character(lines[line - 1] ?? '', column);
  let out = '';
  let from = 0;
  for (const e of edits) {
    out += text.slice(from, position(e.line, e.column)) + e.new_text;
    from = position(e.end_line, e.end_column);
  }
  return out + text.slice(from);
}
