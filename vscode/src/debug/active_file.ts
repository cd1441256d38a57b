import * as vscode from 'vscode';
import { fileUri, isListing } from '../msbc/scheme.ts';

/** Path of the file in front: in a text editor, as the text of a .msbc, in an editor of ours, or one that no editor shows. */
export function activeFile(): string | undefined {
  const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
  const uri = vscode.window.activeTextEditor?.document.uri ?? (input instanceof vscode.TabInputCustom || input instanceof vscode.TabInputText ? input.uri : undefined);
  if (uri === undefined) return undefined;
  return isListing(uri) ? fileUri(uri).fsPath : uri.scheme === 'file' ? uri.fsPath : undefined;
}
