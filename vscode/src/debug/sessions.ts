// The debug sessions of type `msvm`: which lives, what it says, whether it waits.
import * as vscode from 'vscode';
import { TYPE } from './model/names.ts';

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

interface Message {
  readonly type: string;
  readonly event?: string;
  readonly command?: string;
  readonly success?: boolean;
  readonly body?: { readonly threadId?: number; readonly allThreadsContinued?: boolean; readonly reason?: string };
}

const GOING_ON = new Set(['continue', 'next', 'stepIn', 'stepOut', 'stepBack']);

export class Sessions implements vscode.Disposable {
  readonly #live = new Set<vscode.DebugSession>();
  readonly #stopped = new Map<vscode.DebugSession, Stopped>();
  readonly #began = new vscode.EventEmitter<vscode.DebugSession>();
  readonly #ended = new vscode.EventEmitter<vscode.DebugSession>();
  readonly #stoppedOrWent = new vscode.EventEmitter<Stopped | undefined>();
  readonly #events = new vscode.EventEmitter<CustomEvent>();
  readonly #subscriptions: vscode.Disposable[];

  readonly onDidBegin = this.#began.event;
  readonly onDidEnd = this.#ended.event;
  /** A thread waits (its last stop), or goes on (undefined). */
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
        createDebugAdapterTracker: (session) => ({ onDidSendMessage: (message: Message) => this.#see(session, message) }),
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

  stopped(session = this.current): Stopped | undefined {
    return session === undefined ? undefined : this.#stopped.get(session);
  }

  /** The thread that the user looks at while its session waits: the one chosen in the call stack, or the one that stopped. */
  get waiting(): Stopped | undefined {
    const stopped = this.stopped();
    if (stopped === undefined) return undefined;
    const item = vscode.debug.activeStackItem;
    return item?.session === stopped.session ? { ...stopped, threadId: item.threadId } : stopped;
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

  #see(session: vscode.DebugSession, message: Message): void {
    const goesOn = message.type === 'response' && message.success === true && GOING_ON.has(message.command ?? '');
    if (message.type !== 'event' && !goesOn) return;
    if (message.event === 'stopped') {
      const stopped = { session, threadId: message.body?.threadId ?? 0, reason: message.body?.reason ?? '' };
      this.#stopped.set(session, stopped);
      this.#stoppedOrWent.fire(stopped);
    } else if (goesOn || message.event === 'continued' || message.event === 'terminated') {
      this.#stopped.delete(session);
      this.#stoppedOrWent.fire(undefined);
    }
  }

  #end(session: vscode.DebugSession): void {
    this.#live.delete(session);
    this.#stopped.delete(session);
    this.#stoppedOrWent.fire(undefined);
    this.#ended.fire(session);
  }

  dispose(): void {
    for (const each of [...this.#subscriptions, this.#began, this.#ended, this.#stoppedOrWent, this.#events]) each.dispose();
  }
}
