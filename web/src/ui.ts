// What every view is given: the language, the feed, the host.
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Feed } from './feed/feed.ts';
import type { Host } from './host.ts';
import type { Language, Translate } from './text/strings.ts';

export interface Ui {
  readonly t: Translate;
  readonly language: Language;
  readonly feed: Feed;
  readonly host: Host;
  /** Changes of it redraw what isn't text, such as charts. */
  readonly theme: string;
}

export const UiContext = createContext<Ui | null>(null);

export function useUi(): Ui {
  const ui = useContext(UiContext);
  if (!ui) throw new Error('a view stands outside of the page');
  return ui;
}
