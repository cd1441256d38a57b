// What a page inside an editor and the editor's side of it tell each other.
import type { Action, EntryAddress, FeedEvent } from './feed.ts';

export type Question =
  | { readonly what: 'disassembly'; readonly address: EntryAddress }
  | { readonly what: 'bytecode'; readonly program: number }
  | { readonly what: 'act'; readonly action: Action; readonly body: unknown }
  | { readonly what: 'confirm'; readonly question: string }
  | { readonly what: 'pick_text'; readonly accept: string };

export type FromPage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'subscribe' }
  | { readonly kind: 'retry' }
  | { readonly kind: 'ask'; readonly id: number; readonly question: Question }
  | { readonly kind: 'download'; readonly name: string; readonly text: string }
  | { readonly kind: 'copy'; readonly text: string }
  | { readonly kind: 'write'; readonly key: string; readonly value: string }
  | { readonly kind: 'open'; readonly place: string };

export type ToPage =
  /** The first message: the page is drawn when it comes. */
  | { readonly kind: 'begin'; readonly settings: Readonly<Record<string, string>>; readonly languages: readonly string[] }
  | { readonly kind: 'event'; readonly event: FeedEvent }
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'refusal'; readonly id: number; readonly message: string };

/** The page's end of the line. */
export interface Port {
  post(message: FromPage): void;
  /** @returns ends it. */
  listen(heard: (message: ToPage) => void): () => void;
}
