// Which lines of machine code, IR, bytecode and Python belong together. Answers are by index, prepared once per disassembly.
import type { Disassembly } from '../api/schema.ts';

export type Kernel = Disassembly['kernels'][number];

/** Something that is pointed at: its counterparts are highlighted. */
export type Target =
  | { readonly side: 'code'; readonly line: number }
  | { readonly side: 'ir'; readonly line: number }
  | { readonly side: 'bytecode'; readonly instruction: number }
  | { readonly side: 'place'; readonly place: string };

export interface Highlight {
  readonly code: ReadonlySet<number>;
  readonly ir: ReadonlySet<number>;
  readonly instructions: ReadonlySet<number>;
  readonly places: ReadonlySet<string>;
}

export const NOTHING: Highlight = { code: new Set(), ir: new Set(), instructions: new Set(), places: new Set() };

export function highlight(kernel: Kernel, target: Target | null): Highlight {
  if (!target) return NOTHING;
  const lines = kernel.lines;
  const own = target.side === 'code' ? lines[target.line] : undefined;
  const matches = (k: number): boolean => {
    const line = lines[k];
    if (!line) return false;
    switch (target.side) {
      case 'code':
        return k === target.line || (own !== undefined && own.ir !== null && line.ir === own.ir);
      case 'ir':
        return line.ir === target.line;
      case 'bytecode':
        return line.instructions.includes(target.instruction);
      case 'place':
        return line.places.includes(target.place);
    }
  };
  const code = new Set([...lines.keys()].filter(matches));
  // Pointing at code shows where that line itself comes from; pointing elsewhere, all that came of it.
  const from = own ? [own] : [...code].map((k) => lines[k]).filter((line) => line !== undefined);
  return {
    code,
    ir: new Set([...from.map((l) => l.ir).filter((ir) => ir !== null), ...(target.side === 'ir' ? [target.line] : [])]),
    instructions: new Set([...from.flatMap((l) => l.instructions), ...(target.side === 'bytecode' ? [target.instruction] : [])]),
    places: new Set([...from.flatMap((l) => l.places), ...(target.side === 'place' ? [target.place] : [])]),
  };
}
