// How debugpy is installed, and why it wasn't.

export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  /** As a user types it. */
  readonly text: string;
}

const quoted = (word: string): string => (/^[\w./+:@%-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

export function installing(python: string): Command {
  const args = ['-m', 'pip', 'install', 'debugpy'];
  return { program: python, args, text: [python, ...args].map(quoted).join(' ') };
}

/** The line in which pip says what is wrong; else its last one. */
export function reason(output: string): string {
  const lines = output.split('\n').map((line) => line.trim());
  const error = lines.find((line) => /^error: /i.test(line));
  return error?.replace(/^error: /i, '') ?? lines.filter((line) => line !== '').at(-1) ?? 'pip said nothing';
}
