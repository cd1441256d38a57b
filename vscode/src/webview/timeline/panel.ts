// Below the tracks: the event that is selected, outliers with their causes, instructions, the comparison with another log.
import type { Compared, FromTimeline } from '../../trace/model/messages.ts';
import { describe, type Timeline } from '../../trace/model/timeline.ts';
import { time } from '../../trace/model/view.ts';
import { h } from './dom.ts';
import { paired, ratioOf } from './paired.ts';

const TABS = ['selection', 'outliers', 'instructions', 'comparison'] as const;
export type Tab = (typeof TABS)[number];
const TITLES: Readonly<Record<Tab, string>> = { selection: 'Selection', outliers: 'Outliers', instructions: 'Instructions', comparison: 'Comparison' };
/** Rows that are shown at once: a table of a large program stays quick. */
const MOST = 400;

export interface PanelHost {
  select(event: number): void;
  say(message: FromTimeline): void;
}

type Cell = string | { readonly text: string; readonly sort: number | string; readonly class?: string };
interface Column {
  readonly title: string;
  readonly number?: boolean;
}

export class Panel {
  readonly element = h('section', { class: 'panel', 'aria-label': 'Details' });
  readonly #t: Timeline;
  readonly #host: PanelHost;
  readonly #body = h('div', { class: 'body', role: 'tabpanel', tabindex: 0 });
  readonly #tabs = new Map<Tab, HTMLButtonElement>();
  readonly #first = new Map<string, number>();
  #tab: Tab = 'selection';
  #selected: number | undefined;
  #comparison: { readonly before: string; readonly after: string; readonly rows: readonly Compared[] } | undefined;

  constructor(t: Timeline, host: PanelHost) {
    this.#t = t;
    this.#host = host;
    const bar = h('div', { role: 'tablist', class: 'tabs' });
    for (const tab of TABS) {
      const count = tab === 'outliers' && t.header.outliers.length > 0 ? ` ${t.header.outliers.length}` : '';
      const button = h('button', { type: 'button', role: 'tab', onclick: () => this.show(tab) }, TITLES[tab], h('span', { class: 'badge' }, count));
      button.addEventListener('keydown', (event) => {
        const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
        const next = TABS[(TABS.indexOf(tab) + by + TABS.length) % TABS.length];
        if (by === 0 || !next) return;
        this.show(next);
        this.#tabs.get(next)?.focus();
      });
      this.#tabs.set(tab, button);
      bar.append(button);
    }
    this.element.append(bar, this.#body);
    this.show(t.header.outliers.length > 0 ? 'outliers' : 'instructions');
  }

  show(tab: Tab): void {
    this.#tab = tab;
    for (const [each, button] of this.#tabs) {
      button.setAttribute('aria-selected', String(each === tab));
      button.tabIndex = each === tab ? 0 : -1;
    }
    const body = { selection: () => this.#selection(), outliers: () => this.#outliers(), instructions: () => this.#instructions(), comparison: () => this.#compared() }[tab]();
    this.#body.replaceChildren(body);
    this.#body.scrollTop = 0;
  }

  select(e: number | undefined): void {
    this.#selected = e;
    const listed = this.#tab === 'outliers' && this.#t.header.outliers.some((o) => o.event === e);
    if (e !== undefined && !listed) this.show('selection');
    else if (this.#tab === 'selection') this.show('selection');
    else this.#mark();
  }

  /** Opens what is selected: the bytecode, or the source line where there is no instruction. */
  open(): void {
    if (this.#selected === undefined) return;
    const d = describe(this.#t, this.#selected);
    if (d.program !== '') this.#host.say({ kind: 'bytecode', program: d.program, function: d.function, instruction: Math.max(0, d.instruction) });
    else if (d.place !== '') this.#host.say({ kind: 'source', place: d.place });
  }

  compared(before: string, after: string, rows: readonly Compared[]): void {
    this.#comparison = { before, after, rows };
    this.show('comparison');
  }

  #links(program: string, fn: string, instruction: number, place: string): HTMLElement {
    const link = (text: string, title: string, message: FromTimeline): HTMLElement =>
      h(
        'button',
        {
          type: 'button',
          class: 'link',
          title,
          onclick: (event: Event) => {
            event.stopPropagation();
            this.#host.say(message);
          },
        },
        text,
      );
    return h(
      'span',
      { class: 'links' },
      program !== '' && link(instruction >= 0 ? `instruction ${instruction}` : 'bytecode', 'Open the bytecode', { kind: 'bytecode', program, function: fn, instruction: Math.max(0, instruction) }),
      place !== '' && link(place, 'Open the source line', { kind: 'source', place }),
    );
  }

  #selection(): HTMLElement {
    const e = this.#selected;
    if (e === undefined) return h('p', { class: 'empty' }, 'Click an event, or search. ', h('kbd', {}, '.'), ' and ', h('kbd', {}, ','), ' go from event to event, ', h('kbd', {}, 'o'), ' to the next outlier.');
    const t = this.#t;
    const d = describe(t, e);
    const duration = t.duration[e] ?? 0;
    const gflop = t.gflop[e] ?? 0;
    const bytes = t.bytes[e] ?? 0;
    const outlier = t.header.outliers.find((o) => o.event === e);
    const facts: [string, string | HTMLElement][] = [
      ['took', time(duration)],
      ['began', time(t.begin[e] ?? 0)],
      ['mode', d.mode],
      [d.kind === 'call' ? 'kernel' : 'name', d.kind === 'jit' || d.kind === 'slow_path' ? '' : d.name],
      [d.kind === 'region' ? 'sizes' : 'shapes', d.detail],
      ['moved', bytes > 0 ? `${(bytes / 1024).toLocaleString('en', { maximumFractionDigits: 1 })} KiB, ${duration > 0 ? (bytes / duration / 1000).toFixed(2) : '–'} GB/s` : ''],
      ['speed', gflop > 0 && duration > 0 ? `${((gflop * 1e6) / duration).toFixed(1)} GFLOP/s` : ''],
      ['where', this.#links(d.program, d.function, d.instruction, d.place)],
    ];
    return h(
      'div',
      { class: 'selection' },
      h('h2', {}, h('span', { class: `mode ${modeClass(t, d.mode)}` }, d.kind.replace('_', ' ')), d.title),
      outlier !== undefined && h('p', { class: 'cause' }, h('b', {}, `${(duration / Math.max(outlier.usual_us, 1e-9)).toFixed(1)} × `), `the usual ${time(outlier.usual_us)}: ${outlier.cause}`),
      h('dl', {}, ...facts.filter(([, value]) => value !== '').flatMap(([key, value]) => [h('dt', {}, key), h('dd', {}, value)])),
    );
  }

  #outliers(): HTMLElement {
    const t = this.#t;
    if (t.header.outliers.length === 0) return h('p', { class: 'empty' }, 'Nothing took more than three times as long as its like.');
    const list = h('div', { class: 'outliers', role: 'list' });
    for (const o of t.header.outliers.slice(0, MOST)) {
      const d = describe(t, o.event);
      const took = t.duration[o.event] ?? 0;
      const row = h(
        'div',
        { role: 'listitem', class: 'outlier', tabindex: 0, 'data-event': o.event },
        h('span', { class: 'factor' }, `${(took / Math.max(o.usual_us, 1e-9)).toFixed(1)} ×`),
        h('div', {}, h('div', {}, h('b', {}, d.title), ` ${time(took)} instead of ${time(o.usual_us)}, at ${time(t.begin[o.event] ?? 0)} `, this.#links(d.program, d.function, d.instruction, d.place)), h('div', { class: 'why' }, o.cause)),
      );
      row.addEventListener('click', () => this.#host.select(o.event));
      row.addEventListener('keydown', (event) => {
        if (event.key === 'Enter') this.#host.select(o.event);
        if (event.key === 'ArrowDown') (row.nextElementSibling as HTMLElement | null)?.focus();
        if (event.key === 'ArrowUp') (row.previousElementSibling as HTMLElement | null)?.focus();
      });
      list.append(row);
    }
    queueMicrotask(() => this.#mark());
    return list;
  }

  #mark(): void {
    for (const row of this.#body.querySelectorAll('[data-event]')) row.classList.toggle('chosen', Number(row.getAttribute('data-event')) === this.#selected);
  }

  /** The first event of an instruction, by program, function and number. */
  #eventOf(program: string, fn: number, instruction: number): number | undefined {
    const t = this.#t;
    if (this.#first.size === 0) {
      const kinds = new Set(['call', 'native', 'copy'].map((k) => t.header.kinds.indexOf(k)));
      for (let e = 0; e < t.count; e++) {
        if (!kinds.has(t.kind[e] ?? 0)) continue;
        const key = `${t.header.programs[(t.program[e] ?? 0) - 1]?.name ?? ''}\n${t.function[e] ?? 0}\n${t.instruction[e] ?? -1}`;
        if (!this.#first.has(key)) this.#first.set(key, e);
      }
    }
    return this.#first.get(`${program}\n${fn}\n${instruction}`);
  }

  #instructions(): HTMLElement {
    const t = this.#t;
    const columns: Column[] = [{ title: 'share', number: true }, { title: 'time', number: true }, { title: 'calls', number: true }, { title: 'each', number: true }, { title: 'operator' }, { title: 'mode' }, { title: 'GFLOP/s', number: true }, { title: 'GB/s', number: true }, { title: 'kernel or entry' }, { title: 'where' }];
    const all = t.header.summary.programs.flatMap((p) => p.instructions.map((i) => ({ ...i, program: p.name })));
    const sum = all.reduce((total, i) => total + i.ms, 0);
    const rows = all.map((i) => {
      const fn = t.header.programs.find((p) => p.name === i.program)?.functions[i.function]?.name ?? '';
      const cells: (Cell | HTMLElement)[] = [
        { text: `${((100 * i.ms) / Math.max(sum, 1e-12)).toFixed(1)} %`, sort: i.ms, class: 'share' },
        { text: time(i.ms * 1e3), sort: i.ms },
        { text: i.count.toLocaleString('en'), sort: i.count },
        { text: time((i.ms * 1e3) / Math.max(1, i.count)), sort: i.ms / Math.max(1, i.count) },
        i.operator,
        { text: i.mode, sort: i.mode, class: modeClass(t, i.mode) },
        { text: i.gflops > 0 ? i.gflops.toFixed(1) : '', sort: i.gflops },
        { text: i.gbytes_per_s > 0 ? i.gbytes_per_s.toFixed(1) : '', sort: i.gbytes_per_s },
        i.name,
        this.#links(i.program, fn, i.instruction, i.place),
      ];
      return { cells, share: i.ms / Math.max(sum, 1e-12), act: () => this.#eventOf(i.program, i.function, i.instruction) };
    });
    return this.#table(columns, rows);
  }

  #compared(): HTMLElement {
    const c = this.#comparison;
    if (!c) return h('p', { class: 'empty' }, 'No other log was chosen. ', h('button', { type: 'button', class: 'link', onclick: () => this.#host.say({ kind: 'compare' }) }, 'Compare with another log…'));
    const columns: Column[] = [{ title: 'ratio', number: true }, { title: 'before', number: true }, { title: 'after', number: true }, { title: 'change in all', number: true }, { title: 'what' }, { title: 'mode' }, { title: 'kernel or entry' }, { title: 'where' }];
    const rows = c.rows.map((r) => {
      const ratio = r.ratio ?? 0;
      const same = (a: string, b: string): string => (a === b || r.before.count === 0 || r.after.count === 0 ? (r.after.count > 0 ? b : a) : `${a} → ${b}`);
      const change = r.after.total_ms - r.before.total_ms;
      const cells: (Cell | HTMLElement)[] = [
        { ...ratioOf(r.ratio, r.before.count > 0), sort: ratio },
        { text: r.before.count > 0 ? time(r.before.median_us) : '–', sort: r.before.median_us },
        { text: r.after.count > 0 ? time(r.after.median_us) : '–', sort: r.after.median_us },
        { text: `${change > 0 ? '+' : ''}${time(change * 1e3)}`, sort: change },
        r.instruction === undefined ? `runs of ${r.program} @${r.function}` : r.operator,
        same(r.before.mode, r.after.mode),
        same(r.before.name, r.after.name),
        this.#links(r.program, r.function, r.instruction ?? -1, r.place),
      ];
      return { cells, ratio };
    });
    return h('div', {}, h('p', { class: 'lead' }, `Medians of `, h('b', {}, c.before), ' (before) and ', h('b', {}, c.after), ' (after), what changed most first. Above 1: slower after.'), paired(c.rows), this.#table(columns, rows));
  }

  #table(columns: readonly Column[], rows: readonly { readonly cells: readonly (Cell | HTMLElement)[]; readonly share?: number; readonly ratio?: number; readonly act?: () => number | undefined }[]): HTMLElement {
    const body = h('tbody');
    let shown = MOST;
    let order = [...rows];
    const fill = (): void => {
      body.replaceChildren(
        ...order.slice(0, shown).map((row) => {
          const line = h(
            'tr',
            row.act ? { tabindex: 0 } : {},
            ...row.cells.map((cell, k) => {
              const number = columns[k]?.number === true ? 'number' : '';
              if (cell instanceof HTMLElement) return h('td', {}, cell);
              if (typeof cell === 'string') return h('td', { class: number, title: cell }, cell);
              const td = h('td', { class: `${number} ${cell.class ?? ''}` }, cell.text);
              if (cell.class === 'share' && row.share !== undefined) td.style.setProperty('--share', `${(row.share * 100).toFixed(2)}%`);
              return td;
            }),
          );
          const { act } = row;
          if (act) {
            const go = (): void => {
              const e = act();
              if (e !== undefined) this.#host.select(e);
            };
            line.addEventListener('click', go);
            line.addEventListener('keydown', (event) => {
              if (event.key === 'Enter') go();
            });
          }
          return line;
        }),
      );
      more.hidden = order.length <= shown;
      more.textContent = `${(order.length - shown).toLocaleString('en')} more…`;
    };
    const more = h('button', {
      type: 'button',
      class: 'link more',
      onclick: () => {
        shown += MOST;
        fill();
      },
    });
    const heads = columns.map((column, k) => {
      const th = h('th', { scope: 'col', class: column.number === true ? 'number' : '' });
      const button = h(
        'button',
        {
          type: 'button',
          onclick: () => {
            const down = th.getAttribute('aria-sort') !== 'descending';
            for (const each of heads) each.removeAttribute('aria-sort');
            th.setAttribute('aria-sort', down ? 'descending' : 'ascending');
            const value = (row: (typeof rows)[number]): number | string => {
              const cell = row.cells[k];
              return cell === undefined || cell instanceof HTMLElement ? (cell?.textContent ?? '') : typeof cell === 'string' ? cell : cell.sort;
            };
            order = [...rows].sort((a, b) => {
              const [x, y] = [value(a), value(b)];
              const by = typeof x === 'number' && typeof y === 'number' ? x - y : String(x).localeCompare(String(y));
              return down ? -by : by;
            });
            fill();
          },
        },
        column.title,
      );
      th.append(button);
      return th;
    });
    fill();
    return h('div', {}, h('table', {}, h('thead', {}, h('tr', {}, ...heads)), body), more);
  }
}

function modeClass(t: Timeline, mode: string): string {
  const tier = t.header.modes.indexOf(mode);
  return tier < 0 ? '' : `text${tier}`;
}
