// Debug sessions of type `msvm`: the adapter is `msvm dap`.
import * as vscode from 'vscode';
import type { Feature } from '../services.ts';
import { TYPE } from './model/names.ts';

export const debugging: Feature = ({ context, msvm }) => {
  context.subscriptions.push(
    vscode.debug.registerDebugAdapterDescriptorFactory(TYPE, {
      createDebugAdapterDescriptor: async () => new vscode.DebugAdapterExecutable(await msvm.path(), ['dap']),
    }),
  );
};
