// How suites start sessions and wait for what comes of them.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { Services } from '../../src/services.ts';

export const extension = (): vscode.Extension<Services> => {
  const found = vscode.extensions.getExtension<Services>('msvm.msvm');
  assert.ok(found, 'the extension is there');
  return found;
};

export const services = (): Promise<Services> => Promise.resolve(extension().activate());

export const workspace = (): vscode.Uri => {
  const folder = vscode.workspace.workspaceFolders?.[0];
  assert.ok(folder, 'a workspace is open');
  return folder.uri;
};

export const file = (name: string): vscode.Uri => vscode.Uri.joinPath(workspace(), name);

/** Polls: what is waited for tells nobody when it comes. */
export async function until<T>(what: string, look: () => T | undefined | false | Promise<T | undefined | false>, limit = 60_000): Promise<T> {
  const end = Date.now() + limit;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > end) throw new Error(`${what}: not within ${limit / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** The program that follows a script instead of `msvm`, from now on. */
export async function scripted(scenario: string): Promise<void> {
  process.env.MSVM_SCENARIO = scenario;
  await vscode.workspace.getConfiguration('msvm').update('path', join(extension().extensionPath, 'tests/scenario/msvm'), vscode.ConfigurationTarget.Workspace);
}

/** `msvm` of the build, from now on. */
export async function real(): Promise<void> {
  await vscode.workspace.getConfiguration('msvm').update('path', undefined, vscode.ConfigurationTarget.Workspace);
}

/** The frame that the user looks at, once a session waits on a line as wanted; its text. */
export async function untilAt(wanted: RegExp): Promise<{ line: string; frame: vscode.DebugStackFrame; editor: vscode.TextEditor }> {
  let seen = 'nothing';
  return until(`a stop at ${wanted.source}`, async () => {
    const frame = vscode.debug.activeStackItem;
    const editor = vscode.window.activeTextEditor;
    if (!(frame instanceof vscode.DebugStackFrame) || editor === undefined) return undefined;
    seen = editor.document.lineAt(editor.selection.active.line).text;
    return Promise.resolve(wanted.test(seen) ? { line: seen, frame, editor } : undefined);
  }).catch((error: unknown) => {
    throw new Error(`${String(error)}; the last line was "${seen}"`);
  });
}

export const step = (how: 'stepOver' | 'stepInto' | 'stepOut' | 'continue') => vscode.commands.executeCommand(`workbench.action.debug.${how}`);

export async function start(configuration: Partial<vscode.DebugConfiguration>): Promise<void> {
  const begun = await vscode.debug.startDebugging(vscode.workspace.workspaceFolders?.[0], { type: 'msvm', request: 'launch', name: 'test', ...configuration });
  assert.ok(begun, 'the session begins');
}

export async function stop(): Promise<void> {
  await vscode.debug.stopDebugging();
  const { sessions } = await services();
  await until('every session is over', () => sessions.live.length === 0);
  await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  vscode.debug.removeBreakpoints(vscode.debug.breakpoints);
}

type Say = 'showInformationMessage' | 'showWarningMessage' | 'showErrorMessage';

/** What the extension tells the user from now on, and what the user answers. */
export function told(how: Say, answer?: string): { readonly texts: string[]; restore(): void } {
  const before = vscode.window[how];
  const texts: string[] = [];
  const say = (text: string) => {
    texts.push(text);
    return Promise.resolve(answer);
  };
  Object.assign(vscode.window, { [how]: say });
  return { texts, restore: () => void Object.assign(vscode.window, { [how]: before }) };
}
