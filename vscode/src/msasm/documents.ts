// Texts of the two languages, read once a version.
import * as vscode from 'vscode';
import { readListing, type Listing } from './model/listing.ts';

/** Files of a person, and listings of programs. */
export const LANGUAGES = ['msasm', 'msbc'] as const;
export const SELECTOR: vscode.DocumentSelector = LANGUAGES.map((language) => ({ language }));

const read = new WeakMap<vscode.TextDocument, { readonly version: number; readonly listing: Listing; readonly lines: readonly string[] }>();

export function listingOf(document: vscode.TextDocument): { readonly listing: Listing; readonly lines: readonly string[] } {
  const known = read.get(document);
  if (known?.version === document.version) return known;
  const text = document.getText();
  const fresh = { version: document.version, listing: readListing(text), lines: text.split('\n') };
  read.set(document, fresh);
  return fresh;
}
