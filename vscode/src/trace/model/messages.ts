// What the timeline and the extension tell each other.

export interface ComparedSide {
  readonly count: number;
  readonly median_us: number;
  readonly total_ms: number;
  readonly mode: string;
  readonly name: string;
}

export interface Compared {
  readonly program: string;
  readonly function: string;
  /** Absent: the runs of the function. */
  readonly instruction?: number;
  readonly operator: string;
  readonly place: string;
  readonly before: ComparedSide;
  readonly after: ComparedSide;
  readonly ratio?: number;
}

export type ToTimeline =
  | { readonly kind: 'log'; readonly name: string; readonly bytes: Uint8Array }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'compared'; readonly before: string; readonly after: string; readonly rows: readonly Compared[] };

export type FromTimeline =
  | { readonly kind: 'ready' }
  | { readonly kind: 'source'; readonly place: string }
  | { readonly kind: 'bytecode'; readonly program: string; readonly function: string; readonly instruction: number }
  | { readonly kind: 'compare' }
  | { readonly kind: 'shown'; readonly events: number; readonly ms: number };
