// Which points of a history are new since it was looked at last.
import type { Point } from '../../../../web/src/api/schema.ts';

export class Freshness {
  #newest = '';

  /** Points are by their time, which is ISO 8601 in UTC: texts compare like moments. */
  take(points: readonly Point[]): readonly Point[] {
    const fresh = points.filter((p) => p.time > this.#newest);
    this.#newest = points.at(-1)?.time ?? this.#newest;
    return fresh;
  }
}
