// What an editor knows of `.msasm`: hovers, definitions, references, renaming, symbols, completion.
import * as vscode from 'vscode';
import type { Feature } from '../services.ts';
import { listingOf, SELECTOR } from './documents.ts';
import { complete, type ItemKind } from './model/complete.ts';
import { attributeAt, instructionDoc, nameDoc, operatorDoc } from './model/docs.ts';
import type { Name, Place } from './model/listing.ts';
import { instruction, operator } from './model/tables.ts';

const range = (p: Place): vscode.Range => new vscode.Range(p.line, p.start, p.line, p.end);
const within = (p: Place | undefined, at: vscode.Position): boolean => p?.line === at.line && p.start <= at.character && at.character <= p.end;

const KINDS: Readonly<Record<ItemKind, vscode.CompletionItemKind>> = {
  instruction: vscode.CompletionItemKind.Keyword,
  operator: vscode.CompletionItemKind.Function,
  kind: vscode.CompletionItemKind.EnumMember,
  register: vscode.CompletionItemKind.Variable,
  block: vscode.CompletionItemKind.Reference,
  constant: vscode.CompletionItemKind.Constant,
  symbol: vscode.CompletionItemKind.TypeParameter,
  attribute: vscode.CompletionItemKind.Property,
  value: vscode.CompletionItemKind.Value,
  type: vscode.CompletionItemKind.Struct,
  keyword: vscode.CompletionItemKind.Snippet,
};

const hover: vscode.HoverProvider = {
  provideHover(document, at) {
    const { listing, lines } = listingOf(document);
    const operation = listing.operations.get(at.line);
    if (operation) {
      const known = instruction(operation.mnemonic);
      if (within(operation.place, at) && known) return new vscode.Hover(new vscode.MarkdownString(instructionDoc(known)), range(operation.place));
      if (within(operation.kind?.place, at) && operation.kind && known) return new vscode.Hover(new vscode.MarkdownString(instructionDoc(known, operation.kind.name)), range(operation.kind.place));
      if (within(operation.operator?.place, at) && operation.operator) {
        const op = operator(operation.operator.name);
        const text = op ? operatorDoc(op) : `\`${operation.operator.name}\` is not in the operator table: the program registers it, or it doesn't exist`;
        return new vscode.Hover(new vscode.MarkdownString(text), range(operation.operator.place));
      }
    }
    const name = listing.at(at.line, at.character);
    if (name) return new vscode.Hover(new vscode.MarkdownString(nameDoc(name.name, lines)), range(name.place));
    const word = document.getWordRangeAtPosition(at);
    const doc = word && attributeAt(lines[at.line] ?? '', word.start.character, word.end.character, operation, operator);
    return doc === undefined ? undefined : new vscode.Hover(new vscode.MarkdownString(doc), word);
  },
};

const definition: vscode.DefinitionProvider = {
  provideDefinition(document, at) {
    const found = listingOf(document).listing.at(at.line, at.character)?.name.definition;
    return found && new vscode.Location(document.uri, range(found));
  },
};

const references: vscode.ReferenceProvider = {
  provideReferences(document, at, context) {
    const name = listingOf(document).listing.at(at.line, at.character)?.name;
    const places = name?.places.filter((p) => context.includeDeclaration || !(p.line === name.definition?.line && p.start === name.definition.start));
    return places?.map((p) => new vscode.Location(document.uri, range(p)));
  },
};

const highlights: vscode.DocumentHighlightProvider = {
  provideDocumentHighlights(document, at) {
    const name = listingOf(document).listing.at(at.line, at.character)?.name;
    return name?.places.map((p) => {
      const defines = p.line === name.definition?.line && p.start === name.definition.start;
      return new vscode.DocumentHighlight(range(p), defines ? vscode.DocumentHighlightKind.Write : vscode.DocumentHighlightKind.Read);
    });
  },
};

const PATTERNS: Readonly<Record<Name['kind'], readonly [RegExp, string]>> = {
  register: [/^R\d{1,7}$/, 'R and a number, R12'],
  block: [/^b\d{1,7}$/, 'b and a number, b3'],
  constant: [/^%(?:[A-Za-z_][A-Za-z0-9_.]*|"(?:\\.|[^"\\])*")$/, '% and a name, %weight'],
  function: [/^@(?:[A-Za-z_][A-Za-z0-9_.]*|"(?:\\.|[^"\\])*")$/, '@ and a name, @main'],
  symbol: [/^(?!R\d+$)(?:[A-Za-z_][A-Za-z0-9_.]*|"(?:\\.|[^"\\])*")$/, 'a name that isn’t a register’s'],
};

const rename: vscode.RenameProvider = {
  prepareRename(document, at) {
    const found = listingOf(document).listing.at(at.line, at.character);
    if (!found) throw new Error('Registers, blocks, symbols, constants and functions can be renamed');
    return range(found.place);
  },
  provideRenameEdits(document, at, to) {
    const { listing } = listingOf(document);
    const name = listing.at(at.line, at.character)?.name;
    if (!name) return undefined;
    const [pattern, expected] = PATTERNS[name.kind];
    if (!pattern.test(to)) throw new Error(`Expected ${expected}; found ${to}`);
    if (listing.names.some((n) => n !== name && n.kind === name.kind && n.scope === name.scope && n.name === to)) throw new Error(`${to} is taken`);
    const edit = new vscode.WorkspaceEdit();
    for (const p of name.places) edit.replace(document.uri, range(p), to);
    return edit;
  },
};

const symbols: vscode.DocumentSymbolProvider = {
  provideDocumentSymbols(document) {
    const { listing, lines } = listingOf(document);
    const whole = (from: number, to: number) => new vscode.Range(from, 0, to, (lines[to] ?? '').length);
    const all = listing.functions.map((f) => {
      const part = new vscode.DocumentSymbol(f.name, f.detail, vscode.SymbolKind.Function, whole(f.line, f.end), whole(f.line, f.line));
      part.children = f.blocks.map((b) => new vscode.DocumentSymbol(b.name, '', vscode.SymbolKind.Key, whole(b.line, Math.max(b.line, b.end)), whole(b.line, b.line)));
      return part;
    });
    const module = listing.names
      .filter((n) => (n.kind === 'constant' || n.kind === 'symbol') && n.definition)
      .map((n) => {
        const line = n.definition?.line ?? 0;
        return new vscode.DocumentSymbol(n.name, '', n.kind === 'constant' ? vscode.SymbolKind.Constant : vscode.SymbolKind.TypeParameter, whole(line, line), n.definition ? range(n.definition) : whole(line, line));
      });
    return [...module, ...all];
  },
};

const completion: vscode.CompletionItemProvider = {
  provideCompletionItems(document, at) {
    const { listing, lines } = listingOf(document);
    const before = (lines[at.line] ?? '').slice(0, at.character);
    const typed = /[%@]?[\w.]*$/.exec(before)?.[0] ?? '';
    const replaced = new vscode.Range(at.line, at.character - typed.length, at.line, at.character);
    return complete(listing, lines, at.line, at.character).map((item) => {
      const entry = new vscode.CompletionItem(item.label, KINDS[item.kind]);
      entry.range = replaced;
      if (item.detail !== undefined) entry.detail = item.detail;
      if (item.doc !== undefined) entry.documentation = new vscode.MarkdownString(item.doc);
      if (item.insert !== undefined) entry.insertText = new vscode.SnippetString(item.insert);
      return entry;
    });
  },
};

export const language: Feature = ({ context }) => {
  context.subscriptions.push(
    vscode.languages.registerHoverProvider(SELECTOR, hover),
    vscode.languages.registerDefinitionProvider(SELECTOR, definition),
    vscode.languages.registerReferenceProvider(SELECTOR, references),
    vscode.languages.registerDocumentHighlightProvider(SELECTOR, highlights),
    vscode.languages.registerRenameProvider(SELECTOR, rename),
    vscode.languages.registerDocumentSymbolProvider(SELECTOR, symbols),
    vscode.languages.registerCompletionItemProvider(SELECTOR, completion, '%', '@', '{', ' '),
  );
};
