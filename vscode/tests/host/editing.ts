// What suites do with texts of the workspace.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import * as vscode from 'vscode';
import { file, workspace } from './driver.ts';

export async function open(name: string): Promise<vscode.TextEditor> {
  return vscode.window.showTextDocument(await vscode.workspace.openTextDocument(file(name)), { preview: false });
}

export async function write(name: string, text: string | Uint8Array): Promise<vscode.Uri> {
  const uri = file(name);
  await vscode.workspace.fs.writeFile(uri, Buffer.from(text as string));
  return uri;
}

/** Where `word` stands in the first line that holds `line`. */
export function place(document: vscode.TextDocument, line: string, word: string): vscode.Position {
  for (let k = 0; k < document.lineCount; k++) {
    const { text } = document.lineAt(k);
    if (text.includes(line)) return new vscode.Position(k, text.indexOf(word, text.indexOf(line)) + 1);
  }
  throw new Error(`no line holds ${line}`);
}

export function msvm(...args: string[]): string {
  const path = vscode.workspace.getConfiguration('msvm').get<string>('path', '');
  const ran = spawnSync(path, args, { cwd: workspace().fsPath, encoding: 'utf8' });
  assert.equal(ran.status, 0, ran.stderr);
  return ran.stdout;
}
