// The timeline of a log: what it shows, and what a person does with it.
import type { FromTimeline, ToTimeline } from '../trace/model/messages.ts';
import { search } from '../trace/model/search.ts';
import { describe, readTimeline, type Timeline } from '../trace/model/timeline.ts';
import { byRow, eventAt, firstOf, rowNumbers, rowsOf, tracksOf, type Row } from '../trace/model/tracks.ts';
import { around, clamped, panned, time, whole, zoomed, type Window } from '../trace/model/view.ts';
import { h } from './timeline/dom.ts';
import { layout, OVERVIEW, paintBrush, Painter, paintStrip, RULER, type Layout, type PlacedRow, type Scene } from './timeline/draw.ts';
import { palette, type Palette } from './timeline/palette.ts';
import { Panel } from './timeline/panel.ts';
import './timeline/timeline.css';

declare function acquireVsCodeApi(): { postMessage(message: FromTimeline): void; getState(): unknown; setState(state: unknown): void };
const editor = acquireVsCodeApi();
const say = (message: FromTimeline): void => editor.postMessage(message);

class App {
  readonly #t: Timeline;
  readonly #rows: readonly Row[];
  readonly #numbers: Uint16Array;
  readonly #layout: Layout;
  readonly #all: Window;
  readonly #outliers: readonly number[];
  readonly #outlierRows: ReadonlyMap<Row, readonly number[]>;
  #window: Window;
  #selected: number | undefined;
  #hovered: number | undefined;
  #found = new Uint32Array();
  #foundRows: ReadonlyMap<Row, readonly number[]> = new Map();
  #strip: { readonly key: string; readonly canvas: HTMLCanvasElement } | undefined;
  #scroll = 0;
  #pending = false;

  readonly #canvas = h('canvas', { class: 'tracks', tabindex: 0, role: 'application', 'aria-label': 'Timeline. Arrow keys move, plus and minus zoom, 0 shows all, comma and period go from event to event, O to the next outlier, Enter opens the bytecode.' });
  readonly #overview = h('canvas', { class: 'overview', 'aria-hidden': true });
  readonly #tip = h('div', { class: 'tip', hidden: true });
  readonly #status = h('span', { class: 'count', 'aria-live': 'polite' });
  readonly #live = h('div', { class: 'hidden', 'aria-live': 'polite' });
  readonly #query: HTMLInputElement;
  readonly #panel: Panel;

  constructor(name: string, t: Timeline) {
    this.#t = t;
    const tracks = tracksOf(t);
    this.#rows = rowsOf(tracks);
    this.#numbers = rowNumbers(t, this.#rows);
    this.#layout = layout(tracks);
    this.#all = whole(t.begin, t.duration);
    this.#window = this.#all;
    this.#outliers = t.header.outliers.map((o) => o.event);
    this.#outlierRows = byRow(this.#outliers, this.#rows, this.#numbers);
    this.#query = h('input', { type: 'search', placeholder: 'Search operators, kernels, lines, shapes', 'aria-label': 'Search', spellcheck: 'false' });
    this.#panel = new Panel(t, { select: (e) => this.select(e, true), say });
    document.body.replaceChildren(this.#page(name));
    this.#listen();
    this.#resize();
  }

  compared(before: string, after: string, rows: Extract<ToTimeline, { kind: 'compared' }>['rows']): void {
    this.#panel.compared(before, after, rows);
  }

  #page(name: string): HTMLElement {
    const { header } = this.#t;
    const button = (label: string, title: string, act: () => void): HTMLElement => h('button', { type: 'button', title, 'aria-label': title, onclick: act }, label);
    const chip = (label: string, value: string, kind = ''): HTMLElement => h('span', { class: `chip ${kind}` }, h('b', {}, value), ` ${label}`);
    const runs = header.summary.programs.reduce((sum, p) => sum + p.runs, 0);
    const regions = header.summary.programs.reduce((sum, p) => sum + p.region_runs, 0);
    const native = header.summary.programs.reduce((sum, p) => sum + p.native_region_runs, 0);
    const [most] = header.summary.programs;
    const legend = header.modes.map((mode, tier) => h('span', { class: 'key' }, h('i', { class: `tier${tier}` }), mode));
    const notes = [...header.damage.map((d) => `damaged: ${d}`), ...(header.dropped > 0 ? [`${header.dropped.toLocaleString('en')} events were dropped while it was written`] : [])];
    return h(
      'main',
      {},
      h(
        'header',
        {},
        h('h1', { title: header.began }, name),
        chip('', time(header.seconds * 1e6)),
        chip('events', header.events.toLocaleString('en')),
        chip('runs', runs.toLocaleString('en')),
        regions > 0 && chip('native', `${((100 * native) / regions).toFixed(1)} %`),
        most && chip('p50', time(most.p50_ms * 1e3)),
        most && chip('p99', time(most.p99_ms * 1e3)),
        this.#outliers.length > 0 && h('button', { type: 'button', class: 'chip bad', title: 'What took much longer than usual', onclick: () => this.#panel.show('outliers') }, h('b', {}, String(this.#outliers.length)), ' outliers'),
        h('span', { class: 'legend' }, ...legend),
      ),
      h(
        'div',
        { class: 'tools' },
        this.#query,
        button('‹', 'Previous result (Shift+Enter)', () => this.#step(-1)),
        button('›', 'Next result (Enter)', () => this.#step(1)),
        this.#status,
        h('span', { class: 'spring' }),
        button('−', 'Zoom out (-)', () => this.#zoom(1.6)),
        button('+', 'Zoom in (+)', () => this.#zoom(1 / 1.6)),
        button('Fit', 'Show all (0)', () => this.#set(this.#all)),
        button('Compare…', 'Compare with another log', () => say({ kind: 'compare' })),
      ),
      notes.length > 0 && h('div', { class: 'note', role: 'status' }, notes.join('; ')),
      h('div', { class: 'stage' }, this.#overview, this.#canvas, this.#tip),
      this.#panel.element,
      this.#live,
    );
  }

  #listen(): void {
    const canvas = this.#canvas;
    new ResizeObserver(() => this.#resize()).observe(canvas);
    new MutationObserver(() => this.#draw()).observe(document.body, { attributes: true, attributeFilter: ['class', 'data-vscode-theme-id'] });
    canvas.addEventListener('wheel', (event) => this.#wheel(event), { passive: false });
    canvas.addEventListener('pointermove', (event) => this.#hover(event));
    canvas.addEventListener('pointerleave', () => this.#leave());
    canvas.addEventListener('pointerdown', (event) => this.#drag(event));
    canvas.addEventListener('dblclick', (event) => {
      const e = this.#eventAt(event.offsetX, event.offsetY);
      if (e !== undefined) this.#set(around(this.#t.begin[e] ?? 0, this.#t.duration[e] ?? 0, this.#all));
    });
    canvas.addEventListener('keydown', (event) => this.#key(event));
    this.#overview.addEventListener('pointerdown', (event) => this.#brush(event));
    let waiting: ReturnType<typeof setTimeout> | undefined;
    this.#query.addEventListener('input', () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => this.#search(), 120);
    });
    this.#query.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') this.#step(event.shiftKey ? -1 : 1);
      if (event.key === 'Escape') canvas.focus();
    });
    document.addEventListener('keydown', (event) => {
      if ((event.ctrlKey || event.metaKey) && event.key === 'f') {
        event.preventDefault();
        this.#query.focus();
        this.#query.select();
      }
    });
  }

  // What is seen.

  #resize(): void {
    for (const canvas of [this.#canvas, this.#overview]) {
      const scale = window.devicePixelRatio || 1;
      const { clientWidth, clientHeight } = canvas;
      canvas.width = Math.max(1, Math.round(clientWidth * scale));
      canvas.height = Math.max(1, Math.round(clientHeight * scale));
      canvas.getContext('2d')?.setTransform(scale, 0, 0, scale, 0, 0);
    }
    this.#draw();
  }

  #scene(): Scene {
    return { timeline: this.#t, layout: this.#layout, window: this.#window, selected: this.#selected, hovered: this.#hovered, found: this.#foundRows, outliers: this.#outlierRows, rowOf: (e) => this.#rows[this.#numbers[e] ?? 0], scroll: this.#scroll };
  }

  #draw(): void {
    if (this.#pending) return;
    this.#pending = true;
    requestAnimationFrame(() => {
      this.#pending = false;
      const scene = this.#scene();
      const colours = palette(document.body);
      const tracks = this.#canvas.getContext('2d');
      const overview = this.#overview.getContext('2d');
      if (tracks) new Painter(tracks, colours, this.#canvas.clientWidth, this.#canvas.clientHeight).paint(scene);
      if (overview) this.#drawOverview(overview, colours, scene);
    });
  }

  /** The strip changes with size and theme only, the brush with each frame. */
  #drawOverview(c: CanvasRenderingContext2D, colours: Palette, scene: Scene): void {
    const { clientWidth: width, width: pixels, height } = this.#overview;
    const key = `${pixels} ${height} ${document.body.className} ${colours.back}`;
    if (this.#strip?.key !== key) {
      const canvas = h('canvas', { width: pixels, height });
      const strip = canvas.getContext('2d');
      strip?.scale(pixels / Math.max(1, width), pixels / Math.max(1, width));
      if (strip) paintStrip(strip, colours, width, scene, this.#all);
      this.#strip = { key, canvas };
    }
    c.drawImage(this.#strip.canvas, 0, 0, width, (height * width) / Math.max(1, pixels));
    paintBrush(c, colours, width, scene, this.#all);
  }

  #set(w: Window): void {
    this.#window = clamped(w, this.#all);
    this.#draw();
  }

  #timeAt(x: number): number {
    return this.#window.from + (x / Math.max(1, this.#canvas.clientWidth)) * (this.#window.to - this.#window.from);
  }

  #rowAt(y: number): PlacedRow | undefined {
    if (y < RULER) return undefined;
    return this.#layout.rows.find((r) => y + this.#scroll >= r.y - 1 && y + this.#scroll <= r.y + r.height + 1);
  }

  #eventAt(x: number, y: number): number | undefined {
    const placed = this.#rowAt(y);
    const slack = ((placed?.row.kind === 'moments' ? 6 : 3) * (this.#window.to - this.#window.from)) / Math.max(1, this.#canvas.clientWidth);
    return placed && eventAt(this.#t, placed.row, this.#timeAt(x), slack);
  }

  // What a person does.

  #zoom(factor: number, at = (this.#window.from + this.#window.to) / 2): void {
    this.#set(zoomed(this.#window, factor, at, this.#all));
  }

  #scrollBy(by: number): void {
    const most = Math.max(0, this.#layout.height - this.#canvas.clientHeight + 8);
    this.#scroll = Math.min(Math.max(0, this.#scroll + by), most);
    this.#draw();
  }

  #wheel(event: WheelEvent): void {
    event.preventDefault();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    const perPixel = (this.#window.to - this.#window.from) / Math.max(1, this.#canvas.clientWidth);
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.#set(panned(this.#window, (event.deltaX || event.deltaY) * lines * perPixel, this.#all));
    else if (event.altKey) this.#scrollBy(event.deltaY * lines);
    else this.#zoom(Math.exp(event.deltaY * lines * 0.0016), this.#timeAt(event.offsetX));
  }

  #hover(event: PointerEvent): void {
    if (event.buttons !== 0) return;
    const e = this.#eventAt(event.offsetX, event.offsetY);
    if (e !== this.#hovered) {
      this.#hovered = e;
      this.#draw();
    }
    this.#tip.hidden = e === undefined;
    if (e === undefined) return;
    const d = describe(this.#t, e);
    this.#tip.replaceChildren(
      h('b', {}, d.title),
      ` ${time(this.#t.duration[e] ?? 0)}`,
      ...[d.mode, d.place, d.kind === 'call' ? d.name : '', d.kind === 'slow_path' || d.kind === 'jit' ? '' : d.detail].filter((x) => x !== '').map((x) => h('div', {}, x)),
    );
    const right = event.offsetX > this.#canvas.clientWidth - 330;
    this.#tip.style.left = right ? 'auto' : `${event.offsetX + 14}px`;
    this.#tip.style.right = right ? `${this.#canvas.clientWidth - event.offsetX + 14}px` : 'auto';
    this.#tip.style.top = `${event.offsetY + OVERVIEW + 16}px`;
  }

  #leave(): void {
    this.#hovered = undefined;
    this.#tip.hidden = true;
    this.#draw();
  }

  #drag(event: PointerEvent): void {
    if (event.button !== 0) return;
    this.#canvas.focus();
    this.#canvas.setPointerCapture(event.pointerId);
    this.#tip.hidden = true;
    const start = { x: event.clientX, y: event.clientY, window: this.#window, scroll: this.#scroll };
    let moved = false;
    const move = (now: PointerEvent): void => {
      const dx = now.clientX - start.x;
      const dy = now.clientY - start.y;
      if (Math.abs(dx) + Math.abs(dy) > 3) moved = true;
      if (!moved) return;
      this.#window = panned(start.window, (-dx / Math.max(1, this.#canvas.clientWidth)) * (start.window.to - start.window.from), this.#all);
      this.#scroll = start.scroll;
      this.#scrollBy(-dy);
    };
    const up = (now: PointerEvent): void => {
      this.#canvas.removeEventListener('pointermove', move);
      this.#canvas.removeEventListener('pointerup', up);
      this.#canvas.removeEventListener('pointercancel', up);
      if (!moved) this.select(this.#eventAt(now.offsetX, now.offsetY), false);
    };
    this.#canvas.addEventListener('pointermove', move);
    this.#canvas.addEventListener('pointerup', up);
    this.#canvas.addEventListener('pointercancel', up);
  }

  /** The overview: a click centres the window there, a drag moves it. */
  #brush(event: PointerEvent): void {
    this.#overview.setPointerCapture(event.pointerId);
    const go = (now: PointerEvent): void => {
      const at = this.#all.from + (now.offsetX / Math.max(1, this.#overview.clientWidth)) * (this.#all.to - this.#all.from);
      const half = (this.#window.to - this.#window.from) / 2;
      this.#set({ from: at - half, to: at + half });
    };
    const up = (): void => {
      this.#overview.removeEventListener('pointermove', go);
      this.#overview.removeEventListener('pointerup', up);
    };
    go(event);
    this.#overview.addEventListener('pointermove', go);
    this.#overview.addEventListener('pointerup', up);
  }

  #key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey) return;
    const width = this.#window.to - this.#window.from;
    const keys: Readonly<Record<string, () => void>> = {
      ArrowLeft: () => this.#set(panned(this.#window, -width * 0.15, this.#all)),
      ArrowRight: () => this.#set(panned(this.#window, width * 0.15, this.#all)),
      ArrowUp: () => this.#scrollBy(-40),
      ArrowDown: () => this.#scrollBy(40),
      '+': () => this.#zoom(1 / 1.6),
      '=': () => this.#zoom(1 / 1.6),
      '-': () => this.#zoom(1.6),
      '0': () => this.#set(this.#all),
      Home: () => this.#set(panned(this.#window, this.#all.from - this.#window.from, this.#all)),
      End: () => this.#set(panned(this.#window, this.#all.to - this.#window.to, this.#all)),
      '.': () => this.#neighbour(1),
      ',': () => this.#neighbour(-1),
      o: () => this.#outlier(),
      n: () => this.#step(1),
      N: () => this.#step(-1),
      Enter: () => this.#panel.open(),
      Escape: () => this.select(undefined, false),
    };
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  #rowOf(e: number): PlacedRow | undefined {
    const row = this.#rows[this.#numbers[e] ?? 0];
    return this.#layout.rows.find((placed) => placed.row === row);
  }

  /** The next event of the same row. */
  #neighbour(by: number): void {
    const from = this.#selected ?? this.#layout.rows[0]?.row.events[0];
    if (from === undefined) return;
    const events = this.#rowOf(from)?.row.events;
    let at = events ? firstOf(this.#t, events, this.#t.begin[from] ?? 0) : 0;
    while (events && at < events.length && events[at] !== from) at += 1;
    const next = this.#selected === undefined ? from : events?.[at + by];
    if (next !== undefined) this.select(next, true);
  }

  #outlier(): void {
    const at = this.#selected === undefined ? -1 : this.#outliers.indexOf(this.#selected);
    const next = this.#outliers[(at + 1) % Math.max(1, this.#outliers.length)];
    if (next !== undefined) this.select(next, true);
  }

  #search(): void {
    this.#found = Uint32Array.from(search(this.#t, this.#query.value));
    this.#foundRows = byRow(this.#found, this.#rows, this.#numbers);
    this.#status.textContent = this.#query.value.trim() === '' ? '' : `${this.#found.length.toLocaleString('en')} found`;
    this.#draw();
  }

  #step(by: number): void {
    if (this.#found.length === 0) return;
    const at = this.#selected === undefined ? -1 : this.#found.indexOf(this.#selected); // within a typed array: a scan of memory
    const next = at < 0 ? (by > 0 ? 0 : this.#found.length - 1) : (at + by + this.#found.length) % this.#found.length;
    this.#status.textContent = `${(next + 1).toLocaleString('en')} of ${this.#found.length.toLocaleString('en')}`;
    this.select(this.#found[next], true);
  }

  /** @param show moves the window, so that the event is seen. */
  select(e: number | undefined, show: boolean): void {
    this.#selected = e;
    this.#panel.select(e);
    if (e !== undefined) {
      const d = describe(this.#t, e);
      this.#live.textContent = `${d.kind} ${d.title}, ${time(this.#t.duration[e] ?? 0)} ${d.mode} ${d.place}`;
      if (show) this.#reveal(e);
    }
    this.#draw();
  }

  #reveal(e: number): void {
    const begin = this.#t.begin[e] ?? 0;
    const duration = this.#t.duration[e] ?? 0;
    const width = this.#window.to - this.#window.from;
    if (duration < width / 400 || duration > width) this.#set(around(begin, duration, this.#all));
    else if (begin < this.#window.from || begin + duration > this.#window.to) this.#set({ from: begin + duration / 2 - width / 2, to: begin + duration / 2 + width / 2 });
    const placed = this.#rowOf(e);
    if (!placed) return;
    if (placed.y - this.#scroll < RULER) this.#scrollBy(placed.y - this.#scroll - RULER - 24);
    else if (placed.y + placed.height - this.#scroll > this.#canvas.clientHeight) this.#scrollBy(placed.y + placed.height - this.#scroll - this.#canvas.clientHeight + 8);
  }
}

let app: App | undefined;
window.addEventListener('message', (event: MessageEvent<ToTimeline>) => {
  const message = event.data;
  switch (message.kind) {
    case 'log': {
      const start = performance.now();
      try {
        const timeline = readTimeline(message.bytes);
        if (timeline.count === 0) throw new Error('The log is whole, but holds no events: nothing ran while it was written.');
        app = new App(message.name, timeline);
        requestAnimationFrame(() => requestAnimationFrame(() => say({ kind: 'shown', events: timeline.count, ms: performance.now() - start })));
      } catch (error) {
        failed(error instanceof Error ? error.message : String(error));
      }
      break;
    }
    case 'compared':
      app?.compared(message.before, message.after, message.rows);
      break;
    case 'failed':
      failed(message.message);
      break;
  }
});

function failed(message: string): void {
  document.body.replaceChildren(h('main', {}, h('div', { class: 'failed', role: 'alert' }, h('h1', {}, 'This log can’t be shown'), h('p', {}, message))));
}

say({ kind: 'ready' });
