// "model.py:47", "/abs/model.py:47:9": a file, and where in it.

export interface SourcePlace {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export function sourcePlace(text: string): SourcePlace | undefined {
  const match = /^(.*?):(\d+)(?::(\d+))?$/.exec(text);
  const file = match?.[1] ?? '';
  if (file === '') return undefined;
  return { file, line: Math.max(1, Number(match?.[2])), column: Math.max(1, Number(match?.[3] ?? 1)) };
}

/** The line of an instruction in a listing: the n-th of its function. */
export function instructionLine(operations: ReadonlyMap<number, unknown>, functions: readonly { readonly name: string; readonly line: number; readonly end: number }[], name: string, instruction: number): number | undefined {
  const part = functions.find((f) => f.name.replace(/^@/, '').replace(/^"|"$/g, '') === name);
  if (!part) return undefined;
  const lines = [...operations.keys()].filter((line) => line > part.line && line <= part.end).sort((a, b) => a - b);
  return lines[instruction];
}
