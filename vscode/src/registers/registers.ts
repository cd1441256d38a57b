// The view MS Registers, and what can be done with what it shows.
import * as vscode from 'vscode';
import type { Feature } from '../services.ts';
import { CHANGED, RegisterTree, type Node } from './tree.ts';

/** A step is shorter than this: rows stay until it is over. */
const SETTLES = 250;

/** Colours the labels of registers that the last step changed. */
const changed: vscode.FileDecorationProvider = {
  provideFileDecoration(uri) {
    if (uri.scheme !== CHANGED) return undefined;
    if (uri.query === 'changed') return new vscode.FileDecoration('●', 'changed by the last step', new vscode.ThemeColor('msvm.changed'));
    return uri.query === 'unset' ? new vscode.FileDecoration(undefined, undefined, new vscode.ThemeColor('disabledForeground')) : undefined;
  },
};

export const registers: Feature = ({ context, sessions, shown }) => {
  const tree = new RegisterTree(sessions, (rows, message) => {
    shown.registers = rows;
    view.message = message ?? '';
  });
  const view = vscode.window.createTreeView<Node>('msvm.registers', { treeDataProvider: tree, showCollapseAll: true });

  let timer: NodeJS.Timeout | undefined;
  const refresh = (after: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => void tree.refresh(view.visible), after);
  };
  context.subscriptions.push(
    tree,
    view,
    vscode.window.registerFileDecorationProvider(changed),
    sessions.onDidChangeStopped((stopped) => refresh(stopped === undefined ? SETTLES : 0)),
    vscode.debug.onDidChangeActiveStackItem(() => {
      if (sessions.waiting !== undefined) refresh(0);
    }),
    sessions.onDidEnd(() => {
      clearTimeout(timer);
      if (sessions.live.length > 0) refresh(0);
      else tree.clear();
    }),
    vscode.commands.registerCommand('msvm.copyValue', async (node: Node) => {
      if (node.type === 'register') await vscode.env.clipboard.writeText(`${node.row.label} ${node.row.value}`);
      if (node.type === 'field') await vscode.env.clipboard.writeText(node.field.value);
    }),
  );
};
