/** An error that names what to do about it. */
export class Mend extends Error {
  constructor(
    what: string,
    readonly mend: string,
  ) {
    super(what);
    this.name = 'Mend';
  }
}

export function sentence(error: unknown): string {
  if (error instanceof Mend) return error.mend === '' ? error.message : `${error.message}. ${error.mend}`;
  return error instanceof Error ? error.message : String(error);
}
