// Starting sessions by a command, a CodeLens, or F5 where there is no launch file.
import * as vscode from 'vscode';
import type { Services } from '../services.ts';
import { fileConfiguration, isPython, launchable, PROGRAMS } from './model/configuration.ts';
import { TYPE } from './model/names.ts';
import { activeFile } from './active_file.ts';

const CONTEXT = 'msvm.f5';

/** Debugs a file: the one given, or the active one. */
async function debugFile(uri?: vscode.Uri): Promise<void> {
  const file = uri?.fsPath ?? activeFile();
  if (!launchable(file)) {
    void vscode.window.showErrorMessage(`There is nothing to debug. Open a ${PROGRAMS.join(', ')} file first.`);
    return;
  }
  const folder = vscode.workspace.getWorkspaceFolder(vscode.Uri.file(file));
  await vscode.debug.startDebugging(folder, fileConfiguration(file));
}

/** Attaches to a process that the user picks. */
async function attach(): Promise<void> {
  await vscode.debug.startDebugging(vscode.workspace.workspaceFolders?.[0], { type: TYPE, request: 'attach', name: 'MSVM: attach' });
}

/** Whether F5 is ours: a program of ours is in front and nobody has written a launch file; Python only with msvm.debugMode. */
function ours(): boolean {
  const file = activeFile();
  if (!launchable(file)) return false;
  const uri = vscode.Uri.file(file);
  const configurations = vscode.workspace.getConfiguration('launch', uri).get<unknown[]>('configurations', []);
  if (configurations.length > 0) return false;
  return !isPython(file) || vscode.workspace.getConfiguration('msvm', uri).get<boolean>('debugMode', false);
}

/** F5 where it may be ours. Whether it is, is decided when it is pressed: what the editor knows of us may be older than the file in front. */
async function f5(): Promise<void> {
  if (ours()) await debugFile();
  else await vscode.commands.executeCommand('workbench.action.debug.start');
}

export function launching({ context }: Services): void {
  const update = () => void vscode.commands.executeCommand('setContext', CONTEXT, ours());
  update();
  context.subscriptions.push(
    vscode.commands.registerCommand('msvm.debugFile', debugFile),
    vscode.commands.registerCommand('msvm.attach', attach),
    vscode.commands.registerCommand('msvm.f5', f5),
    vscode.window.onDidChangeActiveTextEditor(update),
    vscode.window.tabGroups.onDidChangeTabs(update),
    vscode.workspace.onDidChangeConfiguration(update),
  );
}
