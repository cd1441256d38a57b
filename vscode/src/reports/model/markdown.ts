// Reports as Markdown: what is put into a cell or a line can't break it.

export const text = (raw: string): string => raw.replaceAll(/[\\`*_{}[\]<>#|]/g, '\\$&').replaceAll('\n', ' ');

/** In a fixed-width face; longer fences than any that the text holds. */
export function code(raw: string): string {
  if (raw === '') return '';
  const fence = '`'.repeat(1 + Math.max(0, ...[...raw.matchAll(/`+/g)].map(([run]) => run.length)));
  const space = raw.startsWith('`') || raw.endsWith('`') ? ' ' : '';
  return `${fence}${space}${raw.replaceAll('|', '\\|').replaceAll('\n', ' ')}${space}${fence}`;
}

export interface Column<T> {
  readonly name: string;
  readonly right?: boolean;
  readonly cell: (row: T) => string;
}

export function table<T>(columns: readonly Column<T>[], rows: readonly T[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(columns.map(({ name }) => name)), line(columns.map(({ right }) => (right === true ? '---:' : '---'))), ...rows.map((row) => line(columns.map(({ cell }) => cell(row))))].join('\n');
}
