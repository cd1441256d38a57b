// What a text defines and where it is used: functions with their blocks and registers, symbols, constants.
import { instruction, isDtype } from './tables.ts';
import { tokens, type Token } from './tokens.ts';

export interface Place {
  readonly line: number;
  readonly start: number;
  readonly end: number;
}

export type NameKind = 'register' | 'block' | 'constant' | 'symbol' | 'function';

export interface Name {
  readonly kind: NameKind;
  /** "R3", "b1", "%scale", "N", "@forward". */
  readonly name: string;
  /** Its function; undefined for what belongs to the whole module. */
  readonly scope: number | undefined;
  definition: Place | undefined;
  readonly places: Place[];
}

export interface Block {
  readonly name: string;
  readonly line: number;
  end: number;
}

export interface FunctionPart {
  readonly name: string;
  readonly line: number;
  end: number;
  readonly blocks: Block[];
  /** Signature, as it is written. */
  readonly detail: string;
}

export interface Operation {
  readonly mnemonic: string;
  readonly place: Place;
  /** Of an OP_CALL. */
  readonly operator?: { readonly name: string; readonly place: Place };
  readonly kind?: { readonly name: string; readonly place: Place };
}

export interface Listing {
  readonly functions: readonly FunctionPart[];
  readonly names: readonly Name[];
  /** By line; at most one instruction begins in each. */
  readonly operations: ReadonlyMap<number, Operation>;
  /** The name that stands at a place, if one does. */
  at(line: number, character: number): { readonly name: Name; readonly place: Place } | undefined;
}

const KEYWORDS = new Set(
  'module version producer opset none opt_level metadata symbol in multiple_of plus const data fill elided func register raw new input donated strided filled nhwc axis from to step reuse captured round_f32 dynamic symbolic list i64 f64 bool true false inf nan CPU sim floordiv ceildiv mod min max bcast'.split(
    ' ',
  ),
);

const place = (token: Token): Place => ({ line: token.line, start: token.start, end: token.end });

class Reader {
  readonly functions: FunctionPart[] = [];
  readonly operations = new Map<number, Operation>();
  readonly #names = new Map<string, Name>();
  readonly #byLine = new Map<number, { name: Name; place: Place }[]>();
  #scope: number | undefined;
  #constants = 0;

  get names(): readonly Name[] {
    return [...this.#names.values()];
  }

  read(lines: readonly string[]): void {
    let statement: Token[] = [];
    let line = -1;
    let depth = 0;
    for (const token of tokens(lines)) {
      if (token.kind === 'comment') continue;
      if (token.line !== line && depth === 0) {
        this.#statement(statement, lines);
        statement = [];
      } else if (token.line !== line && /^(func|module|const|symbol)$/.test(token.text) && token.start === 0) {
        this.#statement(statement, lines);
        statement = [];
        depth = 0;
      }
      line = token.line;
      if (token.kind === 'mark') {
        if ('([{'.includes(token.text)) depth += 1;
        if (')]}'.includes(token.text)) depth = Math.max(0, depth - 1);
      }
      statement.push(token);
    }
    this.#statement(statement, lines);
    const last = lines.length - 1;
    this.#close(last);
  }

  at(line: number, character: number) {
    return this.#byLine.get(line)?.find((each) => each.place.start <= character && character <= each.place.end);
  }

  #close(line: number): void {
    const open = this.functions.at(-1);
    if (!open) return;
    open.end = line;
    const block = open.blocks.at(-1);
    if (block) block.end = line;
  }

  #note(kind: NameKind, text: string, token: Token, defines: boolean): void {
    const scope = kind === 'register' || kind === 'block' ? this.#scope : undefined;
    const key = `${kind} ${scope ?? ''} ${text}`;
    let name = this.#names.get(key);
    if (!name) this.#names.set(key, (name = { kind, name: text, scope, definition: undefined, places: [] }));
    const where = place(token);
    name.places.push(where);
    if (defines && !name.definition) name.definition = where;
    const inLine = this.#byLine.get(token.line);
    if (inLine) inLine.push({ name, place: where });
    else this.#byLine.set(token.line, [{ name, place: where }]);
  }

  #statement(parts: readonly Token[], lines: readonly string[]): void {
    const [first] = parts;
    if (!first) return;
    switch (first.text) {
      case 'symbol':
        for (let k = 1; k < parts.length; k++) {
          const token = parts[k];
          if (!token) continue;
          const begins = k === 1 || (parts[k - 1]?.text === ',' && !insideBrackets(parts, k));
          if (begins && token.kind === 'register') this.#note('register', token.text, token, false);
          else if (begins && (token.kind === 'word' || token.kind === 'string')) this.#note('symbol', token.text, token, true);
        }
        return;
      case 'const': {
        const [, , name] = parts;
        const token = parts[1];
        if (token?.kind === 'constant') this.#note('constant', token.text, token, true);
        else if (name && token?.text === '%') this.#note('constant', `%${this.#constants}`, name, true);
        this.#constants += 1;
        return;
      }
      case 'func': {
        this.#close(Math.max(0, first.line - 1));
        this.#scope = this.functions.length;
        const name = parts[1];
        this.functions.push({ name: name?.text ?? '@', line: first.line, end: first.line, blocks: [], detail: (lines[first.line] ?? '').replace(/^\s*func\s*@?("[^"]*"|[\w.]*)/, '').trim() });
        if (name?.kind === 'function') this.#note('function', name.text, name, true);
        this.#operands(parts.slice(2), 'signature');
        return;
      }
      case 'module':
      case 'producer':
      case 'opset':
      case 'opt_level':
      case 'metadata':
        return;
      default:
    }
    if (first.kind === 'block' && parts[1]?.text === ':') {
      const part = this.functions.at(-1);
      const open = part?.blocks.at(-1);
      if (open) open.end = first.line - 1;
      part?.blocks.push({ name: first.text, line: first.line, end: first.line });
      this.#note('block', first.text, first, true);
      return;
    }
    this.#instruction(parts);
  }

  #instruction(parts: readonly Token[]): void {
    const equals = outsideBrackets(parts, '=');
    const at = equals < 0 ? (parts[0]?.text === 'register' ? 1 : 0) : equals + 1;
    const register = parts[0]?.text === 'register';
    if (equals >= 0 || register) this.#defs(parts.slice(register ? 1 : 0, register ? parts.length : equals));
    if (register) return;
    const raw = parts[at]?.text === 'raw';
    const mnemonic = parts[raw ? at + 1 : at];
    if (mnemonic?.kind !== 'word') {
      this.#operands(parts.slice(at), 'instruction');
      return;
    }
    const rest = parts.slice(at + (raw ? 2 : 1));
    const known = instruction(mnemonic.text);
    const next = rest[0];
    let operation: Operation = { mnemonic: mnemonic.text, place: place(mnemonic) };
    let from = 0;
    if (mnemonic.text === 'OP_CALL' && next && (next.kind === 'word' || next.kind === 'string')) {
      operation = { ...operation, operator: { name: next.kind === 'string' ? next.text.slice(1, -1) : next.text, place: place(next) } };
      from = 1;
    } else if (next?.kind === 'word' && known?.kinds?.some((kind) => kind.name === next.text)) {
      operation = { ...operation, kind: { name: next.text, place: place(next) } };
      from = 1;
    }
    this.operations.set(mnemonic.line, operation);
    this.#operands(rest.slice(from), 'instruction');
  }

  /** `R3 "x": f32[N], R4: i64`: registers at the beginning of each are defined; types mention sizes. */
  #defs(parts: readonly Token[]): void {
    let begins = true;
    let depth = 0;
    const rest: Token[] = [];
    for (const token of parts) {
      if (token.kind === 'mark' && '([{'.includes(token.text)) depth += 1;
      if (token.kind === 'mark' && ')]}'.includes(token.text)) depth -= 1;
      if (begins && token.kind === 'register') this.#note('register', token.text, token, true);
      else rest.push(token);
      begins = depth === 0 && token.text === ',';
    }
    this.#operands(rest, 'instruction');
  }

  /** Names in operands and types. Words are symbols where a size can stand: within square or round brackets, not as a name of something. */
  #operands(parts: readonly Token[], what: 'signature' | 'instruction'): void {
    const open: string[] = [];
    for (const [k, token] of parts.entries()) {
      const next = parts[k + 1]?.text ?? '';
      const before = parts[k - 1]?.text ?? '';
      if (token.kind === 'mark') {
        if ('([{'.includes(token.text)) open.push(token.text);
        if (')]}'.includes(token.text)) open.pop();
      } else if (token.kind === 'register') {
        this.#note('register', token.text, token, before === 'new');
      } else if (token.kind === 'block') {
        this.#note('block', token.text, token, false);
      } else if (token.kind === 'constant') {
        this.#note('constant', token.text, token, false);
      } else if (token.kind === 'word' && !KEYWORDS.has(token.text) && !isDtype(token.text) && !open.includes('{')) {
        const named = next === ':' || (before === '(' && open.at(-1) === '(' && open.at(-2) === '[' && next === ',');
        const sized = open.length > (what === 'signature' ? 1 : 0) || what === 'instruction';
        if (!named && sized) this.#note('symbol', token.text, token, false);
      }
    }
  }
}

function insideBrackets(parts: readonly Token[], upTo: number): boolean {
  let depth = 0;
  for (let k = 0; k < upTo; k++) {
    const text = parts[k]?.text ?? '';
    if (parts[k]?.kind !== 'mark') continue;
    if ('([{'.includes(text)) depth += 1;
    if (')]}'.includes(text)) depth -= 1;
  }
  return depth > 0;
}

function outsideBrackets(parts: readonly Token[], mark: string): number {
  let depth = 0;
  for (const [k, token] of parts.entries()) {
    if (token.kind !== 'mark') continue;
    if ('([{'.includes(token.text)) depth += 1;
    if (')]}'.includes(token.text)) depth -= 1;
    if (depth === 0 && token.text === mark) return k;
  }
  return -1;
}

export function readListing(text: string): Listing {
  const lines = text.split('\n');
  const reader = new Reader();
  reader.read(lines);
  const names = reader.names;
  // A symbol without a declaration begins at its first use.
  for (const name of names) name.definition ??= name.kind === 'symbol' ? name.places[0] : undefined;
  return { functions: reader.functions, names, operations: reader.operations, at: (line, character) => reader.at(line, character) };
}
