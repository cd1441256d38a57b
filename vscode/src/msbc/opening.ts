// A `.msbc` that is opened becomes its text: an ordinary editor, with all that an editor can do.
import * as vscode from 'vscode';
import type { Feature } from '../services.ts';
import { listingUri, SCHEME } from './scheme.ts';

const EDITOR = 'msvm.bytecodeFile';

class Opening implements vscode.CustomReadonlyEditorProvider {
  openCustomDocument(uri: vscode.Uri): vscode.CustomDocument {
    return { uri, dispose: () => undefined };
  }

  async resolveCustomEditor(document: vscode.CustomDocument, panel: vscode.WebviewPanel): Promise<void> {
    const { viewColumn } = panel;
    try {
      await vscode.window.showTextDocument(listingUri(document.uri), { preview: false, ...(viewColumn === undefined ? {} : { viewColumn }) });
      panel.dispose();
    } catch (error) {
      panel.webview.html = unreadable(error instanceof Error ? error.message : String(error));
    }
  }
}

const escaped = (text: string): string => text.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c] ?? c);

/** A file that isn't bytecode says so in its editor. */
function unreadable(why: string): string {
  return `<!doctype html><html><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'"></head>
<body><h3>This file can't be shown as bytecode</h3><pre>${escaped(why)}</pre></body></html>`;
}

export const bytecodeFiles: Feature = ({ context, files }) => {
  context.subscriptions.push(
    files,
    vscode.workspace.registerFileSystemProvider(SCHEME, files, { isCaseSensitive: true }),
    vscode.window.registerCustomEditorProvider(EDITOR, new Opening(), { supportsMultipleEditorsPerDocument: true }),
    vscode.workspace.onDidOpenTextDocument((document) => {
      if (document.uri.scheme === SCHEME && document.languageId !== 'msbc') void vscode.languages.setTextDocumentLanguage(document, 'msbc');
    }),
  );
};
