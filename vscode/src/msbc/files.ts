// `.msbc` files as text: reading disassembles, saving assembles again with the constants of the file, verifies, asks, and keeps a backup.
import { watch } from 'node:fs';
import { rm } from 'node:fs/promises';
import * as vscode from 'vscode';
import { sentence } from '../msvm/model/mend.ts';
import type { Msvm } from '../msvm/msvm.ts';
import { readFindings, type Finding } from '../validate/model/findings.ts';
import { replaceFile, scratchPath } from './model/backup.ts';
import { fileUri } from './scheme.ts';

/** Answers whether to go on; tests answer without a dialog. */
export type Ask = (question: string, detail: string, yes: string) => Promise<boolean>;

const dialog: Ask = async (question, detail, yes) => (await vscode.window.showWarningMessage(question, { modal: true, detail }, yes)) === yes;

export class BytecodeFiles implements vscode.FileSystemProvider, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly #saved = new vscode.EventEmitter<{ readonly uri: vscode.Uri; readonly backup: string }>();
  readonly #verified = new vscode.EventEmitter<{ readonly uri: vscode.Uri; readonly findings: readonly Finding[] }>();
  readonly onDidChangeFile = this.#changed.event;
  readonly onDidSave = this.#saved.event;
  /** What is wrong with a text that is about to be saved. */
  readonly onDidVerify = this.#verified.event;
  ask: Ask = dialog;

  constructor(readonly msvm: Msvm) {}

  watch(uri: vscode.Uri): vscode.Disposable {
    try {
      const watcher = watch(fileUri(uri).fsPath, () => this.#changed.fire([{ type: vscode.FileChangeType.Changed, uri }]));
      watcher.on('error', () => watcher.close());
      return new vscode.Disposable(() => watcher.close());
    } catch {
      return new vscode.Disposable(() => undefined);
    }
  }

  /** Of the file; the length of its text is not known before it is read. */
  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    const stat = await vscode.workspace.fs.stat(fileUri(uri));
    return { type: stat.type, ctime: stat.ctime, mtime: stat.mtime, size: 0 };
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    const ran = await this.msvm.run(['dis', fileUri(uri).fsPath]).catch((error: unknown) => {
      throw vscode.FileSystemError.Unavailable(sentence(error));
    });
    if (ran.code !== 0) throw vscode.FileSystemError.Unavailable(ran.stderr.replace(/^error: /, '').trim());
    return Buffer.from(ran.stdout);
  }

  async writeFile(uri: vscode.Uri, content: Uint8Array): Promise<void> {
    const path = fileUri(uri).fsPath;
    const name = path.slice(path.lastIndexOf('/') + 1);
    const verified = await this.msvm.run(['verify', '-', '--json', '--constants-of', path], { input: content });
    const findings = readFindings(parsed(verified.stdout));
    this.#verified.fire({ uri, findings });
    const unreadable = findings.find((f) => f.text === null && f.place.line > 0 && f.place.instruction < 0);
    if (unreadable) throw vscode.FileSystemError.Unavailable(`${name} is not saved: line ${unreadable.place.line}: ${unreadable.message}`);
    const count = `${findings.length} finding${findings.length === 1 ? '' : 's'}`;
    const detail = `The text is assembled, with the constants of the file as it is. The former file is kept as ${name}.bak.`;
    const question = findings.length > 0 ? `Save ${name} with ${count}? It can't run before they are mended.` : `Save ${name}?`;
    if (!(await this.ask(question, detail, 'Save'))) throw vscode.FileSystemError.Unavailable(`${name} is not saved`);
    const scratch = scratchPath(path, `${process.pid}.${Date.now().toString(36)}`);
    const made = await this.msvm.run(['asm', '-', '-o', scratch, '--constants-of', path], { input: content });
    if (made.code !== 0) {
      await rm(scratch, { force: true });
      throw vscode.FileSystemError.Unavailable(made.stderr.replace(/^error: /, '').trim());
    }
    const backup = await replaceFile(path, scratch);
    this.#saved.fire({ uri, backup });
  }

  readDirectory(): [string, vscode.FileType][] {
    return [];
  }
  createDirectory(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }
  delete(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }
  rename(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  dispose(): void {
    this.#changed.dispose();
    this.#saved.dispose();
    this.#verified.dispose();
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return [];
  }
}
