// Where a page's data comes from. A browser's page has it over HTTP, a view inside an editor over messages, a test from a recording.
import type { Bytecode, Disassembly, History, Point, State } from '../api/schema.ts';

/** Which entry of which region. */
export interface EntryAddress {
  readonly program: number;
  readonly function: number;
  readonly region: number;
  readonly entry: string;
}

export type Connection =
  | { readonly status: 'connecting' }
  | { readonly status: 'live' }
  | { readonly status: 'lost'; readonly why: 'unreachable' | 'refused' | 'silent'; readonly retry_at: number };

export type FeedEvent =
  | { readonly kind: 'connection'; readonly connection: Connection }
  | { readonly kind: 'state'; readonly state: State }
  | { readonly kind: 'history'; readonly history: History }
  | { readonly kind: 'point'; readonly point: Point };

export type Action = 'clear_cache' | 'trace' | 'load_capability_patch';

/** An answer that was no: `message` is the program's own. */
export class FeedError extends Error {}

export interface Feed {
  /** Events come until the returned function is called. A lost connection is taken up again by itself. */
  subscribe(listener: (event: FeedEvent) => void): () => void;
  /** Tries a lost connection at once. */
  retry(): void;
  disassembly(address: EntryAddress): Promise<Disassembly>;
  bytecode(program: number): Promise<Bytecode>;
  act(action: Action, body: unknown): Promise<void>;
  /** Shows a place, "model.py:47", in an editor; absent where there is none. */
  readonly open?: (place: string) => void;
}
