// What a page knows: the newest state, the one shown, the history. One listener draws it.
import type { Point, State } from '../api/schema.ts';
import type { Connection, FeedEvent } from '../feed/feed.ts';
import { hitsOf } from './rows.ts';
import { share } from './share.ts';

/** Seconds of history that are kept. */
export const HISTORY_POINTS = 900;

export interface Shown {
  readonly connection: Connection;
  readonly state: State | null;
  /** Hits in the state before, by entry. */
  readonly before: ReadonlyMap<string, number>;
  readonly points: readonly Point[];
  readonly paused: boolean;
  /** States that came during the pause. */
  readonly waiting: number;
}

export class Session {
  #shown: Shown = { connection: { status: 'connecting' }, state: null, before: new Map(), points: [], paused: false, waiting: 0 };
  #newest: State | null = null;
  #points: readonly Point[] = [];
  readonly #draw: (shown: Shown) => void;

  /** @param draw is called after every change of what is shown. */
  constructor(draw: (shown: Shown) => void) {
    this.#draw = draw;
  }

  get shown(): Shown {
    return this.#shown;
  }

  take(event: FeedEvent): void {
    switch (event.kind) {
      case 'connection':
        this.#change({ connection: event.connection });
        break;
      case 'state':
        this.#newest = event.state;
        if (this.#shown.paused) this.#change({ waiting: this.#shown.waiting + 1 });
        else this.#advance();
        break;
      case 'history':
        this.#takePoints(event.history.points.slice(-HISTORY_POINTS));
        break;
      case 'point':
        this.#takePoints(withPoint(this.#points, event.point));
        break;
    }
  }

  #takePoints(points: readonly Point[]): void {
    this.#points = points;
    if (!this.#shown.paused) this.#change({ points });
  }

  pause(on: boolean): void {
    if (on === this.#shown.paused) return;
    this.#change({ paused: on, waiting: 0 });
    if (!on) this.#advance();
  }

  #advance(): void {
    const { state } = this.#shown;
    if (!this.#newest) return;
    this.#change({ state: share(state, this.#newest), before: state ? hitsOf(state) : new Map<string, number>(), points: this.#points });
  }

  #change(change: Partial<Shown>): void {
    this.#shown = { ...this.#shown, ...change };
    this.#draw(this.#shown);
  }
}

/** Points are in order of time; one that is there already comes again after a reconnection. */
export function withPoint(points: readonly Point[], point: Point): readonly Point[] {
  const last = points.at(-1);
  if (last && last.time >= point.time) return points;
  return [...points.slice(-(HISTORY_POINTS - 1)), point];
}
