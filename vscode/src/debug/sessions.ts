// The debug sessions of type `msvm`: which lives, what it says, whether it waits.
import * as vscode from 'vscode';
import { TYPE } from './model/names.ts';
import { Stops, type Message } from './model/stops.ts';

export interface Stopped {
  readonly session: vscode.DebugSession;
  readonly threadId: number;
  readonly reason: string;
}

export interface CustomEvent {
  readonly session: vscode.DebugSession;
  readonly event: string;
  readonly body: unknown;
}

export class Sessions implements vscode.Disposable {
  readonly #live = new Set<vscode.DebugSession>();
  readonly #stops = new Map<vscode.DebugSession, Stops>();
  readonly #began = new vscode.EventEmitter<vscode.DebugSession>();
  readonly #ended = new vscode.EventEmitter<vscode.DebugSession>();
  readonly #stoppedOrWent = new vscode.EventEmitter<Stopped | undefined>();
  readonly #events = new vscode.EventEmitter<CustomEvent>();
  readonly #subscriptions: vscode.Disposable[];

  readonly onDidBegin = this.#began.event;
  readonly onDidEnd = this.#ended.event;
  /** Threads stop and go on: the one that stopped last and waits still; undefined where none does. */
  readonly onDidChangeStopped = this.#stoppedOrWent.event;

  constructor() {
    this.#subscriptions = [
      vscode.debug.onDidStartDebugSession((session) => {
        if (session.type !== TYPE) return;
        this.#live.add(session);
        this.#began.fire(session);
      }),
      vscode.debug.onDidTerminateDebugSession((session) => {
        if (session.type === TYPE) this.#end(session);
      }),
      vscode.debug.onDidReceiveDebugSessionCustomEvent((event) => {
        if (event.session.type === TYPE) this.#events.fire({ session: event.session, event: event.event, body: event.body });
      }),
      vscode.debug.registerDebugAdapterTrackerFactory(TYPE, {
        createDebugAdapterTracker: (session) => {
          const stops = new Stops();
          this.#stops.set(session, stops);
          const tell = (changed: boolean) => {
            if (changed) this.#stoppedOrWent.fire(this.stopped(session));
          };
          return { onWillReceiveMessage: (message: Message) => tell(stops.sent(message)), onDidSendMessage: (message: Message) => tell(stops.received(message)) };
        },
      }),
    ];
  }

  /** The session that the user looks at, or else the one that began last. */
  get current(): vscode.DebugSession | undefined {
    const active = vscode.debug.activeDebugSession;
    return active?.type === TYPE && this.#live.has(active) ? active : [...this.#live].at(-1);
  }

  get live(): readonly vscode.DebugSession[] {
    return [...this.#live];
  }

  /** The thread of a session that stopped last and waits still. */
  stopped(session = this.current): Stopped | undefined {
    const stop = session === undefined ? undefined : this.#stops.get(session)?.last;
    return session === undefined || stop === undefined ? undefined : { session, ...stop };
  }

  /** The thread that the user looks at while it waits: the one chosen in the call stack, or the one that stopped last. */
  get waiting(): Stopped | undefined {
    const stopped = this.stopped();
    const item = vscode.debug.activeStackItem;
    if (stopped === undefined || item?.session !== stopped.session) return stopped;
    const chosen = this.#stops.get(stopped.session)?.of(item.threadId);
    return chosen === undefined ? stopped : { session: stopped.session, ...chosen };
  }

  /** Answers undefined where the session is over or does not know the request. */
  async request(command: string, args: object = {}, session = this.current): Promise<unknown> {
    if (session === undefined) return undefined;
    try {
      return await (session.customRequest(command, args) as Promise<unknown>);
    } catch (error) {
      if (this.#live.has(session)) throw error;
      return undefined;
    }
  }

  on(event: string, then: (event: CustomEvent) => void): vscode.Disposable {
    return this.#events.event((seen) => {
      if (seen.event === event) then(seen);
    });
  }

  #end(session: vscode.DebugSession): void {
    this.#live.delete(session);
    this.#stops.delete(session);
    this.#stoppedOrWent.fire(undefined);
    this.#ended.fire(session);
  }

  dispose(): void {
    for (const each of [...this.#subscriptions, this.#began, this.#ended, this.#stoppedOrWent, this.#events]) each.dispose();
  }
}
