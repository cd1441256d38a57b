// Which functions of a Python text are jitted: those under @ms.jit, whatever names the text has imported it by.

export interface Jitted {
  readonly name: string;
  /** Lines from 0: of the decorator, of `def`, and the last of the body. */
  readonly line: number;
  readonly def: number;
  readonly last: number;
}

const MODULE = /^\s*import\s+(.+)$/;
const FROM = /^\s*from\s+msvm\s+import\s+\(?([^#]*)/;
const AS = /^([\w.]+)(?:\s+as\s+(\w+))?$/;
const DECORATOR = /^(\s*)@([\w.]+)\s*(?:\(|#|$)/;
const DEF = /^(\s*)(?:async\s+)?def\s+(\w+)/;

const parts = (list: string) =>
  list
    .split('#')[0]
    ?.split(',')
    .map((part) => AS.exec(part.replace(/[()]/g, '').trim())) ?? [];

/** Names that stand for msvm.jit. */
function names(lines: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const line of lines) {
    const from = FROM.exec(line);
    for (const part of from === null ? [] : parts(from[1] ?? '')) if (part?.[1] === 'jit') found.add(part[2] ?? 'jit');
    const module = from === null ? MODULE.exec(line) : null;
    for (const part of module === null ? [] : parts(module[1] ?? '')) if (part?.[1] === 'msvm') found.add(`${part[2] ?? 'msvm'}.jit`);
  }
  return found;
}

/** Text with what stands in strings of several lines made blank. */
export function outsideStrings(text: string): readonly string[] {
  return text.replaceAll(/("""|''')[\s\S]*?\1/g, (string) => string.replaceAll(/[^\n]/g, ' ')).split(/\r?\n/);
}

export function jitted(text: string): readonly Jitted[] {
  const lines = outsideStrings(text);
  const jits = names(lines);
  if (jits.size === 0) return [];
  const found: Jitted[] = [];
  lines.forEach((line, at) => {
    const decorator = DECORATOR.exec(line);
    if (decorator === null || !jits.has(decorator[2] ?? '')) return;
    const def = lines.findIndex((each, below) => below > at && below <= at + 40 && DEF.test(each));
    const named = DEF.exec(lines[def] ?? '');
    if (named !== null) found.push({ name: named[2] ?? '', line: at, def, last: lastOf(lines, def, named[1]?.length ?? 0) });
  });
  return found;
}

/** The last line that is indented deeper than its `def`. */
function lastOf(lines: readonly string[], def: number, indent: number): number {
  let last = def;
  for (let at = def + 1; at < lines.length; at++) {
    const line = lines[at] ?? '';
    if (line.trim() === '' || line.trim().startsWith('#')) continue;
    if (line.length - line.trimStart().length <= indent && !/^\s*[)\]}]/.test(line)) break;
    last = at;
  }
  return last;
}
