// Looking at the values of tensors, and saving them.
import * as vscode from 'vscode';
import { bytes } from '../registers/model/units.ts';
import type { Node } from '../registers/tree.ts';
import { sentence } from '../msvm/model/mend.ts';
import type { Feature, Services } from '../services.ts';
import { ValuesPanel } from './panel.ts';

/** Asked with a row of MS Registers, an expression, a variable of the VARIABLES view, or nothing: then the user is asked. */
type Subject = Node | string | { readonly variable?: { readonly name?: string; readonly evaluateName?: string } } | undefined;

async function expressionOf(subject: Subject): Promise<string | undefined> {
  if (typeof subject === 'string') return subject;
  if (subject !== undefined && 'type' in subject) return subject.type === 'register' ? subject.row.register : undefined;
  const variable = subject?.variable;
  if (variable !== undefined) return variable.evaluateName ?? variable.name;
  return vscode.window.showInputBox({ title: 'MSVM: View values', prompt: 'A register or a slice of one', placeHolder: 'R3, or R3[0, :, 10:20]' });
}

export const values: Feature = (services) => {
  const { context, sessions } = services;
  const open = new Map<string, ValuesPanel>();

  const view = async (subject: Subject): Promise<ValuesPanel | undefined> => {
    const at = sessions.waiting;
    if (at === undefined) {
      void vscode.window.showInformationMessage('Values can be looked at while an MSVM session waits: set a breakpoint, or pause it.');
      return undefined;
    }
    const expression = await expressionOf(subject);
    if (expression === undefined || expression === '') return undefined;
    const there = open.get(expression);
    if (there !== undefined) {
      there.reveal(at);
      return there;
    }
    const panel = new ValuesPanel(context.extensionUri, sessions, expression, at);
    open.set(expression, panel);
    panel.onDidDispose(() => open.delete(expression));
    return panel;
  };

  context.subscriptions.push(
    vscode.commands.registerCommand('msvm.viewValues', view),
    vscode.commands.registerCommand('msvm.saveTensor', async (subject: Subject, target?: vscode.Uri) => save(services, await expressionOf(subject), target)),
  );
};

async function save({ sessions }: Services, expression: string | undefined, target: vscode.Uri | undefined): Promise<void> {
  const at = sessions.waiting;
  if (expression === undefined || at === undefined) return;
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const name = `${expression.replaceAll(/\W+/g, '_')}.npy`;
  const file = target ?? (await vscode.window.showSaveDialog({ title: `Save ${expression}`, filters: { NumPy: ['npy'] }, ...(folder === undefined ? {} : { defaultUri: vscode.Uri.joinPath(folder, name) }) }));
  if (file === undefined) return;
  try {
    const saved = (await at.session.customRequest('msvm/saveTensor', { threadId: at.threadId, expression, path: file.fsPath })) as { path?: string; bytes?: number };
    void vscode.window.showInformationMessage(`${expression} is saved: ${saved.path ?? file.fsPath}, ${bytes(saved.bytes ?? 0)}`);
  } catch (error) {
    void vscode.window.showErrorMessage(`${expression} can't be saved: ${sentence(error)}`);
  }
}
