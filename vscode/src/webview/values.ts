// The page of the values panel: what slice is looked at, and how.
import type { Tensor } from '../debug/model/wire.ts';
import type { FromPage, Mode, ToPage } from '../values/model/messages.ts';
import { figure } from '../values/model/numbers.ts';
import { firstView, fitted, MOST, pictureSize, sliceText, TABLE_COLUMNS, TABLE_ROWS, type View } from '../values/model/slice.ts';
import { h } from './values/dom.ts';
import { histogram } from './values/histogram.ts';
import { picture } from './values/picture.ts';
import { table, type Window } from './values/table.ts';

declare function acquireVsCodeApi(): { postMessage(message: FromPage): void; getState(): unknown; setState(state: unknown): void };

const MODES: readonly Mode[] = ['table', 'histogram', 'picture'];
const NAMES: Readonly<Record<Mode, string>> = { table: 'Table', histogram: 'Histogram', picture: 'Picture' };

const code = acquireVsCodeApi();
const root = document.getElementById('values') ?? document.body;
let mode: Mode = MODES.find((each) => each === (code.getState() as { mode?: unknown } | undefined)?.mode) ?? 'table';
let view: View | undefined;
let shown: Extract<ToPage, { type: 'tensor' }> | undefined;
let note = '';

const size = (axis: number) => (axis < 0 ? 1 : (shown?.shape[axis] ?? 1));

/** Rows and columns that the mode asks for. */
function extent(at: View, shape: readonly number[]): readonly [number, number] {
  if (mode === 'table') return [TABLE_ROWS, TABLE_COLUMNS];
  return mode === 'picture' ? pictureSize(at, shape) : [size(at.rows), size(at.columns)];
}

function ask(): void {
  if (shown === undefined || view === undefined) return;
  const [height, width] = extent(view, shown.shape);
  code.postMessage({ type: 'ask', slice: mode === 'histogram' ? '' : sliceText(view, shown.shape, height, width), max: mode === 'histogram' ? 1 : MOST });
}

function change(next: Partial<View>): void {
  if (view === undefined || shown === undefined) return;
  view = fitted({ ...view, ...next }, shown.shape);
  ask();
}

function choose(next: Mode): void {
  mode = next;
  code.setState({ mode });
  if (view !== undefined) change({ top: 0, left: 0 });
}

window.addEventListener('message', ({ data }: MessageEvent<ToPage>) => {
  if (data.type !== 'tensor') {
    note = data.text;
    draw();
    return;
  }
  note = '';
  shown = data;
  view = view === undefined ? firstView(data.shape) : fitted(view, data.shape);
  if (data.slice === '' && data.shape.length > 0 && mode !== 'histogram') ask(); // the shape is new: only it is known
  else draw();
});

function draw(): void {
  if (shown === undefined || view === undefined) {
    root.replaceChildren(h('p', { className: 'note', textContent: note }));
    return;
  }
  const { tensor } = shown;
  root.replaceChildren(
    h('header', {}, h('h1', {}, h('code', { textContent: shown.title }), ' ', h('span', { className: 'weak', textContent: `${tensor.dtype} [${shown.shape.join(', ')}]` })), h('button', { textContent: 'Save as .npy', onclick: () => code.postMessage({ type: 'save' }) })),
    ...(note === '' ? [] : [h('p', { className: 'note', textContent: note })]),
    figures(tensor),
    h('nav', { role: 'tablist' }, ...MODES.map(tab)),
    ...(mode === 'histogram' ? [] : [axes(view)]),
    content(tensor, view),
  );
}

const tab = (each: Mode) => h('button', { role: 'tab', ariaSelected: String(each === mode), className: each === mode ? 'chosen' : '', textContent: NAMES[each], onclick: () => choose(each) });

function figures({ statistics: s }: Tensor): HTMLElement {
  const one = (name: string, value: string, bad = false) => h('div', { className: bad ? 'bad' : '' }, h('dt', { textContent: name }), h('dd', { textContent: value }));
  return h(
    'dl',
    { className: 'figures' },
    one('min', figure(s.min)),
    one('mean', figure(s.mean)),
    one('max', figure(s.max)),
    one('zeros', String(s.zeros)),
    one('NaN', String(s.nan), s.nan > 0),
    one('Inf', String(s.inf), s.inf > 0),
  );
}

/** Which axes are rows and columns, and where the others stand. */
function axes(at: View): HTMLElement {
  const shape = shown?.shape ?? [];
  const swap = (which: 'rows' | 'columns', axis: number) => {
    const other = which === 'rows' ? 'columns' : 'rows';
    change({ [which]: axis, [other]: at[other] === axis ? at[which] : at[other], top: 0, left: 0 });
  };
  const select = (which: 'rows' | 'columns') =>
    h(
      'label',
      {},
      `${which} `,
      h('select', { onchange: (event) => swap(which, Number((event.target as HTMLSelectElement).value)) }, ...shape.map((extent, axis) => h('option', { value: String(axis), selected: at[which] === axis, textContent: `axis ${axis} (${extent})` }))),
    );
  const index = (axis: number) => {
    const move = (event: Event) => change({ index: at.index.map((value, each) => (each === axis ? Number((event.target as HTMLInputElement).value) : value)) });
    const most = String(Math.max(0, size(axis) - 1));
    return h('label', {}, `axis ${axis} `, h('input', { type: 'range', min: '0', max: most, value: String(at.index[axis] ?? 0), onchange: move }), h('input', { type: 'number', min: '0', max: most, value: String(at.index[axis] ?? 0), onchange: move }), h('span', { className: 'weak', textContent: ` of ${size(axis)}` }));
  };
  const rest = shape.map((_, axis) => axis).filter((axis) => axis !== at.rows && axis !== at.columns);
  return h('div', { className: 'axes' }, ...(shape.length >= 2 ? [select('rows'), select('columns')] : []), ...rest.map(index), ...(mode === 'table' ? [pager('rows', 'top', TABLE_ROWS), pager('columns', 'left', TABLE_COLUMNS)] : []));
}

function pager(name: 'rows' | 'columns', from: 'top' | 'left', step: number): HTMLElement | undefined {
  if (view === undefined) return undefined;
  const at = view[from];
  const all = size(view[name]);
  if (all <= step) return undefined;
  const go = (to: number, text: string, label: string) => h('button', { className: 'small', textContent: text, ariaLabel: label, disabled: to < 0 || to >= all, onclick: () => change({ [from]: to }) });
  return h('span', { className: 'pager' }, go(at === 0 ? -1 : Math.max(0, at - step), '‹', `${name} before`), ` ${name} ${at}–${Math.min(all, at + step) - 1} of ${all} `, go(at + step, '›', `${name} after`));
}

function content(tensor: Tensor, at: View): HTMLElement {
  if (mode === 'histogram') return histogram(tensor);
  const [height, width] = extent(at, shown?.shape ?? []);
  const window: Window = { top: at.top, left: at.left, rows: at.rows < 0 ? 1 : Math.min(height, size(at.rows) - at.top), columns: at.columns < 0 ? 1 : Math.min(width, size(at.columns) - at.left) };
  if (tensor.total === 0) return h('p', { className: 'weak', textContent: 'It has no elements.' });
  return mode === 'table' ? table(tensor.values, window) : picture(tensor.values, window);
}

code.postMessage({ type: 'ready' });
