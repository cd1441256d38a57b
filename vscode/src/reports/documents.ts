// Documents that the extension writes: reports and disassemblies, kept while they are open.
import * as vscode from 'vscode';

export const REPORTS = 'msvm-report';

export class Documents implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #texts = new Map<string, string>();
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly #closed: vscode.Disposable;

  readonly onDidChange = this.#changed.event;

  constructor() {
    this.#closed = vscode.workspace.onDidCloseTextDocument(({ uri }) => {
      if (uri.scheme === REPORTS) this.#texts.delete(uri.toString());
    });
  }

  put(name: string, text: string): vscode.Uri {
    const uri = vscode.Uri.from({ scheme: REPORTS, path: `/${name.replaceAll('/', '∕')}` });
    this.#texts.set(uri.toString(), text);
    this.#changed.fire(uri);
    return uri;
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#texts.get(uri.toString()) ?? '';
  }

  dispose(): void {
    this.#changed.dispose();
    this.#closed.dispose();
  }
}
