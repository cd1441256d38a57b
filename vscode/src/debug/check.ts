// At the start of a session: do extension, program, formats and capability database fit together?
import * as vscode from 'vscode';
import type { Services } from '../services.ts';
import { mismatch } from './model/versions.ts';
import { readVersions } from './model/wire.ts';

export function versionCheck({ context, sessions, msvm, output }: Services): void {
  const said = new Set<string>();
  context.subscriptions.push(
    sessions.onDidBegin(async (session) => {
      const answer: unknown = await sessions.request('msvm/versions', {}, session).catch(() => ({}));
      const found = readVersions(answer);
      output.info(`session ${session.name}: msvm ${found.msvm}, format ${found.format}, capability database ${found.capabilityDb.patch || 'built in'}`);
      const { version } = context.extension.packageJSON as { version: string };
      const wrong = mismatch(version, found, await msvm.path());
      if (wrong === undefined || said.has(wrong.text)) return;
      said.add(wrong.text);
      await vscode.window.showWarningMessage(`${wrong.text}. ${wrong.mend}`);
    }),
  );
}
