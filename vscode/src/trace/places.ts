// From what a log names to what an editor can show: source lines, and instructions of programs.
import { basename, isAbsolute } from 'node:path';
import * as vscode from 'vscode';
import { listingOf } from '../msasm/documents.ts';
import { isBytecodeFile, listingUri } from '../msbc/scheme.ts';
import { instructionLine, sourcePlace } from './model/place.ts';

const EXCLUDED = '**/{node_modules,.git,build,dist}/**';

async function existing(uri: vscode.Uri): Promise<boolean> {
  try {
    await vscode.workspace.fs.stat(uri);
    return true;
  } catch {
    return false;
  }
}

async function sourceFile(file: string, beside: vscode.Uri): Promise<vscode.Uri | undefined> {
  const folders = [vscode.Uri.joinPath(beside, '..'), vscode.Uri.joinPath(beside, '../..'), ...(vscode.workspace.workspaceFolders ?? []).map((f) => f.uri)];
  const candidates = isAbsolute(file) ? [vscode.Uri.file(file)] : folders.map((f) => vscode.Uri.joinPath(f, file));
  for (const uri of candidates) if (await existing(uri)) return uri;
  const found = await vscode.workspace.findFiles(`**/${basename(file)}`, EXCLUDED, 20);
  if (found.length <= 1) return found[0];
  const picked = await vscode.window.showQuickPick(
    found.map((uri) => ({ label: vscode.workspace.asRelativePath(uri), uri })),
    { placeHolder: `Which ${basename(file)}?` },
  );
  return picked?.uri;
}

/** A group with texts, beside the one in front; a new one where there is none. */
function besideColumn(): vscode.ViewColumn {
  const texts = vscode.window.tabGroups.all.filter((group) => group.activeTab?.input instanceof vscode.TabInputText);
  return texts.at(-1)?.viewColumn ?? vscode.ViewColumn.Beside;
}

async function show(uri: vscode.Uri, line: number, column: number): Promise<void> {
  const document = await vscode.workspace.openTextDocument(uri);
  const at = new vscode.Position(Math.min(line, document.lineCount - 1), column);
  const editor = await vscode.window.showTextDocument(document, { viewColumn: besideColumn(), preview: true, preserveFocus: false });
  editor.selection = new vscode.Selection(at, at);
  editor.revealRange(new vscode.Range(at, at), vscode.TextEditorRevealType.InCenter);
}

/** @param beside the log that names the place. */
export async function openSource(text: string, beside: vscode.Uri): Promise<void> {
  const place = sourcePlace(text);
  const uri = place && (await sourceFile(place.file, beside));
  if (!place || !uri) {
    void vscode.window.showWarningMessage(`${text}: there is no such file in the workspace. Open the folder that holds it.`);
    return;
  }
  if (isBytecodeFile(uri)) await show(listingUri(uri), place.line - 1, place.column - 1);
  else await show(uri, place.line - 1, place.column - 1);
}

/** Files that may be the program of this name: named like it first. */
async function programs(name: string): Promise<readonly vscode.Uri[]> {
  const files = await vscode.workspace.findFiles('**/*.{msbc,msasm}', EXCLUDED, 500);
  const stem = (uri: vscode.Uri): string => basename(uri.path).replace(/\.(msbc|msasm)$/, '');
  const named = files.filter((uri) => stem(uri) === name);
  if (named.length > 0) return named;
  const inside: vscode.Uri[] = [];
  for (const uri of files.filter((each) => each.path.endsWith('.msasm'))) {
    const head = new TextDecoder().decode((await vscode.workspace.fs.readFile(uri)).subarray(0, 400));
    if (head.includes(`module ${JSON.stringify(name)}`)) inside.push(uri);
  }
  return inside.length > 0 ? inside : files;
}

export interface InstructionPlace {
  readonly program: string;
  readonly function: string;
  readonly instruction: number;
}

/** Of a program that is being debugged its listing; else a file of the workspace, which the person names where several could be meant. */
export async function openInstruction(at: InstructionPlace, remembered: vscode.Memento): Promise<void> {
  const live = vscode.workspace.textDocuments.filter((d) => d.uri.scheme === 'msvm' && d.getText().includes(`module ${JSON.stringify(at.program)}`));
  const [listing] = live;
  const key = `program ${at.program}`;
  let uri = listing?.uri;
  const known = remembered.get<string>(key);
  if (!uri && known !== undefined && (await existing(vscode.Uri.parse(known)))) uri = vscode.Uri.parse(known);
  if (!uri) {
    const candidates = await programs(at.program);
    if (candidates.length === 0) {
      void vscode.window.showWarningMessage(`No .msbc or .msasm of ${at.program} is in the workspace. \`msvm import-onnx\` or \`msvm asm\` makes one.`);
      return;
    }
    const [only] = candidates;
    uri =
      candidates.length === 1
        ? only
        : (
            await vscode.window.showQuickPick(
              candidates.map((each) => ({ label: vscode.workspace.asRelativePath(each), uri: each })),
              { placeHolder: `Which file holds the program ${at.program}?` },
            )
          )?.uri;
    if (!uri) return;
    await remembered.update(key, uri.toString());
  }
  const target = isBytecodeFile(uri) ? listingUri(uri) : uri;
  const { listing: parts } = listingOf(await vscode.workspace.openTextDocument(target));
  await show(target, instructionLine(parts.operations, parts.functions, at.function, at.instruction) ?? 0, 0);
}
