import { element, isInfinite, isNan, range, type Element } from '../../values/model/numbers.ts';
import { h } from './dom.ts';

export interface Window {
  readonly top: number;
  readonly left: number;
  readonly rows: number;
  readonly columns: number;
}

/** Values with their indices; a bar under each shows where it lies between smallest and largest. */
export function table(values: readonly Element[], { top, left, rows, columns }: Window): HTMLElement {
  const among = range(values);
  const head = h('tr', {}, h('th'), ...Array.from({ length: columns }, (_, column) => h('th', { scope: 'col', textContent: String(left + column) })));
  const body = Array.from({ length: rows }, (_, row) =>
    h('tr', {}, h('th', { scope: 'row', textContent: String(top + row) }), ...Array.from({ length: columns }, (_, column) => cell(values[row * columns + column], among))),
  );
  return h('div', { className: 'scroll', tabIndex: 0 }, h('table', {}, h('thead', {}, head), h('tbody', {}, ...body)));
}

function cell(value: Element | undefined, among: readonly [number, number] | null): HTMLElement {
  if (value === undefined) return h('td');
  const made = h('td', { textContent: element(value) });
  if (isNan(value)) made.className = 'nan';
  else if (isInfinite(value)) made.className = 'infinite';
  else if (value === 0) made.className = 'zero';
  else if (typeof value === 'number' && among !== null && among[1] > among[0]) made.style.setProperty('--share', `${(100 * (value - among[0])) / (among[1] - among[0])}%`);
  return made;
}
