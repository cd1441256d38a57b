// The page's feed from a debug session: what the program's monitor would say comes as answers of the adapter.
import type * as vscode from 'vscode';
import { readBytecode, readDisassembly, readHistory, readState, type Bytecode, type Disassembly } from '../../../web/src/api/schema.ts';
import { FeedError, type Action, type EntryAddress, type Feed, type FeedEvent } from '../../../web/src/feed/feed.ts';
import type { Sessions } from '../debug/sessions.ts';
import { Freshness } from './model/freshness.ts';

const PERIOD_MS = 1000;

export class SessionFeed implements Feed {
  readonly #sessions: Sessions;
  readonly #session: vscode.DebugSession;
  #round: (() => void) | undefined;

  constructor(sessions: Sessions, session: vscode.DebugSession) {
    this.#sessions = sessions;
    this.#session = session;
  }

  subscribe(listener: (event: FeedEvent) => void): () => void {
    const points = new Freshness();
    let over = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let first = true;
    const round = async (): Promise<void> => {
      clearTimeout(timer);
      try {
        const state = await this.#ask('msvm/state');
        if (over) return;
        listener({ kind: 'connection', connection: { status: 'live' } });
        listener({ kind: 'state', state: readState(state) });
        const history = readHistory(await this.#ask('msvm/history'));
        if (first) listener({ kind: 'history', history });
        const fresh = points.take(history.points);
        if (!first) for (const point of fresh) listener({ kind: 'point', point });
        first = false;
      } catch {
        listener({ kind: 'connection', connection: { status: 'lost', why: 'unreachable', retry_at: Date.now() + PERIOD_MS } });
      }
      if (!over) timer = setTimeout(() => void round(), PERIOD_MS);
    };
    this.#round = () => void round();
    listener({ kind: 'connection', connection: { status: 'connecting' } });
    void round();
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }

  retry(): void {
    this.#round?.();
  }

  async disassembly(address: EntryAddress): Promise<Disassembly> {
    return readDisassembly(await this.#ask('msvm/disassembly', address));
  }

  async bytecode(program: number): Promise<Bytecode> {
    return readBytecode(await this.#ask('msvm/bytecode', { program }));
  }

  async act(action: Action, body: unknown): Promise<void> {
    await this.#ask('msvm/act', { action, body });
  }

  async #ask(command: string, args: object = {}): Promise<unknown> {
    const answer = await this.#sessions.request(command, args, this.#session).catch((error: unknown) => {
      throw new FeedError(error instanceof Error ? error.message : String(error));
    });
    if (answer === undefined) throw new FeedError('the debug session is over');
    return answer;
  }
}
