// The analysis of Shape Convergence Degree as a report: of a program that runs, or of a file.
import { list, number, numberOrNull, object, string } from '../../../../web/src/api/decode.ts';
import type { Program } from '../../../../web/src/api/schema.ts';
import { code, table, text, type Column } from './markdown.ts';

const tensor = object({ name: string, scd: numberOrNull, dims: list(string), reason: string, mend: string, place: string });

/** What `msvm scd --json` says of a file. */
export const readFileScd = object({
  file: string,
  functions: list(
    object({
      function: string,
      scd: number,
      tensors: list(tensor),
      regions: list(object({ first: number, last: number, calls: number, symbols: list(object({ name: string, free: (raw) => raw === true })) })),
      borders: list(object({ instruction: number, what: string, why: string, place: string })),
    }),
  ),
});

export const readDeclared = object({ programs: list(object({ id: number, tensors: list(tensor) })) });

type Tensor = ReturnType<typeof tensor>;
export type FileScd = ReturnType<typeof readFileScd>;

const degree = (scd: number | null): string => (scd === null ? '' : scd.toFixed(2));

const TENSORS: readonly Column<Tensor>[] = [
  { name: 'tensor', cell: ({ name }) => code(name) },
  { name: 'SCD', right: true, cell: ({ scd }) => (scd !== null && scd < 0.5 ? `**${degree(scd)}**` : degree(scd)) },
  { name: 'dims', cell: ({ dims }) => code(`[${dims.join(', ')}]`) },
  { name: 'why', cell: ({ reason }) => text(reason) },
  { name: 'what would mend it', cell: ({ mend }) => text(mend) },
  { name: 'place', cell: ({ place }) => text(place) },
];

const BORDERS: readonly Column<FileScd['functions'][number]['borders'][number]>[] = [
  { name: 'instruction', right: true, cell: ({ instruction }) => String(instruction) },
  { name: 'what', cell: ({ what }) => code(what) },
  { name: 'why native code ends here', cell: ({ why }) => text(why) },
  { name: 'place', cell: ({ place }) => text(place) },
];

const INTRODUCTION = 'How much of each shape is settled, from 0 to 1: (constant + dynamic axes) / all axes. Code for fixed sizes pays where it is near 1.';

export function ofFile(scd: FileScd): string {
  const parts = [`# SCD of ${text(scd.file)}`, INTRODUCTION];
  for (const each of scd.functions) {
    parts.push(`## @${text(each.function)}: ${degree(each.scd)}`);
    const counted = each.tensors.filter((row) => row.scd !== null);
    parts.push(counted.length === 0 ? 'No tensor of it counts.' : table(TENSORS, counted));
    parts.push(...regionsOf(each));
  }
  return `${parts.join('\n\n')}\n`;
}

/** What native code can take over, and where it ends. */
function regionsOf({ regions, borders }: FileScd['functions'][number]): readonly string[] {
  const rows = regions.map(({ first, last, calls, symbols }, at) => {
    const names = symbols.map(({ name, free }) => code(name) + (free ? ' (free)' : '')).join(', ');
    return `- **region ${at}**: instructions ${first} to ${last}, ${calls} calls; decided by ${names === '' ? 'no sizes' : names}`;
  });
  return [...(rows.length === 0 ? [] : ['### What native code can take over', rows.join('\n')]), ...(borders.length === 0 ? [] : ['### Borders', table(BORDERS, borders)])];
}

const percent = (rate: number | null): string => (rate === null ? '–' : `${(rate * 100).toFixed(1)} %`);

/** `file`: of the module that is debugged, where it runs as it is written. */
export function ofPrograms(programs: readonly Program[], declared: ReturnType<typeof readDeclared>, file?: FileScd): string {
  const parts = ['# SCD analysis', INTRODUCTION];
  if (programs.length === 0) parts.push('The session has loaded no program yet.');
  for (const program of programs) {
    parts.push(`## ${text(program.name)}`, `${program.runs} runs; hit rate **${percent(program.hit_rate)}**, in code for their sizes ${percent(program.specialised_hit_rate)}.${program.hint === '' ? '' : ` ${text(program.hint)}`}`);
    if (program.regions.length > 0) {
      parts.push(
        table(
          [
            { name: 'region', cell: ({ name }) => code(name) },
            { name: 'SCD', right: true, cell: ({ scd }) => degree(scd) },
            { name: 'sizes', cell: ({ symbols }) => symbols.map(code).join(', ') },
            { name: 'runs', right: true, cell: ({ runs }) => String(runs) },
            { name: 'native', right: true, cell: ({ runs, native }) => (runs === 0 ? '–' : percent(native / runs)) },
            { name: 'now', cell: ({ state }) => text(state) },
            { name: 'place', cell: ({ place }) => text(place) },
          ],
          program.regions,
        ),
      );
    }
    const tensors = declared.programs.find(({ id }) => id === program.id)?.tensors.filter(({ scd }) => scd !== null) ?? [];
    if (tensors.length > 0) parts.push('### Declared by its callers', table(TENSORS, tensors));
  }
  for (const each of file?.functions ?? []) {
    const found = regionsOf(each);
    if (found.length > 0) parts.push(`## @${text(each.function)} as it is written`, ...found);
  }
  return `${parts.join('\n\n')}\n`;
}
