// A session without debugpy debugs bytecode alone: a warning says so, and installs it where the interpreter is known.
import { execFile } from 'node:child_process';
import * as vscode from 'vscode';
import type { Services } from '../services.ts';
import { installing, reason } from './model/debugpy.ts';
import { readBytecodeOnly } from './model/wire.ts';

const INSTALL = 'Install debugpy';
const COPY = 'Copy Command';
const RESTART = 'Restart Session';

interface Ran {
  readonly code: number;
  readonly output: string;
}

const ran = (program: string, args: readonly string[]): Promise<Ran> =>
  new Promise((resolve) => {
    execFile(program, args, { timeout: 600_000 }, (error, stdout, stderr) => resolve({ code: error === null ? 0 : 1, output: `${stdout}\n${stderr}\n${error !== null && stderr === '' ? error.message : ''}` }));
  });

export function debugpy({ context, sessions, output }: Services): void {
  const install = async (session: vscode.DebugSession, python: string) => {
    const { program, args, text } = installing(python);
    const { code, output: said } = await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title: text }, () => ran(program, args));
    output.info(`${text}\n${said.trim()}`);
    if (code !== 0) {
      const chosen = await vscode.window.showErrorMessage(`debugpy isn't installed: ${reason(said)}`, 'Show Output', COPY);
      if (chosen === 'Show Output') output.show();
      if (chosen === COPY) await vscode.env.clipboard.writeText(text);
      return;
    }
    const lives = sessions.live.includes(session);
    const chosen = await vscode.window.showInformationMessage(`debugpy is installed. The next session has Python's lines, steps and variables.`, ...(lives ? [RESTART] : []));
    if (chosen !== RESTART) return;
    if (sessions.live.includes(session)) await vscode.debug.stopDebugging(session);
    await vscode.debug.startDebugging(session.workspaceFolder, session.configuration);
  };

  const told = async (session: vscode.DebugSession, body: unknown) => {
    const { text, python } = readBytecodeOnly(body);
    const chosen = await vscode.window.showWarningMessage(text, ...(python === '' ? [] : [INSTALL, COPY]));
    if (chosen === INSTALL) await install(session, python);
    if (chosen === COPY) await vscode.env.clipboard.writeText(installing(python).text);
  };

  context.subscriptions.push(sessions.on('msvm/bytecodeOnly', ({ session, body }) => void told(session, body)));
}
