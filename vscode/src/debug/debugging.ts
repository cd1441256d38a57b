// Debug sessions of type `msvm`: the adapter is `msvm dap`.
import * as vscode from 'vscode';
import { sentence } from '../msvm/model/mend.ts';
import type { Feature } from '../services.ts';
import { versionCheck } from './check.ts';
import { configurationProvider, dynamicConfigurations, pythonProvider } from './configuration.ts';
import { debugpy } from './debugpy.ts';
import { launching } from './launch.ts';
import { TYPE } from './model/names.ts';
import { notices } from './notices.ts';
import { pickProcess } from './processes.ts';

export const debugging: Feature = (services) => {
  const { context, msvm } = services;
  context.subscriptions.push(
    vscode.debug.registerDebugAdapterDescriptorFactory(TYPE, {
      createDebugAdapterDescriptor: async () => {
        const path = await msvm.path().catch((error: unknown) => {
          throw new Error(sentence(error)); // shown as it is
        });
        return new vscode.DebugAdapterExecutable(path, ['dap']);
      },
    }),
    vscode.debug.registerDebugConfigurationProvider(TYPE, configurationProvider(services)),
    vscode.debug.registerDebugConfigurationProvider(TYPE, dynamicConfigurations(), vscode.DebugConfigurationProviderTriggerKind.Dynamic),
    ...['debugpy', 'python'].map((type) => vscode.debug.registerDebugConfigurationProvider(type, pythonProvider())),
    vscode.commands.registerCommand('msvm.pickProcess', async () => (await pickProcess(services))?.toString()),
  );
  versionCheck(services);
  launching(services);
  notices(services);
  debugpy(services);
};
