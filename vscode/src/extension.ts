import * as vscode from 'vscode';
import { Sessions } from './debug/sessions.ts';
import { features } from './features.ts';
import { BytecodeFiles } from './msbc/files.ts';
import { findMsvm } from './msvm/msvm.ts';
import type { Services } from './services.ts';

export function activate(context: vscode.ExtensionContext): Services {
  const output = vscode.window.createOutputChannel('MSVM', { log: true });
  const sessions = new Sessions();
  context.subscriptions.push(output, sessions);
  const msvm = findMsvm(output);
  const services: Services = { context, output, msvm, files: new BytecodeFiles(msvm), sessions, shown: { mode: undefined, registers: [] } };
  for (const feature of features) feature(services);
  return services;
}
