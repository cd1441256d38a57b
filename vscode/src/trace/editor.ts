// The editor of `.bclog` files: a timeline.
import { randomBytes } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import * as vscode from 'vscode';
import { sentence } from '../msvm/model/mend.ts';
import type { Feature, Services } from '../services.ts';
import { page, pageOptions } from '../webview_page.ts';
import { readCompared } from './model/compared.ts';
import type { FromTimeline, ToTimeline } from './model/messages.ts';
import { openInstruction, openSource } from './places.ts';

export const EDITOR = 'msvm.timeline';

async function timelineOf(services: Services, log: vscode.Uri): Promise<Uint8Array> {
  const scratch = join(tmpdir(), `msvm-timeline-${randomBytes(8).toString('hex')}`);
  try {
    const ran = await services.msvm.run(['trace', 'timeline', log.fsPath, '-o', scratch], { timeout: 300_000 });
    if (ran.code !== 0) throw new Error(ran.stderr.replace(/^error: /, '').trim());
    return new Uint8Array(await readFile(scratch)); // a Buffer would arrive as something else
  } finally {
    await rm(scratch, { force: true });
  }
}

class Timelines implements vscode.CustomReadonlyEditorProvider {
  /** A log that the next timeline of the other one is compared with at once. */
  readonly #comparing = new Map<string, vscode.Uri>();

  constructor(readonly services: Services) {}

  async compare(before: vscode.Uri, after: vscode.Uri): Promise<void> {
    this.#comparing.set(before.toString(), after);
    await vscode.commands.executeCommand('vscode.openWith', before, EDITOR);
  }

  openCustomDocument(uri: vscode.Uri): vscode.CustomDocument {
    return { uri, dispose: () => undefined };
  }

  resolveCustomEditor({ uri }: vscode.CustomDocument, { webview, onDidDispose }: vscode.WebviewPanel): void {
    const { context, output } = this.services;
    const say = (message: ToTimeline): void => void webview.postMessage(message);
    const load = async (): Promise<void> => {
      try {
        say({ kind: 'log', name: basename(uri.path), bytes: await timelineOf(this.services, uri) });
      } catch (error) {
        output.warn(`${uri.fsPath}: ${sentence(error)}`);
        say({ kind: 'failed', message: sentence(error) });
      }
    };
    const compare = async (given?: vscode.Uri): Promise<void> => {
      const other = given ?? (await this.pick(uri, 'Compare with which log?'));
      if (!other) return;
      const rows = readCompared(await this.services.msvm.json(['trace', 'compare', uri.fsPath, other.fsPath, '--json']));
      say({ kind: 'compared', before: basename(uri.path), after: basename(other.path), rows });
    };
    const tell = (error: unknown): void => void vscode.window.showErrorMessage(sentence(error));
    const heard = webview.onDidReceiveMessage((message: FromTimeline) => {
      switch (message.kind) {
        case 'ready':
          void load();
          break;
        case 'source':
          openSource(message.place, uri).catch(tell);
          break;
        case 'bytecode':
          openInstruction(message, context.workspaceState).catch(tell);
          break;
        case 'compare':
          compare().catch(tell);
          break;
        case 'shown':
          output.debug(`${basename(uri.path)}: ${message.events} events shown in ${message.ms.toFixed(0)} ms`);
          if (this.#comparing.has(uri.toString())) compare(this.#comparing.get(uri.toString())).catch(tell);
          this.#comparing.delete(uri.toString());
          break;
      }
    });
    onDidDispose(() => void heard.dispose());
    webview.options = pageOptions(context.extensionUri);
    webview.html = page(webview, context.extensionUri, { title: basename(uri.path), script: 'webview/timeline.js', style: 'webview/timeline.css' });
  }

  /** A log of the workspace, newest first. */
  async pick(not: vscode.Uri | undefined, question: string): Promise<vscode.Uri | undefined> {
    const logs = (await vscode.workspace.findFiles('**/*.bclog', '**/{node_modules,.git}/**', 500)).filter((log) => log.toString() !== not?.toString());
    const items = await Promise.all(
      logs.map(async (log) => {
        const stat = await vscode.workspace.fs.stat(log);
        return { label: basename(log.path), description: vscode.workspace.asRelativePath(log), detail: `${new Date(stat.mtime).toLocaleString()}, ${(stat.size / 1024).toLocaleString('en', { maximumFractionDigits: 0 })} KiB`, log, mtime: stat.mtime };
      }),
    );
    items.sort((a, b) => b.mtime - a.mtime);
    const other = { label: 'Another file…', description: '', detail: '', log: undefined, mtime: 0 };
    const picked = await vscode.window.showQuickPick([...items, other], { placeHolder: items.length > 0 ? question : 'No .bclog is in the workspace: MSVM_BC_TRACE=1 has a program write one' });
    if (!picked || picked.log) return picked?.log;
    return (await vscode.window.showOpenDialog({ filters: { Traces: ['bclog'] }, canSelectMany: false }))?.[0];
  }
}

export const traces: Feature = (services) => {
  const timelines = new Timelines(services);
  services.context.subscriptions.push(
    vscode.window.registerCustomEditorProvider(EDITOR, timelines, { supportsMultipleEditorsPerDocument: true, webviewOptions: { retainContextWhenHidden: true } }),
    vscode.commands.registerCommand('msvm.openTrace', async (given?: unknown) => {
      const log = given instanceof vscode.Uri ? given : await timelines.pick(undefined, 'Which trace?');
      if (log) await vscode.commands.executeCommand('vscode.openWith', log, EDITOR);
    }),
    vscode.commands.registerCommand('msvm.compareTraces', async (clicked?: unknown, chosen?: unknown) => {
      const logs = (Array.isArray(chosen) ? (chosen as unknown[]) : []).filter((each) => each instanceof vscode.Uri);
      const before = logs[0] ?? (clicked instanceof vscode.Uri ? clicked : await timelines.pick(undefined, 'Which trace comes before?'));
      const after = before && (logs[1] ?? (await timelines.pick(before, 'Which trace comes after?')));
      if (before && after) await timelines.compare(before, after);
    }),
  );
};
