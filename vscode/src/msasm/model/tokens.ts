// The words of `.msasm`, line by line: registers, blocks, constants, functions, names, marks. docs/assembly.md is the grammar.

export type TokenKind = 'register' | 'block' | 'constant' | 'function' | 'word' | 'string' | 'number' | 'mark' | 'comment';

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  readonly line: number;
  /** UTF-16, from 0 on. */
  readonly start: number;
  readonly end: number;
}

const STRING = String.raw`"(?:\\.|[^"\\])*"?`;
const WORD = new RegExp(
  [
    String.raw`(?<string>${STRING})`,
    String.raw`(?<constant>%(?:${STRING}|[A-Za-z0-9_.]+))`,
    String.raw`(?<function>@(?:${STRING}|[A-Za-z_][A-Za-z0-9_.]*))`,
    String.raw`(?<number>0x[0-9a-fA-F]+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)`,
    String.raw`(?<word>[A-Za-z_][A-Za-z0-9_.]*)`,
    String.raw`(?<mark>->|//|[^\sA-Za-z0-9_])`,
  ].join('|'),
  'gy',
);

const opens = (text: string): boolean => text === '(' || text === '[' || text === '{';
const closes = (text: string): boolean => text === ')' || text === ']' || text === '}';

/** `;` begins a comment, except where it stands before the size arguments of a call or of RETURN: within brackets, behind no comma. */
function beginsComment(before: string, depth: number): boolean {
  return depth <= 0 || before === ',' || before === '[' || before === '{';
}

function kindOf(groups: Record<string, string | undefined>): TokenKind {
  const word = groups.word;
  if (word !== undefined) return /^R\d+$/.test(word) ? 'register' : /^b\d+$/.test(word) ? 'block' : 'word';
  for (const kind of ['string', 'constant', 'function', 'number'] as const) if (groups[kind] !== undefined) return kind;
  return 'mark';
}

/** Brackets that are open go on over line ends, so a text is read from its beginning. */
export function* tokens(lines: Iterable<string>): Generator<Token> {
  let depth = 0;
  let before = '';
  let line = -1;
  for (const text of lines) {
    line += 1;
    // A statement that begins at the left is never within a list: an open bracket above is a mistake of its line alone.
    if (depth > 0 && /^(func|module|const|symbol)\b/.test(text)) depth = 0;
    if (depth === 0) before = '';
    let at = 0;
    while (at < text.length) {
      if (text[at] === ' ' || text[at] === '\t' || text[at] === '\r') {
        at += 1;
        continue;
      }
      if (text[at] === ';' && beginsComment(before, depth)) {
        yield { kind: 'comment', text: text.slice(at), line, start: at, end: text.length };
        break;
      }
      WORD.lastIndex = at;
      const match = WORD.exec(text);
      if (!match) {
        at += 1;
        continue;
      }
      const found = match[0];
      if (opens(found)) depth += 1;
      if (closes(found)) depth = Math.max(0, depth - 1);
      before = found;
      yield { kind: kindOf(match.groups ?? {}), text: found, line, start: at, end: at + found.length };
      at += found.length;
    }
  }
}
