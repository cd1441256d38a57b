// What a page asks of its host, a browser or an editor, beside data.

export interface Host {
  /** Saves a text as a file. */
  download(name: string, text: string): void;
  copy(text: string): void;
  confirm(question: string): Promise<boolean>;
  /** Lets the reader choose a file; null: none chosen, or not readable. */
  pickText(accept: string): Promise<string | null>;
  /** Settings that outlive the page, where the host keeps some. */
  read(key: string): string | null;
  write(key: string, value: string): void;
  /** Which of the two the host's colours are; absent where the page chooses. */
  scheme?(): 'light' | 'dark';
  /** Calls when the host's colours have changed. @returns ends it. */
  onColours(changed: () => void): () => void;
  /** Whether anybody can see the page; a hidden one isn't drawn. */
  visible(): boolean;
  onVisible(changed: () => void): () => void;
  readonly languages: readonly string[];
}
