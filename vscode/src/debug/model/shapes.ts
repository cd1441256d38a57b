// Sizes for the inputs of a module that is launched without any: what `msvm info` says of them, and values that fit.
import { list, number, numberOrNull, object, string, type Read } from '../../../../web/src/api/decode.ts';

export const readInfo = object({
  symbols: list(object({ name: string, min: number, max: numberOrNull, divisor: numberOrNull, remainder: numberOrNull })),
  functions: list(object({ name: string, inputs: list(object({ name: string, type: string })) })),
});

export type Info = Read<typeof readInfo>;
type Symbol = Info['symbols'][number];

const TENSOR = /^\w+\[(.*?)\]/;
/** What a size is proposed as, where its range permits. */
const USUAL = 8;

/** The smallest value from 8 on that range and divisor permit; if there is none, the largest below. */
export function proposed({ min, max, divisor, remainder }: Symbol): number {
  const step = Math.max(1, divisor ?? 1);
  const rest = remainder ?? 0;
  const up = (from: number) => from + ((((rest - from) % step) + step) % step);
  const value = up(Math.max(min, USUAL));
  if (max === null || value <= max) return value;
  const below = max - ((((max - rest) % step) + step) % step);
  return Math.max(below, min);
}

/** Parts of "N, 2*H, max(A, B)" that are separated by commas outside brackets. */
function dimensions(text: string): readonly string[] {
  const parts: string[] = [];
  let depth = 0;
  let part = '';
  for (const letter of text) {
    if (letter === '(') depth++;
    if (letter === ')') depth--;
    if (letter === ',' && depth === 0) {
      parts.push(part.trim());
      part = '';
    } else part += letter;
  }
  return part.trim() === '' ? parts : [...parts, part.trim()];
}

/** A size of a literal, a symbol or a multiple of one; other expressions are left for the user to correct. */
function valueOf(size: string, symbols: ReadonlyMap<string, number>): number {
  const product = /^(\d+)\s*\*\s*(\w+)$/.exec(size);
  if (product !== null) return Number(product[1]) * (symbols.get(product[2] ?? '') ?? USUAL);
  return /^\d+$/.test(size) ? Number(size) : (symbols.get(size) ?? USUAL);
}

export interface Proposal {
  /** "x=8x3x64x64", one an input. */
  readonly shapes: readonly string[];
  /** Whether a size isn't settled, so that the user is asked. */
  readonly open: boolean;
  /** "x: f32[N, 3, H, W]", for people. */
  readonly inputs: string;
}

export function propose(info: Info, name: string | undefined): Proposal | undefined {
  const of = name === undefined ? info.functions[0] : info.functions.find((each) => each.name === name);
  if (of === undefined) return undefined;
  const symbols = new Map(info.symbols.map((symbol) => [symbol.name, proposed(symbol)]));
  const sized = of.inputs.flatMap(({ name: input, type }) => {
    const found = TENSOR.exec(type);
    return found === null ? [] : [{ input, sizes: dimensions(found[1] ?? '') }];
  });
  return {
    shapes: sized.filter(({ sizes }) => sizes.length > 0).map(({ input, sizes }) => `${input}=${sizes.map((size) => valueOf(size, symbols)).join('x')}`),
    open: sized.some(({ sizes }) => sizes.some((size) => !/^\d+$/.test(size))),
    inputs: of.inputs.map(({ name: input, type }) => `${input}: ${type}`).join(', '),
  };
}

const SHAPE = /^[^\s=]+=\d+(x\d+)*$/;

/** Of what the user typed: "x=1x3 y=4"; a text says what is wrong with it. */
export function parsed(typed: string): readonly string[] | string {
  const parts = typed.split(/[\s;]+/).filter((part) => part !== '');
  const wrong = parts.find((part) => !SHAPE.test(part));
  return wrong === undefined ? parts : `"${wrong}" is no shape; write NAME=SIZES, as in x=1x3x64x64`;
}
