// What the panel and its page say to each other.
import type { Tensor } from '../../debug/model/wire.ts';

export type Mode = 'table' | 'histogram' | 'picture';

export type ToPage =
  | {
      readonly type: 'tensor';
      readonly title: string;
      /** Of the whole tensor. */
      readonly shape: readonly number[];
      readonly slice: string;
      readonly tensor: Tensor;
    }
  | { readonly type: 'error'; readonly text: string }
  /** The program has gone on, or is over: what is shown is of before. */
  | { readonly type: 'stale'; readonly text: string };

export type FromPage =
  | { readonly type: 'ready' }
  | { readonly type: 'ask'; readonly slice: string; readonly max: number }
  | { readonly type: 'save' };

export function isFromPage(raw: unknown): raw is FromPage {
  const { type, slice, max } = (raw ?? {}) as Record<string, unknown>;
  return type === 'ready' || type === 'save' || (type === 'ask' && typeof slice === 'string' && typeof max === 'number');
}
