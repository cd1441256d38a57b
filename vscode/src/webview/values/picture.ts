import { colour, element, isNan, range, type Element } from '../../values/model/numbers.ts';
import { h } from './dom.ts';
import type { Window } from './table.ts';

const NAN = [255, 0, 170] as const;
const INFINITE = [255, 90, 0] as const;
const LARGEST_PIXEL = 24;

/** One pixel an element, dark to bright; NaN and infinities in colours of their own. */
export function picture(values: readonly Element[], { top, left, rows, columns }: Window): HTMLElement {
  const canvas = h('canvas', { width: columns, height: rows });
  const among = range(values);
  const context = canvas.getContext('2d');
  if (context !== null && rows > 0 && columns > 0) {
    const image = context.createImageData(columns, rows);
    values.forEach((value, at) => image.data.set([...pixel(value, among), 255], at * 4));
    context.putImageData(image, 0, 0);
  }
  const room = Math.min((innerWidth - 40) / Math.max(columns, 1), (innerHeight * 0.6) / Math.max(rows, 1));
  const scale = Math.max(1, Math.min(LARGEST_PIXEL, Math.floor(room)));
  canvas.style.width = `${columns * scale}px`;
  canvas.style.height = `${rows * scale}px`;

  const under = h('p', { className: 'weak', textContent: `${rows} × ${columns}; point at it for values` });
  canvas.onmousemove = (event) => {
    const column = Math.floor((event.offsetX / canvas.clientWidth) * columns);
    const row = Math.floor((event.offsetY / canvas.clientHeight) * rows);
    const value = values[row * columns + column];
    if (value !== undefined) under.textContent = `[${top + row}, ${left + column}] = ${element(value)}`;
  };
  const legend = h('div', { className: 'legend' }, h('span', { textContent: among === null ? '–' : element(among[0]) }), scaleBar(), h('span', { textContent: among === null ? '–' : element(among[1]) }), ...marks(values));
  return h('div', { className: 'picture' }, h('div', { className: 'frame' }, canvas), legend, under);
}

function pixel(value: Element, among: readonly [number, number] | null): readonly [number, number, number] {
  if (typeof value === 'string') return isNan(value) ? NAN : INFINITE;
  if (among === null || among[0] === among[1]) return colour(0.5);
  return colour((value - among[0]) / (among[1] - among[0]));
}

function scaleBar(): HTMLElement {
  const canvas = h('canvas', { width: 128, height: 1, className: 'scale' });
  const context = canvas.getContext('2d');
  if (context !== null) {
    const image = context.createImageData(128, 1);
    for (let at = 0; at < 128; at++) image.data.set([...colour(at / 127), 255], at * 4);
    context.putImageData(image, 0, 0);
  }
  return canvas;
}

function marks(values: readonly Element[]): readonly HTMLElement[] {
  const has = (which: (value: Element) => boolean) => values.some((value) => typeof value === 'string' && which(value));
  return [...(has(isNan) ? [h('span', { className: 'mark nan-mark', textContent: 'NaN' })] : []), ...(has((value) => !isNan(value)) ? [h('span', { className: 'mark infinite-mark', textContent: '±∞' })] : [])];
}
