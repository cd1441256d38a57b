// The status bar: what the program that is debugged runs in now.
import * as vscode from 'vscode';
import { readStatus } from '../debug/model/wire.ts';
import type { Feature } from '../services.ts';

export const status: Feature = ({ context, sessions, shown }) => {
  const item = vscode.window.createStatusBarItem('msvm.mode', vscode.StatusBarAlignment.Left, 40);
  item.name = 'MSVM mode';
  item.command = 'msvm.registers.focus';

  const show = (body: unknown) => {
    const { text, mode, signature, address } = readStatus(body);
    if (text === '' || sessions.live.length === 0) return; // an answer that came after the end
    item.text = shown.mode = text;
    item.tooltip = mode === 'jit' ? `Native code ${signature} runs${address === '' ? '' : ` at ${address}`}` : 'Instructions are interpreted one by one';
    item.backgroundColor = mode === 'jit' ? new vscode.ThemeColor('statusBarItem.prominentBackground') : undefined;
    item.show();
  };

  context.subscriptions.push(
    item,
    sessions.on('msvm/status', ({ session, body }) => {
      if (session === sessions.current) show(body);
    }),
    vscode.debug.onDidChangeActiveDebugSession(async () => {
      if (sessions.current !== undefined) show(await sessions.request('msvm/status').catch(() => undefined));
    }),
    sessions.onDidEnd(() => {
      if (sessions.live.length > 0) return;
      shown.mode = undefined;
      item.hide();
    }),
  );
};
