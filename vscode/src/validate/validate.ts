// Validate BC File: what the verifier finds, at its instruction, with what mends it.
import { dirname } from 'node:path';
import * as vscode from 'vscode';
import { character } from '../msasm/model/columns.ts';
import { fileUri, isBytecodeFile, isListing, listingUri, SCHEME } from '../msbc/scheme.ts';
import { sentence } from '../msvm/model/mend.ts';
import type { Feature, Services } from '../services.ts';
import { explained, fixTitle, readFindings, type Finding } from './model/findings.ts';

/** A diagnostic that remembers the finding it shows. */
class FoundDiagnostic extends vscode.Diagnostic {
  constructor(
    range: vscode.Range,
    readonly finding: Finding,
  ) {
    super(range, explained(finding), vscode.DiagnosticSeverity.Error);
    this.code = finding.code;
    this.source = 'msvm';
  }
}

/** What a validation came to. */
export interface Validated {
  readonly uri: vscode.Uri;
  readonly findings: readonly Finding[];
}

export class Validation implements vscode.Disposable {
  readonly #diagnostics = vscode.languages.createDiagnosticCollection('msvm');
  readonly #services: Services;

  constructor(services: Services) {
    this.#services = services;
  }

  /** Of a text as it stands in its editor, saved or not. */
  async text(document: vscode.TextDocument): Promise<Validated> {
    const listing = isListing(document.uri);
    const args = ['verify', '-', '--json', ...(listing ? ['--constants-of', fileUri(document.uri).fsPath] : [])];
    const folder = document.uri.scheme === 'untitled' ? undefined : dirname(document.uri.path);
    const version = document.version;
    const ran = await this.#services.msvm.run(args, { input: document.getText(), ...(folder === undefined ? {} : { cwd: folder }) });
    if (ran.code > 1 && ran.stdout.trim() === '') throw new Error(ran.stderr.trim());
    const findings = readFindings(JSON.parse(ran.stdout));
    if (document.version === version) this.show(document, findings);
    return { uri: document.uri, findings };
  }

  /** Of a file, opened or not. Findings of a `.msbc` stand in its listing. */
  async file(file: vscode.Uri): Promise<Validated> {
    if (!isBytecodeFile(file)) return this.text(await vscode.workspace.openTextDocument(file));
    const ran = await this.#services.msvm.run(['verify', file.fsPath, '--json', '--data']);
    const findings = readFindings(JSON.parse(ran.stdout));
    const unreadable = findings.find((f) => f.place.function === '' && f.text === null && f.place.instruction < 0);
    if (unreadable) throw new Error(unreadable.message);
    const document = await vscode.workspace.openTextDocument(listingUri(file));
    if (document.isDirty) return this.text(document);
    this.show(document, findings);
    return { uri: document.uri, findings };
  }

  show(document: vscode.TextDocument, findings: readonly Finding[]): void {
    this.#diagnostics.set(
      document.uri,
      findings.map((f) => new FoundDiagnostic(rangeOf(document, f), f)),
    );
  }

  clear(uri: vscode.Uri): void {
    this.#diagnostics.delete(uri);
  }

  dispose(): void {
    this.#diagnostics.dispose();
  }
}

function position(document: vscode.TextDocument, line: number, column: number): vscode.Position {
  const at = Math.min(Math.max(0, line - 1), document.lineCount - 1);
  return new vscode.Position(at, character(document.lineAt(at).text, column));
}

/** The statement; of what can't be read, from its column on; of what has no instruction, the line of its function. */
function rangeOf(document: vscode.TextDocument, f: Finding): vscode.Range {
  if (f.text) return new vscode.Range(position(document, f.text.line, f.text.column), position(document, f.text.end_line, f.text.end_column));
  if (f.place.line > 0 && f.place.line <= document.lineCount && f.place.instruction < 0) {
    const from = position(document, f.place.line, Math.max(1, f.place.column));
    const word = document.getWordRangeAtPosition(from);
    return new vscode.Range(from, word?.start.isEqual(from) === true ? word.end : document.lineAt(from.line).range.end);
  }
  for (let line = 0; line < document.lineCount; line++) {
    const { text, range } = document.lineAt(line);
    if (f.place.function !== '' && text.startsWith(`func ${f.place.function}(`)) return range;
  }
  return document.lineAt(0).range;
}

export function editOf(document: vscode.TextDocument, f: Finding): vscode.WorkspaceEdit {
  const edit = new vscode.WorkspaceEdit();
  for (const e of f.edits) edit.replace(document.uri, new vscode.Range(position(document, e.line, e.column), position(document, e.end_line, e.end_column)), e.new_text);
  return edit;
}

const DID_YOU_MEAN = /did you mean (\w+)\?/;

const fixes: vscode.CodeActionProvider = {
  provideCodeActions(document, _range, context) {
    const actions: vscode.CodeAction[] = [];
    for (const diagnostic of context.diagnostics) {
      if (!(diagnostic instanceof FoundDiagnostic)) continue;
      const { finding } = diagnostic;
      const meant = DID_YOU_MEAN.exec(finding.fix)?.[1];
      if (finding.edits.length === 0 && meant === undefined) continue;
      const action = new vscode.CodeAction(finding.edits.length > 0 ? fixTitle(finding) : `Write ${meant ?? ''}`, vscode.CodeActionKind.QuickFix);
      action.diagnostics = [diagnostic];
      action.isPreferred = true;
      if (finding.edits.length > 0) {
        action.edit = editOf(document, finding);
      } else {
        action.edit = new vscode.WorkspaceEdit();
        action.edit.replace(document.uri, diagnostic.range, meant ?? '');
      }
      action.command = { title: 'Validate', command: 'msvm.mended', arguments: [document.uri] };
      actions.push(action);
    }
    return actions;
  },
};

/** The file that a command is about: of a menu, or of the editor in front. */
function subject(given: unknown): vscode.Uri | undefined {
  if (given instanceof vscode.Uri) return given;
  const tab = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
  return vscode.window.activeTextEditor?.document.uri ?? (tab instanceof vscode.TabInputText || tab instanceof vscode.TabInputCustom ? tab.uri : undefined);
}

export const validate: Feature = (services) => {
  const { context, output, files } = services;
  const validation = new Validation(services);
  const isProgram = (document: vscode.TextDocument) => document.languageId === 'msasm' || document.uri.scheme === SCHEME;
  const quietly = (document: vscode.TextDocument) => {
    if (!isProgram(document)) return;
    validation.text(document).catch((error: unknown) => output.warn(`validation of ${document.uri.path}: ${sentence(error)}`));
  };
  context.subscriptions.push(
    validation,
    vscode.commands.registerCommand('msvm.validate', async (given?: unknown) => {
      const uri = subject(given);
      if (!uri || !/\.(msasm|msbc)$/i.test(uri.path)) {
        void vscode.window.showErrorMessage('Validate BC File: expected a .msasm or .msbc file in front, found none. Open one, or use the menu of the explorer.');
        return undefined;
      }
      try {
        const done = uri.scheme === SCHEME ? await validation.text(await vscode.workspace.openTextDocument(uri)) : await validation.file(uri);
        await tell(done);
        return done;
      } catch (error) {
        void vscode.window.showErrorMessage(`Validate BC File: ${sentence(error)}`);
        return undefined;
      }
    }),
    vscode.commands.registerCommand('msvm.mended', async (uri: vscode.Uri) => {
      const document = await vscode.workspace.openTextDocument(uri);
      if (uri.scheme === SCHEME) await document.save();
      await validation.text(document);
    }),
    vscode.languages.registerCodeActionsProvider([{ language: 'msasm' }, { scheme: SCHEME }], fixes, { providedCodeActionKinds: [vscode.CodeActionKind.QuickFix] }),
    vscode.workspace.onDidSaveTextDocument(quietly),
    files.onDidVerify(({ uri, findings }) => {
      const document = vscode.workspace.textDocuments.find((each) => each.uri.toString() === uri.toString());
      if (document) validation.show(document, findings);
    }),
    vscode.workspace.onDidOpenTextDocument(quietly),
    vscode.workspace.onDidCloseTextDocument((document) => validation.clear(document.uri)),
  );
  vscode.workspace.textDocuments.forEach(quietly);
};

async function tell({ uri, findings }: Validated): Promise<void> {
  const name = uri.path.slice(uri.path.lastIndexOf('/') + 1);
  const [first] = findings;
  if (!first) {
    void vscode.window.showInformationMessage(`${name} passes the verifier.`);
    return;
  }
  const document = await vscode.workspace.openTextDocument(uri);
  const editor = await vscode.window.showTextDocument(document, { preview: false });
  const range = rangeOf(document, first);
  editor.selection = new vscode.Selection(range.start, range.start);
  editor.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  await vscode.commands.executeCommand('workbench.actions.view.problems');
  const mendable = findings.filter((f) => f.edits.length > 0).length;
  void vscode.window.showWarningMessage(`${name}: ${findings.length} finding${findings.length === 1 ? '' : 's'}${mendable > 0 ? `, ${mendable} with a quick fix` : ''}.`);
}
