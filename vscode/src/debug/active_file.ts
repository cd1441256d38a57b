import * as vscode from 'vscode';

/** Path of the file in front: in a text editor, in an editor of ours, or one that no editor shows. */
export function activeFile(): string | undefined {
  const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
  const uri = vscode.window.activeTextEditor?.document.uri ?? (input instanceof vscode.TabInputCustom || input instanceof vscode.TabInputText ? input.uri : undefined);
  return uri?.scheme === 'file' ? uri.fsPath : undefined;
}
