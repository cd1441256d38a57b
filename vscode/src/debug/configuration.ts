// Debug configurations: F5 without launch.json, those of launch.json completed.
import * as vscode from 'vscode';
import type { Services } from '../services.ts';
import { activeFile } from './active_file.ts';
import { fileConfiguration, launchable, needsShapes, resolve } from './model/configuration.ts';
import { TYPE } from './model/names.ts';
import { withShapes } from './ask_shapes.ts';
import { pickProcess } from './processes.ts';

export function configurationProvider(services: Services): vscode.DebugConfigurationProvider {
  return {
    async resolveDebugConfiguration(_folder, configuration) {
      if (configuration.type === TYPE && configuration.request === 'attach' && configuration.processId === undefined && configuration.address === undefined) {
        const picked = await pickProcess(services);
        return picked === undefined ? undefined : { ...configuration, processId: picked };
      }
      const file = activeFile();
      if (!configuration.type && launchable(file)) return fileConfiguration(file);
      return configuration;
    },
    async resolveDebugConfigurationWithSubstitutedVariables(folder, configuration) {
      const file = activeFile();
      const resource = folder?.uri ?? vscode.window.activeTextEditor?.document.uri;
      const resolved = resolve(configuration, { file, folder: folder?.uri.fsPath, python: await services.msvm.python(resource) });
      if ('configuration' in resolved) return needsShapes(resolved.configuration) ? withShapes(services, resolved.configuration) : resolved.configuration;
      const isOfFile = configuration.request === 'launch' || configuration.request === 'attach';
      const chosen = await vscode.window.showErrorMessage(resolved.error, { modal: true, detail: resolved.mend }, ...(isOfFile ? ['Open launch.json'] : []));
      return chosen === undefined ? undefined : null; // null opens launch.json
    },
  };
}

/** What "Select and Start Debugging" offers: the file that is open, and attaching. */
export function dynamicConfigurations(): vscode.DebugConfigurationProvider {
  return {
    provideDebugConfigurations() {
      const file = activeFile();
      const attach = { type: TYPE, request: 'attach', name: 'MSVM: Attach to a process', processId: '${command:msvm.pickProcess}' };
      return launchable(file) ? [{ type: TYPE, request: 'launch', name: 'MSVM: Debug the active file', program: '${file}', stopOnEntry: true }, attach] : [attach];
    },
  };
}

/** F5 on a Python file without a launch file is the Python extension's; with msvm.debugMode it is ours. */
export function pythonProvider(): vscode.DebugConfigurationProvider {
  return {
    resolveDebugConfiguration(folder, configuration) {
      const empty = !configuration.type && !configuration.request && !configuration.name;
      const file = activeFile();
      const wanted = vscode.workspace.getConfiguration('msvm', folder).get<boolean>('debugMode', false);
      return empty && wanted && launchable(file) ? fileConfiguration(file) : configuration;
    },
  };
}
