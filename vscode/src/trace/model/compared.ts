// What `msvm trace compare --json` says.
import { list, number, object, string, type Reader } from '../../../../web/src/api/decode.ts';
import type { Compared } from './messages.ts';

const side = object({ count: number, median_us: number, total_ms: number, mode: string, name: string });
const optional = (raw: unknown): number | undefined => (typeof raw === 'number' ? raw : undefined);
const row = object({ program: string, function: string, instruction: optional, operator: string, place: string, before: side, after: side, ratio: optional });

export const readCompared: Reader<readonly Compared[]> = (raw) =>
  list(row)(raw).map(({ instruction, ratio, ...rest }) => ({ ...rest, ...(instruction === undefined ? {} : { instruction }), ...(ratio === undefined ? {} : { ratio }) }));
