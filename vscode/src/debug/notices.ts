// What a program that is debugged has to tell: native code that came in, a module that doesn't verify.
import * as vscode from 'vscode';
import type { Services } from '../services.ts';
import { unverifiedFile } from './model/configuration.ts';
import { readPatched, readUnverified } from './model/wire.ts';

/** Patches within so many milliseconds are told as one: a model may have dozens of regions. */
const TOGETHER = 300;

export function notices({ context, sessions, output }: Services): void {
  const diagnostics = vscode.languages.createDiagnosticCollection('msvm.session');

  const patches: string[] = [];
  let timer: NodeJS.Timeout | undefined;

  const patched = (body: unknown) => {
    const { text } = readPatched(body);
    output.info(`hot patch: ${text}`);
    vscode.debug.activeDebugConsole.appendLine(`hot patch: ${text}`);
    if (!vscode.workspace.getConfiguration('msvm').get<boolean>('notifyPatches', true)) return;
    patches.push(text);
    timer ??= setTimeout(() => {
      timer = undefined;
      const [last = ''] = patches.slice(-1);
      const more = patches.length > 1 ? ` (and ${patches.length - 1} before, see the debug console)` : '';
      patches.length = 0;
      void vscode.window.showInformationMessage(`MSVM hot patch: ${last}${more}`);
    }, TOGETHER);
  };

  const unverified = async (session: vscode.DebugSession, body: unknown) => {
    const { name, diagnostics: found } = readUnverified(body);
    const { program, cwd } = session.configuration as { program?: unknown; cwd?: unknown };
    const uri = vscode.Uri.file(unverifiedFile(name, typeof program === 'string' ? program : '', typeof cwd === 'string' ? cwd : ''));
    diagnostics.set(
      uri,
      found.map(({ code, message, line, fix }) => {
        const row = Math.max(0, line - 1);
        const diagnostic = new vscode.Diagnostic(new vscode.Range(row, 0, row, Number.MAX_SAFE_INTEGER), fix === '' ? message : `${message}\n${fix}`);
        diagnostic.code = code;
        diagnostic.source = 'msvm';
        return diagnostic;
      }),
    );
    const first = found[0];
    const more = found.length > 1 ? ` and ${found.length - 1} more` : '';
    const chosen = await vscode.window.showErrorMessage(`${name} does not verify: ${first === undefined ? 'see the debug console' : `${first.code} ${first.message}`}${more}`, 'Validate', 'Show');
    if (chosen === 'Validate') await vscode.commands.executeCommand('msvm.validate', uri);
    if (chosen === 'Show') await vscode.commands.executeCommand('workbench.actions.view.problems');
  };

  context.subscriptions.push(
    diagnostics,
    sessions.on('msvm/patched', ({ body }) => patched(body)),
    sessions.on('msvm/verificationFailed', ({ session, body }) => void unverified(session, body)),
    sessions.onDidBegin(() => diagnostics.clear()),
  );
}
