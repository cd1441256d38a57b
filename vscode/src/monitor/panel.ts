// JIT Monitor in a panel: the page of web/, fed by a debug session or a running monitor.
import * as vscode from 'vscode';
import type { Feed } from '../../../web/src/feed/feed.ts';
import type { FromPage, Question, ToPage } from '../../../web/src/feed/messages.ts';
import { sentence } from '../msvm/model/mend.ts';
import { openSource } from '../trace/places.ts';
import { page, pageOptions } from '../webview_page.ts';

const SETTINGS = 'monitor.settings';

export interface PanelOptions {
  readonly context: vscode.ExtensionContext;
  readonly title: string;
  readonly feed: Feed;
}

export class MonitorPanel implements vscode.Disposable {
  readonly #panel: vscode.WebviewPanel;
  readonly #options: PanelOptions;
  readonly #heard: vscode.Disposable;
  readonly #closed = new vscode.EventEmitter<void>();
  #ends: (() => void) | undefined;
  /** States that the page was given; tests wait for them. */
  states = 0;
  readonly onDidClose = this.#closed.event;

  constructor(options: PanelOptions) {
    this.#options = options;
    const { extensionUri } = options.context;
    this.#panel = vscode.window.createWebviewPanel('msvm.monitor', options.title, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true }, { ...pageOptions(extensionUri), retainContextWhenHidden: true });
    this.#panel.iconPath = vscode.Uri.joinPath(extensionUri, 'media/monitor.svg');
    this.#heard = this.#panel.webview.onDidReceiveMessage((message: FromPage) => this.#hear(message));
    this.#panel.webview.html = page(this.#panel.webview, extensionUri, { title: options.title, script: 'webview/monitor.js', style: 'webview/monitor.css', body: '<div id="monitor"></div>' });
    this.#panel.onDidDispose(() => this.#end());
  }

  reveal(): void {
    this.#panel.reveal(undefined, true);
  }

  #say(message: ToPage): void {
    void this.#panel.webview.postMessage(message);
  }

  #hear(message: FromPage): void {
    const { context, feed } = this.#options;
    switch (message.kind) {
      case 'ready':
        this.#say({ kind: 'begin', settings: context.globalState.get<Record<string, string>>(SETTINGS, {}), languages: [vscode.env.language] });
        break;
      case 'subscribe':
        this.#ends?.();
        this.#ends = feed.subscribe((event) => {
          if (event.kind === 'state') this.states += 1;
          this.#say({ kind: 'event', event });
        });
        break;
      case 'retry':
        feed.retry();
        break;
      case 'ask':
        this.#answer(message.question).then(
          (value) => this.#say({ kind: 'answer', id: message.id, value }),
          (error: unknown) => this.#say({ kind: 'refusal', id: message.id, message: sentence(error) }),
        );
        break;
      case 'download':
        void this.#save(message.name, message.text);
        break;
      case 'copy':
        void vscode.env.clipboard.writeText(message.text);
        break;
      case 'write':
        void context.globalState.update(SETTINGS, { ...context.globalState.get<Record<string, string>>(SETTINGS, {}), [message.key]: message.value });
        break;
      case 'open':
        void openSource(message.place, vscode.workspace.workspaceFolders?.[0]?.uri ?? vscode.Uri.file('/'));
        break;
    }
  }

  async #answer(question: Question): Promise<unknown> {
    const { feed } = this.#options;
    switch (question.what) {
      case 'disassembly':
        return feed.disassembly(question.address);
      case 'bytecode':
        return feed.bytecode(question.program);
      case 'act':
        return feed.act(question.action, question.body);
      case 'confirm':
        return (await vscode.window.showWarningMessage(question.question, { modal: true }, 'Yes')) === 'Yes';
      case 'pick_text': {
        const [file] = (await vscode.window.showOpenDialog({ canSelectMany: false, filters: { Files: question.accept.split(',').filter((e) => e.startsWith('.')).map((e) => e.slice(1)) } })) ?? [];
        return file ? new TextDecoder().decode(await vscode.workspace.fs.readFile(file)) : null;
      }
    }
  }

  async #save(name: string, text: string): Promise<void> {
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
    const to = await vscode.window.showSaveDialog(folder ? { defaultUri: vscode.Uri.joinPath(folder, name) } : {});
    if (to) await vscode.workspace.fs.writeFile(to, Buffer.from(text));
  }

  #end(): void {
    this.#ends?.();
    this.#heard.dispose();
    this.#closed.fire();
    this.#closed.dispose();
  }

  dispose(): void {
    this.#panel.dispose();
  }
}
