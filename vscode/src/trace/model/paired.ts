// A comparison by operators: what one call of each took before and after, and all of its calls.
import type { Compared, ComparedSide } from './messages.ts';

export interface Pair {
  readonly operator: string;
  /** Microseconds; absent where the operator isn't in that log. */
  readonly before?: number;
  readonly after?: number;
  /** After by before, where both are there. */
  readonly ratio?: number;
}

export type Measure = 'call' | 'all';

/** One call: the medians of the operator's instructions, each as often as it was called. */
function took(sides: readonly ComparedSide[], measure: Measure): number | undefined {
  const calls = sides.reduce((sum, { count }) => sum + count, 0);
  if (calls === 0) return undefined;
  if (measure === 'all') return sides.reduce((sum, { total_ms }) => sum + total_ms * 1e3, 0);
  return sides.reduce((sum, { count, median_us }) => sum + count * median_us, 0) / calls;
}

/** The longest first. Runs of functions are no operators. */
export function pairs(rows: readonly Compared[], measure: Measure): readonly Pair[] {
  const groups = new Map<string, Compared[]>();
  for (const row of rows) {
    if (row.instruction === undefined) continue;
    groups.set(row.operator, [...(groups.get(row.operator) ?? []), row]);
  }
  const all = [...groups].map(([operator, group]): Pair => {
    const before = took(group.map((row) => row.before), measure);
    const after = took(group.map((row) => row.after), measure);
    return {
      operator,
      ...(before === undefined ? {} : { before }),
      ...(after === undefined ? {} : { after }),
      ...(before !== undefined && after !== undefined && before > 0 ? { ratio: after / before } : {}),
    };
  });
  const longest = ({ before = 0, after = 0 }: Pair): number => Math.max(before, after);
  return all.sort((a, b) => longest(b) - longest(a));
}
