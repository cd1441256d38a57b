// A feed that plays what was recorded: for tests, and for views without a program.
import type { Bytecode, Disassembly, History, Point, State } from '../api/schema.ts';
import { FeedError, type Action, type EntryAddress, type Feed, type FeedEvent } from './feed.ts';

export interface Recording {
  readonly history: History;
  /** One each second, with the point that goes with it. */
  readonly steps: readonly { readonly state: State; readonly point: Point }[];
  readonly disassembly: (address: EntryAddress) => Disassembly | null;
  readonly bytecode: Bytecode;
}

export class RecordedFeed implements Feed {
  readonly #recording: Recording;
  readonly #step_ms: number;
  /** What was asked to be done, in order. */
  readonly acts: { action: Action; body: unknown }[] = [];

  constructor(recording: Recording, step_ms = 1000) {
    this.#recording = recording;
    this.#step_ms = step_ms;
  }

  subscribe(listener: (event: FeedEvent) => void): () => void {
    const { steps, history } = this.#recording;
    let k = 0;
    const play = () => {
      const step = steps[k++];
      if (!step) {
        clearInterval(timer);
        return;
      }
      listener({ kind: 'state', state: step.state });
      listener({ kind: 'point', point: step.point });
    };
    const timer = setInterval(play, this.#step_ms);
    listener({ kind: 'connection', connection: { status: 'live' } });
    listener({ kind: 'history', history });
    play();
    return () => clearInterval(timer);
  }

  retry(): void {
    // A recording is never lost.
  }

  disassembly(address: EntryAddress): Promise<Disassembly> {
    const found = this.#recording.disassembly(address);
    return found ? Promise.resolve(found) : Promise.reject(new FeedError(`no code of ${address.entry} was recorded`));
  }

  bytecode(): Promise<Bytecode> {
    return Promise.resolve(this.#recording.bytecode);
  }

  act(action: Action, body: unknown): Promise<void> {
    this.acts.push({ action, body });
    return Promise.resolve();
  }
}
