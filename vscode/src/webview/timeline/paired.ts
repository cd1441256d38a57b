// The picture of a comparison: two bars for each operator, before and after, and their ratio.
import type { Compared } from '../../trace/model/messages.ts';
import { pairs, type Measure, type Pair } from '../../trace/model/paired.ts';
import { time } from '../../trace/model/view.ts';
import { h } from './dom.ts';

/** Operators that are drawn; the table has all. */
const MOST = 12;
const MEASURES: Readonly<Record<Measure, string>> = { call: 'One call', all: 'All calls' };

/** How a ratio is written, and the class of its colour: a tenth is noise. */
export function ratioOf(ratio: number | undefined, inBefore: boolean): { readonly text: string; readonly class: string } {
  if (ratio === undefined) return { text: inBefore ? 'only before' : 'only after', class: '' };
  return { text: `${ratio.toFixed(2)} ×`, class: ratio > 1.1 ? 'slower' : ratio < 0.9 ? 'faster' : '' };
}

function bar(side: 'before' | 'after', value: number | undefined, longest: number): HTMLElement {
  const fill = h('i', { class: side });
  fill.style.width = `${((100 * (value ?? 0)) / Math.max(longest, 1e-12)).toFixed(2)}%`;
  return h('div', { class: 'bar' }, h('span', { class: 'lane' }, fill), h('span', { class: 'took' }, value === undefined ? '–' : time(value)));
}

function row(pair: Pair, longest: number): HTMLElement {
  const ratio = ratioOf(pair.ratio, pair.before !== undefined);
  const said = (value: number | undefined): string => (value === undefined ? 'nothing' : time(value));
  return h(
    'div',
    { class: 'pair', role: 'img', 'aria-label': `${pair.operator}: before ${said(pair.before)}, after ${said(pair.after)}, ${ratio.text}` },
    h('span', { class: 'operator', title: pair.operator }, pair.operator),
    h('div', { class: 'bars' }, bar('before', pair.before, longest), bar('after', pair.after, longest)),
    h('span', { class: `ratio ${ratio.class}` }, ratio.text),
  );
}

export function paired(rows: readonly Compared[]): HTMLElement {
  const body = h('div', { class: 'pairs' });
  const buttons = new Map<Measure, HTMLButtonElement>();
  const show = (measure: Measure): void => {
    for (const [each, button] of buttons) button.setAttribute('aria-pressed', String(each === measure));
    const all = pairs(rows, measure);
    const longest = Math.max(0, ...all.map(({ before = 0, after = 0 }) => Math.max(before, after)));
    const rest = all.length - MOST;
    body.replaceChildren(...all.slice(0, MOST).map((pair) => row(pair, longest)), ...(rest > 0 ? [h('p', { class: 'rest' }, `${rest} more operators, each of which takes less.`)] : []));
  };
  const key = (side: 'before' | 'after'): HTMLElement => h('span', { class: 'key' }, h('i', { class: side }), side);
  const head = h('div', { class: 'measures', role: 'group', 'aria-label': 'What the bars show' });
  for (const measure of ['call', 'all'] as const) {
    const button = h('button', { type: 'button', onclick: () => show(measure) }, MEASURES[measure]);
    buttons.set(measure, button);
    head.append(button);
  }
  head.append(key('before'), key('after'));
  show('call');
  return h('section', { class: 'paired', 'aria-label': 'Operators before and after' }, head, body);
}
