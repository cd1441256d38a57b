// What a feature is given, and what it is: a function that puts what it registers into the extension's subscriptions.
import type * as vscode from 'vscode';
import type { Sessions } from './debug/sessions.ts';
import type { BytecodeFiles } from './msbc/files.ts';
import type { Msvm } from './msvm/msvm.ts';
import type { RegisterRow } from './registers/model/rows.ts';

export interface Services {
  readonly context: vscode.ExtensionContext;
  readonly output: vscode.LogOutputChannel;
  /** The program `msvm`, found and run. */
  readonly msvm: Msvm;
  /** `.msbc` files as text. */
  readonly files: BytecodeFiles;
  /** The debug sessions of type `msvm` that live. */
  readonly sessions: Sessions;
  readonly shown: Shown;
}

/** What the user sees where no interface of the editor tells it: for tests. */
export interface Shown {
  /** Text of the status bar; undefined while it is hidden. */
  mode: string | undefined;
  /** The first page of MS Registers. */
  registers: readonly RegisterRow[];
}

export type Feature = (services: Services) => void;
