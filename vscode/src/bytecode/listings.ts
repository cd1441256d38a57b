// Listings of programs by document: asked from their session, and kept when it is over.
import * as vscode from 'vscode';
import { SCHEME } from '../debug/model/names.ts';
import { readListing, readListingChanged, readProgramLoaded, type Listing } from '../debug/model/wire.ts';
import type { Sessions } from '../debug/sessions.ts';
import { placesWithin } from './model/listing.ts';

interface Kept {
  readonly session: string;
  readonly listing: Listing;
}

export const isListing = (uri: vscode.Uri): boolean => uri.scheme === SCHEME && uri.authority === 'bc';
/** "0x0" of msvm://bc/0x0/neck: the name behind it is for people. */
const addressOf = (uri: vscode.Uri): string => uri.path.split('/')[1] ?? '';

export class Listings implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #kept = new Map<string, Kept>();
  readonly #text = new vscode.EventEmitter<vscode.Uri>();
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly #sessions: Sessions;
  readonly #subscriptions: vscode.Disposable[];

  readonly onDidChange = this.#text.event;
  /** Also where only tiers are other ones. */
  readonly onDidChangeListing = this.#changed.event;

  constructor(sessions: Sessions) {
    this.#sessions = sessions;
    this.#subscriptions = [
      sessions.on('msvm/listingChanged', ({ session, body }) => void this.#refresh(session, readListingChanged(body).uri)),
      sessions.on('msvm/programLoaded', ({ session, body }) => void this.#refresh(session, readProgramLoaded(body).uri)),
    ];
  }

  of(uri: vscode.Uri): Listing | undefined {
    return this.#kept.get(uri.toString())?.listing;
  }

  /** Programs whose listings are there. */
  get all(): readonly Listing[] {
    return [...this.#kept.values()].map(({ listing }) => listing);
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const session = this.#sessions.current;
    const key = uri.toString();
    if (session !== undefined && this.#kept.get(key)?.session !== session.id) await this.#ask(session, uri);
    return this.of(uri)?.text ?? `; There is no bytecode at ${addressOf(uri)}: no MSVM session is running that has loaded a program there.\n`;
  }

  /** Asks again where a document or a listing of it is there. */
  async #refresh(session: vscode.DebugSession, name: string): Promise<void> {
    if (name === '') return;
    const uri = vscode.Uri.parse(name);
    const open = vscode.workspace.textDocuments.some((document) => document.uri.toString() === uri.toString());
    if (!open && !this.#kept.has(uri.toString())) return;
    const before = this.of(uri)?.text;
    await this.#ask(session, uri);
    if (this.of(uri)?.text !== before) this.#text.fire(uri);
  }

  async #ask(session: vscode.DebugSession, uri: vscode.Uri): Promise<void> {
    try {
      const asked = readListing(await session.customRequest('msvm/listing', { address: addressOf(uri) }));
      const folders = (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath);
      const listing = { ...asked, text: placesWithin(asked.text, folders) };
      this.#kept.set(uri.toString(), { session: session.id, listing });
      this.#changed.fire(uri);
    } catch {
      // The session has no program there, or is over: what is kept stays readable.
    }
  }

  dispose(): void {
    for (const each of [...this.#subscriptions, this.#text, this.#changed]) each.dispose();
  }
}
