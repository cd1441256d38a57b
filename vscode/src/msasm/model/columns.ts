// The program counts columns in bytes of UTF-8, the editor in units of UTF-16.

/** @param column from 1 on. @returns from 0 on. */
export function character(line: string, column: number): number {
  let bytes = column - 1;
  let at = 0;
  while (bytes > 0 && at < line.length) {
    const point = line.codePointAt(at) ?? 0;
    bytes -= point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    at += point < 0x10000 ? 1 : 2;
  }
  return at;
}
