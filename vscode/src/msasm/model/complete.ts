// What can stand at a place of a text.
import { operatorDoc, instructionDoc, attributeDoc } from './docs.ts';
import type { Listing } from './listing.ts';
import { instruction, operator, tables, type Operator } from './tables.ts';

export type ItemKind = 'instruction' | 'operator' | 'kind' | 'register' | 'block' | 'constant' | 'symbol' | 'attribute' | 'value' | 'type' | 'keyword';

export interface Item {
  readonly label: string;
  readonly kind: ItemKind;
  readonly detail?: string;
  readonly doc?: string;
  /** A snippet; `label` where absent. */
  readonly insert?: string;
}

const STATEMENTS: readonly Item[] = [
  { label: 'module', kind: 'keyword', insert: 'module "$1" version 1' },
  { label: 'opset', kind: 'keyword', insert: 'opset "" ${1:23}, "msvm" ${2:1}' },
  { label: 'symbol', kind: 'keyword', detail: 'range and divisor of a size', insert: 'symbol ${1:N} in [${2:1}, ${3:64}]' },
  { label: 'const', kind: 'keyword', insert: 'const %${1:name} ${2:f32[2]} = [${3:1, 2}]' },
  { label: 'func', kind: 'keyword', insert: 'func @${1:main}(${2:x: f32[N]}) -> (${3:y: f32[N]})\nb0:\n  $0' },
];

const SNIPPETS: Readonly<Record<string, string>> = {
  TENSOR_CREATE: 'TENSOR_CREATE input ${1:0}',
  TENSOR_CONST: 'TENSOR_CONST %$1',
  TENSOR_ALLOC: 'TENSOR_ALLOC [${1:N}], ${2:f32}, CPU(0)',
  OP_CALL: 'OP_CALL ${1:Add}(${2:R0, R1}) -> ${3:R2}',
  TENSOR_COPY: 'TENSOR_COPY ${1:R0} -> ${2:R1}',
  SHAPE_PROPAGATE: 'SHAPE_PROPAGATE ${1:R0}, ${2:0}',
  SHAPE_CALC: 'SHAPE_CALC ${1:mul} ${2:R0}, ${3:2}',
};

const PRECISION: Item[] = ['fp32', 'bf16', 'fp16', 'int8', 'strict'].map((label) => ({ label, kind: 'value' as const, insert: `"${label}"` }));

/** Text before the place, up to where a comment would begin. */
const isComment = (before: string): boolean => before.replace(/"(?:\\.|[^"\\])*"/g, '').replace(/[([{][^\])}]*$/, '').includes(';');
const openString = (before: string): boolean => (before.replace(/\\./g, '').match(/"/g)?.length ?? 0) % 2 === 1;

function attributes(op: Operator | undefined, before: string): Item[] {
  const valueOf = /([A-Za-z_][\w.]*)\s*:\s*"?[\w.]*$/.exec(before)?.[1];
  if (valueOf !== undefined) {
    if (valueOf === 'precision') return PRECISION;
    const choices = op?.attributes?.find((a) => a.name === valueOf)?.choices ?? [];
    return choices.map((label) => ({ label, kind: 'value', insert: openString(before) ? label : `"${label}"` }));
  }
  const known: Item[] = (op?.attributes ?? []).map((a) => ({
    label: a.name,
    kind: 'attribute',
    detail: a.required === true ? `${a.type}, required` : a.type,
    doc: op ? attributeDoc(op, a) : a.doc,
    insert: `${a.name}: `,
  }));
  return [...known, { label: 'precision', kind: 'attribute', insert: 'precision: ' }, { label: 'fusion', kind: 'attribute', insert: 'fusion: ' }].filter(
    (item) => !new RegExp(String.raw`[{,]\s*${item.label}\s*:`).test(before),
  ) as Item[];
}

function names(listing: Listing, line: number, kinds: readonly ('register' | 'block' | 'constant' | 'symbol')[], lines: readonly string[]): Item[] {
  const scope = listing.functions.findIndex((f) => f.line <= line && line <= f.end);
  return listing.names
    .filter((n) => (kinds as readonly string[]).includes(n.kind) && (n.scope === undefined || n.scope === scope) && !(n.kind === 'register' && n.definition && n.definition.line >= line))
    .map((n) => ({ label: n.name, kind: n.kind as ItemKind, detail: n.definition ? (lines[n.definition.line] ?? '').trim().slice(0, 100) : '' }));
}

export function complete(listing: Listing, lines: readonly string[], line: number, character: number): Item[] {
  const before = (lines[line] ?? '').slice(0, character);
  if (isComment(before)) return [];
  const call = /\bOP_CALL\s+([\w.]*)$/.exec(before);
  if (call) return tables.operators.map((op) => ({ label: op.name, kind: 'operator', detail: op.signature, doc: operatorDoc(op) }));
  const inCall = /\bOP_CALL\s+("[^"]*"|[\w.]+)/.exec(before)?.[1];
  if (inCall !== undefined && (before.split('{').length > before.split('}').length)) return attributes(operator(inCall.replaceAll('"', '')), before);
  if (openString(before)) return [];
  const kinded = /\b([A-Z][A-Z_]+)\s+[a-z_]*$/.exec(before);
  const kinds = kinded?.[1] === undefined ? undefined : instruction(kinded[1])?.kinds;
  if (kinds && kinded?.[1] !== 'TENSOR_CREATE') return kinds.map((each) => ({ label: each.name, kind: 'kind', doc: each.doc }));
  const inFunction = listing.functions.some((f) => f.line < line || (f.line === line && character > 0)) && line > (listing.functions[0]?.line ?? Infinity);
  const begins = /^\s*[\w%@]*$/.test(before);
  const mnemonics = (result: boolean): Item[] =>
    tables.instructions
      .filter((i) => i.result === result || i.mnemonic === 'OP_CALL')
      .map((i) => ({ label: i.mnemonic, kind: 'instruction', detail: i.equation, doc: instructionDoc(i), ...(SNIPPETS[i.mnemonic] === undefined ? {} : { insert: SNIPPETS[i.mnemonic] }) }));
  if (begins) return [...(inFunction ? mnemonics(false) : []), ...(/^\s/.test(before) && inFunction ? [] : STATEMENTS)];
  if (/=\s*[A-Z_]*$/.test(before)) return mnemonics(true);
  if (/:\s*[a-z0-9]*$/.test(before) && !/\[[^\]]*$/.test(before)) return [...tables.dtypes, 'list'].map((label) => ({ label, kind: 'type' }));
  const blocks = /\b(JUMP|BRANCH_IF|SWITCH|TENSOR_PHI|SCALAR_PHI)\b/.test(before);
  return names(listing, line, [...(/%\w*$/.test(before) ? [] : (['register', 'symbol'] as const)), 'constant', ...(blocks ? (['block'] as const) : [])], lines);
}
