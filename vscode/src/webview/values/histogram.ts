import type { Tensor } from '../../debug/model/wire.ts';
import { element } from '../../values/model/numbers.ts';
import { h, svg } from './dom.ts';

const WIDTH = 720;
const HEIGHT = 280;
const FOOT = 24;

export function histogram({ statistics }: Tensor): HTMLElement {
  const { edges, counts } = statistics.histogram;
  const most = Math.max(...counts, 1);
  const width = WIDTH / Math.max(counts.length, 1);
  const edge = (at: number) => element(edges[at] ?? 0);
  const bars = counts.map((count, at) => {
    const height = count === 0 ? 0 : Math.max(1, (count / most) * HEIGHT);
    const title = svg('title', {}, `${edge(at)} to ${edge(at + 1)}: ${count}`);
    return svg('g', {}, svg('rect', { class: 'hit', x: at * width, y: 0, width, height: HEIGHT }), svg('rect', { class: 'bar', x: at * width + 0.5, y: HEIGHT - height, width: Math.max(width - 1, 0.5), height }), title);
  });
  const label = (x: number, anchor: string, text: string) => svg('text', { x, y: HEIGHT + 17, 'text-anchor': anchor }, text);
  const labels =
    edges.length < 2 ? [] : [label(0, 'start', edge(0)), label(WIDTH / 2, 'middle', element(((edges[0] ?? 0) + (edges.at(-1) ?? 0)) / 2)), label(WIDTH, 'end', edge(edges.length - 1))];
  const drawing = svg('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT + FOOT}`, role: 'img', 'aria-label': `Histogram of ${counts.length} bins, at most ${most} values in one` });
  drawing.append(...bars, svg('line', { class: 'axis', x1: 0, y1: HEIGHT, x2: WIDTH, y2: HEIGHT }), ...labels);
  return h('div', { className: 'histogram' }, drawing, h('p', { className: 'weak', textContent: counts.length === 0 ? 'No finite values.' : `The tallest bar stands for ${most} values.` }));
}
