// The feed of a page that the program itself serves: JSON by requests, live data by server-sent events.
import { readBytecode, readDisassembly, readHistory, readPoint, readState, type Bytecode, type Disassembly } from '../api/schema.ts';
import { backoff } from './backoff.ts';
import { FeedError, type Action, type Connection, type EntryAddress, type Feed, type FeedEvent } from './feed.ts';

/** What of the browser it uses. */
export interface HttpHost {
  fetch(url: string, init?: RequestInit): Promise<Response>;
  events(url: string): EventSource;
  now(): number;
  random(): number;
}

/** States come every second: after so long without one the connection is dead, whatever the socket says. */
const SILENCE_MS = 6000;

export class HttpFeed implements Feed {
  readonly #base: string;
  readonly #host: HttpHost;
  #listener: ((event: FeedEvent) => void) | null = null;
  #source: EventSource | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;

  /** @param base address that the API stands under, with a slash at its end. */
  constructor(base: string, host: HttpHost) {
    this.#base = base;
    this.#host = host;
  }

  subscribe(listener: (event: FeedEvent) => void): () => void {
    this.#listener = listener;
    this.#connect();
    return () => {
      this.#listener = null;
      this.#close();
    };
  }

  retry(): void {
    if (this.#listener && !this.#source) this.#connect();
  }

  async disassembly(a: EntryAddress): Promise<Disassembly> {
    const query = new URLSearchParams({ program: String(a.program), function: String(a.function), region: String(a.region), entry: a.entry });
    return readDisassembly(await this.#json(`api/v1/disassembly?${query.toString()}`));
  }

  async bytecode(program: number): Promise<Bytecode> {
    return readBytecode(await this.#json(`api/v1/bytecode?program=${program}`));
  }

  async act(action: Action, body: unknown): Promise<void> {
    await this.#json(`api/v1/actions/${action}`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
  }

  async #json(path: string, init: RequestInit = {}): Promise<unknown> {
    const response = await this.#host.fetch(this.#base + path, { credentials: 'same-origin', cache: 'no-store', ...init });
    const text = await response.text();
    if (!response.ok) throw new FeedError(errorText(text) || `${response.status} ${response.statusText}`);
    return text === '' ? {} : (JSON.parse(text) as unknown);
  }

  #say(connection: Connection): void {
    this.#listener?.({ kind: 'connection', connection });
  }

  #close(): void {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = null;
  }

  #connect(): void {
    this.#close();
    this.#say({ status: 'connecting' });
    const source = this.#host.events(`${this.#base}api/v1/live`);
    this.#source = source;
    const alive = () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#lost('silent'), SILENCE_MS);
    };
    alive();
    source.addEventListener('open', () => void this.#history());
    source.addEventListener('state', (event: MessageEvent<string>) => {
      const raw = parse(event.data);
      if (raw === undefined) return;
      alive();
      if (this.#failures > 0 || !this.#live) this.#say({ status: 'live' });
      this.#failures = 0;
      this.#live = true;
      this.#listener?.({ kind: 'state', state: readState(raw) });
    });
    source.addEventListener('history', (event: MessageEvent<string>) => {
      const raw = parse(event.data);
      if (raw !== undefined) this.#listener?.({ kind: 'point', point: readPoint(raw) });
    });
    source.addEventListener('error', () => void this.#failed(source));
  }

  #live = false;

  async #history(): Promise<void> {
    try {
      const history = readHistory(await this.#json('api/v1/history'));
      this.#listener?.({ kind: 'history', history });
    } catch {
      // Charts then begin with what comes live.
    }
  }

  /** An EventSource doesn't say why it failed; one plain request does. */
  async #failed(source: EventSource): Promise<void> {
    source.close();
    if (this.#source !== source) return;
    let why: 'unreachable' | 'refused' = 'unreachable';
    try {
      const response = await this.#host.fetch(`${this.#base}api/v1/state`, { credentials: 'same-origin', cache: 'no-store' });
      if (response.status === 401 || response.status === 403) why = 'refused';
    } catch {
      // unreachable
    }
    if (this.#source === source) this.#lost(why);
  }

  #lost(why: 'unreachable' | 'refused' | 'silent'): void {
    this.#close();
    this.#live = false;
    this.#failures += 1;
    const wait = backoff(this.#failures, this.#host.random());
    this.#say({ status: 'lost', why, retry_at: this.#host.now() + wait });
    this.#timer = setTimeout(() => this.retry(), wait);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** The sentence in an answer such as {"error": "…"} or {"error": {"message": "…"}}. */
export function errorText(body: string): string {
  const raw = parse(body);
  if (typeof raw !== 'object' || raw === null) return '';
  const { error, message, mend } = raw as { error?: unknown; message?: unknown; mend?: unknown };
  const inner = typeof error === 'object' && error !== null ? (error as { message?: unknown }).message : error;
  return [inner, message, mend].filter((part): part is string => typeof part === 'string').join('; ');
}
