// The feed of a page inside an editor: events and answers come as messages.
import type { Bytecode, Disassembly } from '../api/schema.ts';
import { FeedError, type Action, type EntryAddress, type Feed, type FeedEvent } from './feed.ts';
import type { Port, Question } from './messages.ts';

/** Questions with their answers, over messages. */
export class Asking {
  readonly #port: Port;
  readonly #waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  #last = 0;

  constructor(port: Port) {
    this.#port = port;
    port.listen((message) => {
      if (message.kind !== 'answer' && message.kind !== 'refusal') return;
      const waits = this.#waiting.get(message.id);
      this.#waiting.delete(message.id);
      if (message.kind === 'answer') waits?.resolve(message.value);
      else waits?.reject(new FeedError(message.message));
    });
  }

  ask(question: Question): Promise<unknown> {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#port.post({ kind: 'ask', id, question });
    });
  }
}

export class MessageFeed implements Feed {
  readonly #port: Port;
  readonly #asking: Asking;

  constructor(port: Port, asking: Asking) {
    this.#port = port;
    this.#asking = asking;
  }

  subscribe(listener: (event: FeedEvent) => void): () => void {
    const ends = this.#port.listen((message) => {
      if (message.kind === 'event') listener(message.event);
    });
    this.#port.post({ kind: 'subscribe' });
    return ends;
  }

  retry(): void {
    this.#port.post({ kind: 'retry' });
  }

  async disassembly(address: EntryAddress): Promise<Disassembly> {
    return (await this.#asking.ask({ what: 'disassembly', address })) as Disassembly;
  }

  async bytecode(program: number): Promise<Bytecode> {
    return (await this.#asking.ask({ what: 'bytecode', program })) as Bytecode;
  }

  async act(action: Action, body: unknown): Promise<void> {
    await this.#asking.ask({ what: 'act', action, body });
  }

  readonly open = (place: string): void => this.#port.post({ kind: 'open', place });
}
