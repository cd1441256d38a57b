// The canvas: ruler, tracks, overview. Where several events fall into one pixel, the pixel shows how much of it each tier takes.
import { describe, type Timeline } from '../../trace/model/timeline.ts';
import { firstAt, firstOf, firstReaching, lasting, shares, type Row, type Track } from '../../trace/model/tracks.ts';
import { mark, ticks, time, type Window } from '../../trace/model/view.ts';
import type { Palette } from './palette.ts';

export const RULER = 26;
export const OVERVIEW = 34;
const TITLE = 20;
const GAP = 8;
const HEIGHTS = { runs: 22, regions: 18, instructions: 24, compilations: 20, moments: 14 } as const;

export interface PlacedRow {
  readonly row: Row;
  readonly track: Track;
  readonly y: number;
  readonly height: number;
}

export interface Layout {
  readonly rows: readonly PlacedRow[];
  readonly titles: readonly { readonly label: string; readonly y: number; readonly height: number }[];
  readonly height: number;
}

export function layout(tracks: readonly Track[]): Layout {
  const rows: PlacedRow[] = [];
  const titles: Layout['titles'][number][] = [];
  let y = RULER + GAP;
  for (const track of tracks) {
    const top = y;
    y += TITLE;
    for (const row of track.rows) {
      const height = HEIGHTS[row.kind];
      rows.push({ row, track, y, height });
      y += height + 2;
    }
    titles.push({ label: track.label, y: top, height: y - top });
    y += GAP;
  }
  return { rows, titles, height: y };
}

export interface Scene {
  readonly timeline: Timeline;
  readonly layout: Layout;
  readonly window: Window;
  readonly selected: number | undefined;
  readonly hovered: number | undefined;
  readonly found: ReadonlyMap<Row, readonly number[]>;
  readonly outliers: ReadonlyMap<Row, readonly number[]>;
  rowOf(event: number): Row | undefined;
  /** From the top of the tracks. */
  readonly scroll: number;
}

const LABELLED = 34;

export class Painter {
  readonly #context: CanvasRenderingContext2D;
  readonly #palette: Palette;
  readonly #width: number;
  readonly #height: number;

  constructor(context: CanvasRenderingContext2D, palette: Palette, width: number, height: number) {
    this.#context = context;
    this.#palette = palette;
    this.#width = width;
    this.#height = height;
  }

  paint(scene: Scene): void {
    const c = this.#context;
    const p = this.#palette;
    c.fillStyle = p.back;
    c.fillRect(0, 0, this.#width, this.#height);
    const marks = ticks(scene.window, this.#width);
    c.save();
    c.beginPath();
    c.rect(0, RULER, this.#width, this.#height - RULER);
    c.clip();
    c.translate(0, -scene.scroll);
    for (const [k, title] of scene.layout.titles.entries()) {
      if (k % 2 === 0) {
        c.fillStyle = p.band;
        c.fillRect(0, title.y - GAP / 2, this.#width, title.height + GAP);
      }
    }
    c.fillStyle = p.line;
    for (const t of marks) c.fillRect(Math.round(this.#x(scene, t)), scene.scroll, 1, this.#height);
    c.font = `11px ${p.font}`;
    c.textBaseline = 'middle';
    for (const title of scene.layout.titles) {
      c.fillStyle = p.muted;
      c.fillText(title.label, 8, title.y + TITLE / 2);
    }
    for (const placed of scene.layout.rows) {
      if (placed.y - scene.scroll > this.#height || placed.y + placed.height < scene.scroll) continue;
      this.#row(scene, placed);
    }
    c.restore();
    this.#ruler(scene, marks);
  }

  #x(scene: Scene, t: number): number {
    return ((t - scene.window.from) / (scene.window.to - scene.window.from)) * this.#width;
  }

  #ruler(scene: Scene, marks: readonly number[]): void {
    const c = this.#context;
    const p = this.#palette;
    c.fillStyle = p.back;
    c.fillRect(0, 0, this.#width, RULER);
    c.fillStyle = p.line;
    c.fillRect(0, RULER - 1, this.#width, 1);
    c.font = `11px ${p.font}`;
    c.textBaseline = 'middle';
    c.fillStyle = p.muted;
    for (const t of marks) {
      const x = this.#x(scene, t);
      c.fillText(mark(t, (marks[1] ?? t + 1) - (marks[0] ?? t)), x + 4, RULER / 2);
      c.fillRect(Math.round(x), RULER - 6, 1, 5);
    }
  }

  #row(scene: Scene, placed: PlacedRow): void {
    const { timeline, window } = scene;
    const { row } = placed;
    const first = firstReaching(timeline, row, window.from);
    const last = firstAt(timeline, row, window.to);
    if (row.kind === 'moments') this.#moments(scene, placed, first, last);
    else if (last - first > this.#width * 2) this.#dense(scene, placed);
    else for (let k = first; k < last; k++) this.#event(scene, placed, row.events[k] ?? 0);
    this.#highlights(scene, placed);
  }

  #fill(row: Row, timeline: Timeline, e: number): string {
    const p = this.#palette;
    if (row.kind === 'compilations') return p.plain;
    if (timeline.header.kinds[timeline.kind[e] ?? 0] === 'between') return p.line;
    return p.tiers[timeline.tier[e] ?? 0] ?? p.plain;
  }

  #event(scene: Scene, { row, y, height }: PlacedRow, e: number): void {
    const { timeline } = scene;
    const c = this.#context;
    const begin = timeline.begin[e] ?? 0;
    const left = this.#x(scene, begin);
    const right = this.#x(scene, begin + (timeline.duration[e] ?? 0));
    if (right < 0) return;
    const x = Math.max(left, -1);
    const width = Math.max(1, Math.min(right, this.#width + 1) - x - (right - left > 3 ? 1 : 0));
    c.fillStyle = this.#fill(row, timeline, e);
    c.fillRect(x, y, width, height);
    if (width < LABELLED) return;
    const between = timeline.header.kinds[timeline.kind[e] ?? 0] === 'between';
    c.fillStyle = between ? this.#palette.muted : row.kind === 'compilations' ? this.#palette.back : (this.#palette.tierText[timeline.tier[e] ?? 0] ?? this.#palette.text);
    c.save();
    c.beginPath();
    c.rect(x, y, width - 2, height);
    c.clip();
    const { title } = describe(timeline, e);
    c.fillText(width > 150 ? `${title}  ${time(timeline.duration[e] ?? 0)}` : title, x + 5, y + height / 2 + 0.5);
    c.restore();
  }

  /** Each pixel is filled from below by the shares of the tiers in its time. */
  #dense(scene: Scene, { row, y, height }: PlacedRow): void {
    const c = this.#context;
    const { window, timeline } = scene;
    const perPixel = (window.to - window.from) / this.#width;
    for (let x = 0; x < this.#width; x++) {
      const from = window.from + x * perPixel;
      const { first, last, tiers } = shares(timeline, row, from, from + perPixel);
      if (first === last) continue;
      let bottom = y + height;
      for (const [tier, share] of tiers.entries()) {
        if (share <= 0) continue;
        const part = Math.max(1, share * height);
        c.fillStyle = row.kind === 'compilations' ? this.#palette.plain : (this.#palette.tiers[tier] ?? this.#palette.plain);
        c.fillRect(x, Math.max(y, bottom - part), 1, Math.min(part, bottom - y));
        bottom -= part;
        if (bottom <= y) break;
      }
    }
    // What lasts longer than a pixel fills those behind it, too.
    for (const e of lasting(timeline, row, window.from, window.to, perPixel * 2)) {
      c.fillStyle = this.#fill(row, timeline, e);
      c.fillRect(this.#x(scene, timeline.begin[e] ?? 0), y, (timeline.duration[e] ?? 0) / perPixel, height);
    }
  }

  #moments(scene: Scene, { row, y, height }: PlacedRow, first: number, last: number): void {
    const c = this.#context;
    let before = -10;
    for (let k = first; k < last; k++) {
      const e = row.events[k] ?? 0;
      const x = this.#x(scene, scene.timeline.begin[e] ?? 0);
      if (x - before < 1) continue;
      before = x;
      const slow = scene.timeline.header.kinds[scene.timeline.kind[e] ?? 0] === 'slow_path';
      c.fillStyle = slow ? this.#palette.outlier : this.#palette.focus;
      c.beginPath();
      c.moveTo(x, y + 1);
      c.lineTo(x + 4, y + height / 2);
      c.lineTo(x, y + height - 1);
      c.lineTo(x - 4, y + height / 2);
      c.fill();
    }
  }

  #highlights(scene: Scene, placed: PlacedRow): void {
    const c = this.#context;
    const { row, y, height } = placed;
    const { timeline } = scene;
    const box = (e: number): readonly [number, number] => {
      const x = this.#x(scene, timeline.begin[e] ?? 0);
      return [x, Math.max(2, this.#x(scene, (timeline.begin[e] ?? 0) + (timeline.duration[e] ?? 0)) - x)];
    };
    for (const e of scene.outliers.get(row) ?? []) {
      const [x] = box(e);
      c.fillStyle = this.#palette.outlier;
      c.beginPath();
      c.moveTo(x - 4, y - 1);
      c.lineTo(x + 4, y - 1);
      c.lineTo(x, y + 6);
      c.fill();
    }
    // One mark a pixel: of many that were found in it the first.
    const found = scene.found.get(row) ?? [];
    const perPixel = (scene.window.to - scene.window.from) / this.#width;
    c.fillStyle = this.#palette.found;
    for (let k = firstOf(timeline, found, scene.window.from - row.longest); k < found.length;) {
      const e = found[k] ?? 0;
      const [x, width] = box(e);
      if (x > this.#width) break;
      c.fillRect(x, y + height - 3, width, 3);
      k = firstOf(timeline, found, (timeline.begin[e] ?? 0) + perPixel, k + 1);
    }
    for (const e of [scene.hovered, scene.selected]) {
      if (e === undefined || scene.rowOf(e) !== row) continue;
      const [x, width] = box(e);
      c.strokeStyle = e === scene.selected ? this.#palette.focus : this.#palette.text;
      c.lineWidth = e === scene.selected ? 2 : 1;
      if (row.kind === 'moments') c.strokeRect(x - 5, y, 10, height);
      else c.strokeRect(x + 0.5, y + 0.5, Math.max(2, width - 1), height - 1);
    }
  }
}

/** The whole log in a strip: how much of each moment the tiers take. */
export function paintStrip(c: CanvasRenderingContext2D, palette: Palette, width: number, scene: Scene, all: Window): void {
  c.fillStyle = palette.band;
  c.fillRect(0, 0, width, OVERVIEW);
  const rows = scene.layout.rows.filter((placed) => placed.row.kind === 'runs');
  const perPixel = (all.to - all.from) / width;
  const height = OVERVIEW - 6;
  const few = rows.every(({ row }) => row.events.length <= width);
  const bar = (k: number, e: number): void => {
    c.fillStyle = palette.tiers[scene.timeline.tier[e] ?? 0] ?? palette.plain;
    c.fillRect(((scene.timeline.begin[e] ?? 0) - all.from) / perPixel, 3 + (k * height) / rows.length, Math.max(1, (scene.timeline.duration[e] ?? 0) / perPixel), height / rows.length);
  };
  for (const [k, { row }] of rows.entries()) for (const e of few ? row.events : lasting(scene.timeline, row, all.from, all.to, perPixel * 2)) bar(k, e);
  for (let x = 0; !few && x < width; x++) {
    let bottom = OVERVIEW - 3;
    for (const { row } of rows) {
      const from = all.from + x * perPixel;
      const { first, last, tiers } = shares(scene.timeline, row, from, from + perPixel);
      if (first === last) continue;
      for (const [tier, share] of tiers.entries()) {
        if (share <= 0) continue;
        const part = Math.max(1, (share * height) / rows.length);
        c.fillStyle = palette.tiers[tier] ?? palette.plain;
        c.fillRect(x, bottom - part, 1, part);
        bottom -= part;
      }
    }
  }
}

/** What the window shows of the strip. */
export function paintBrush(c: CanvasRenderingContext2D, palette: Palette, width: number, scene: Scene, all: Window): void {
  const at = (t: number): number => ((t - all.from) / (all.to - all.from)) * width;
  const left = at(scene.window.from);
  const right = Math.max(at(scene.window.to), left + 3);
  c.fillStyle = palette.back;
  c.globalAlpha = 0.65;
  c.fillRect(0, 0, left, OVERVIEW);
  c.fillRect(right, 0, width - right, OVERVIEW);
  c.globalAlpha = 1;
  c.strokeStyle = palette.focus;
  c.lineWidth = 1;
  c.strokeRect(left + 0.5, 0.5, right - left - 1, OVERVIEW - 1);
}
