// What is known of an instruction, an operator, a name: Markdown for hovers and completions.
import type { Listing, Name, Operation } from './listing.ts';
import type { Attribute, Instruction, Operator } from './tables.ts';

const code = (text: string, language = 'msasm'): string => `\`\`\`${language}\n${text}\n\`\`\``;
const escaped = (text: string): string => text.replace(/[\\`*_{}[\]<>|#]/g, '\\$&');

export function instructionDoc(i: Instruction, kind?: string): string {
  const parts = [code(i.syntax.join('\n')), escaped(i.doc), `**equation**  \`${i.equation}\``, `**operands**  ${escaped(i.operands)}`];
  if (i.flags !== undefined) parts.push(`*${escaped(i.flags)}*`);
  const found = i.kinds?.find((each) => each.name === kind);
  if (found) parts.unshift(`\`${found.name}\`: ${escaped(found.doc)}`);
  return parts.join('\n\n');
}

const valuesOf = (a: Attribute): string => (a.choices === undefined ? a.type : a.choices.map((each) => `\`${each}\``).join(', '));

export function operatorDoc(op: Operator): string {
  const parts = [code(op.signature), escaped(op.doc), `**dtypes**  ${escaped(op.dtypes)}`];
  if (op.sizes !== undefined) parts.push(`**sizes**  ${escaped(op.sizes)}`);
  if (op.attributes && op.attributes.length > 0) {
    const rows = op.attributes.map((a) => `| \`${a.name}\` | ${valuesOf(a)} | ${a.required === true ? 'required' : escaped(a.default ?? '')} | ${escaped(a.doc)} |`);
    parts.push(['| attribute | values | default | meaning |', '| --- | --- | --- | --- |', ...rows].join('\n'));
  }
  return parts.join('\n\n');
}

export function attributeDoc(op: Operator, a: Attribute): string {
  const otherwise = a.required === true ? 'required' : a.default === undefined ? '' : `default \`${a.default}\``;
  return [`**${a.name}** of \`${op.name}\`: ${valuesOf(a)}${otherwise === '' ? '' : `; ${otherwise}`}`, escaped(a.doc)].join('\n\n');
}

const LONGEST = 400;

/** The statement that defines a name, and how often it is used. */
export function nameDoc(name: Name, lines: readonly string[]): string {
  const uses = name.places.filter((p) => p !== name.definition && !(p.line === name.definition?.line && p.start === name.definition.start)).length;
  const where = name.definition;
  const used = uses === 0 ? 'not used' : uses === 1 ? 'used once' : `used ${uses} times`;
  if (!where) return `\`${name.name}\` has no definition in this text; ${used}`;
  const text = (lines[where.line] ?? '').trim();
  const shown = text.length > LONGEST ? `${text.slice(0, LONGEST)} …` : text;
  return `${code(shown)}\n\n${name.kind}, line ${where.line + 1}; ${used}`;
}

/** The attribute whose name stands at `character`: a word before a colon, within braces. */
export function attributeAt(line: string, start: number, end: number, operation: Operation | undefined, find: (name: string) => Operator | undefined): string | undefined {
  if (!operation?.operator || !/^\s*:/.test(line.slice(end))) return undefined;
  const op = find(operation.operator.name);
  const attribute = op?.attributes?.find((each) => each.name === line.slice(start, end));
  return op && attribute ? attributeDoc(op, attribute) : undefined;
}

export function summary(listing: Listing): string {
  return `${listing.functions.length} functions, ${listing.operations.size} instructions`;
}
