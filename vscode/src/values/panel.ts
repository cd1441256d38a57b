// A panel with the values of a register: as a table, a histogram, a picture. It follows the program from stop to stop.
import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { readTensor, type Tensor } from '../debug/model/wire.ts';
import type { Sessions, Stopped } from '../debug/sessions.ts';
import { sentence } from '../msvm/model/mend.ts';
import { isFromPage, type ToPage } from './model/messages.ts';

export class ValuesPanel {
  readonly #panel: vscode.WebviewPanel;
  readonly #sessions: Sessions;
  readonly #expression: string;
  readonly #subscriptions: vscode.Disposable[];
  #at: Stopped;
  #asked: { readonly slice: string; readonly max: number } | undefined;
  #shape: string | undefined;
  /** What the page shows, for tests. */
  shown: ToPage | undefined;

  readonly onDidDispose: vscode.Event<void>;

  constructor(extension: vscode.Uri, sessions: Sessions, expression: string, at: Stopped) {
    this.#sessions = sessions;
    this.#expression = expression;
    this.#at = at;
    const scripts = vscode.Uri.joinPath(extension, 'dist/webview');
    this.#panel = vscode.window.createWebviewPanel('msvm.values', `${expression}: values`, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true }, { enableScripts: true, localResourceRoots: [scripts] });
    const icon = (theme: string) => vscode.Uri.joinPath(extension, `media/values-${theme}.svg`);
    this.#panel.iconPath = { light: icon('light'), dark: icon('dark') };
    this.#panel.webview.html = page(this.#panel.webview, scripts);
    this.onDidDispose = this.#panel.onDidDispose;
    this.#subscriptions = [
      this.#panel.webview.onDidReceiveMessage((message: unknown) => void this.#hear(message)),
      sessions.onDidChangeStopped((stopped) => void this.#follow(stopped)),
      sessions.onDidEnd((session) => {
        if (session === this.#at.session) this.#show({ type: 'stale', text: 'The session is over' });
      }),
    ];
    this.#panel.onDidDispose(() => this.#subscriptions.forEach((each) => void each.dispose()));
  }

  reveal(at: Stopped): void {
    this.#at = at;
    this.#panel.reveal(undefined, true);
    void this.#ask();
  }

  async #hear(message: unknown): Promise<void> {
    if (!isFromPage(message)) return;
    if (message.type === 'save') await vscode.commands.executeCommand('msvm.saveTensor', this.#expression);
    else {
      this.#asked = message.type === 'ask' ? message : undefined;
      await this.#ask();
    }
  }

  async #follow(stopped: Stopped | undefined): Promise<void> {
    if (stopped === undefined) return;
    if (stopped.session !== this.#at.session && this.#sessions.live.includes(this.#at.session)) return;
    this.#at = stopped;
    await this.#ask();
  }

  async #ask(): Promise<void> {
    const { session, threadId } = this.#at;
    const tensor = async (slice: string, max: number): Promise<Tensor> => readTensor(await session.customRequest('msvm/tensor', { threadId, expression: this.#expression, slice, max }));
    try {
      const whole = await tensor('', 1); // its shape, which the slices of the page depend on
      const shape = whole.shape.join();
      const asked = shape === this.#shape ? this.#asked : undefined;
      this.#shape = shape;
      this.#show({ type: 'tensor', title: this.#expression, shape: whole.shape, slice: asked?.slice ?? '', tensor: asked === undefined ? whole : await tensor(asked.slice, asked.max) });
    } catch (error) {
      this.#show({ type: 'error', text: sentence(error) });
    }
  }

  #show(message: ToPage): void {
    this.shown = message;
    void this.#panel.webview.postMessage(message);
  }
}

function page(webview: vscode.Webview, scripts: vscode.Uri): string {
  const nonce = randomBytes(16).toString('base64');
  const script = webview.asWebviewUri(vscode.Uri.joinPath(scripts, 'values.js')).toString();
  const style = webview.asWebviewUri(vscode.Uri.joinPath(scripts, 'values.css')).toString();
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'nonce-${nonce}'; style-src ${webview.cspSource}">
<link rel="stylesheet" href="${style}">
<title>Values</title>
</head>
<body><main id="values"></main><script nonce="${nonce}" src="${script}"></script></body>
</html>`;
}
