// Which threads of a session wait, as its messages tell.

export interface Message {
  readonly seq?: number;
  readonly type: string;
  readonly event?: string;
  readonly command?: string;
  readonly request_seq?: number;
  readonly success?: boolean;
  readonly arguments?: { readonly threadId?: number; readonly singleThread?: boolean };
  readonly body?: { readonly threadId?: number; readonly allThreadsContinued?: boolean; readonly reason?: string };
}

export interface Stop {
  readonly threadId: number;
  readonly reason: string;
}

const GOING_ON = new Set(['continue', 'next', 'stepIn', 'stepOut', 'stepBack', 'reverseContinue', 'goto']);

export class Stops {
  /** In the order in which they stopped. */
  readonly #stops = new Map<number, Stop>();
  /** Requests on their way that let a thread go, and what it waited for. */
  readonly #asked = new Map<number, Stop>();

  of(threadId: number): Stop | undefined {
    return this.#stops.get(threadId);
  }

  get last(): Stop | undefined {
    return [...this.#stops.values()].at(-1);
  }

  /** A message to the adapter; whether a thread goes on. It does so from here on: its next stop may come before the answer. */
  sent({ seq, type, command, arguments: args }: Message): boolean {
    if (type !== 'request' || !GOING_ON.has(command ?? '') || args?.threadId === undefined || seq === undefined) return false;
    const stop = this.#stops.get(args.threadId);
    if (stop === undefined) return false;
    this.#asked.set(seq, stop);
    return this.#stops.delete(args.threadId);
  }

  /** A message from the adapter; whether something is another way now. */
  received({ type, event, request_seq, success, body }: Message): boolean {
    if (type === 'response') return this.#answered(request_seq ?? -1, success === true, body?.allThreadsContinued === true);
    if (type !== 'event') return false;
    const threadId = body?.threadId;
    if (event === 'stopped' && threadId !== undefined) {
      this.#stops.delete(threadId);
      this.#stops.set(threadId, { threadId, reason: body?.reason ?? '' });
      return true;
    }
    if (event === 'terminated' || event === 'exited' || (event === 'continued' && (body?.allThreadsContinued === true || threadId === undefined))) return this.#clear();
    return event === 'continued' || (event === 'thread' && body?.reason === 'exited') ? this.#stops.delete(threadId ?? -1) : false;
  }

  #answered(seq: number, success: boolean, all: boolean): boolean {
    const stop = this.#asked.get(seq);
    if (stop === undefined) return false;
    this.#asked.delete(seq);
    if (success) return all && this.#stops.size > 0 && this.#clearOlder(stop);
    this.#stops.set(stop.threadId, stop);
    return true;
  }

  /** All go on: those that wait since before; a stop of the thread itself has come since. */
  #clearOlder(stop: Stop): boolean {
    let changed = false;
    for (const threadId of [...this.#stops.keys()]) if (threadId !== stop.threadId) changed = this.#stops.delete(threadId) || changed;
    return changed;
  }

  #clear(): boolean {
    const had = this.#stops.size > 0;
    this.#stops.clear();
    return had;
  }
}
