// Asks for the sizes of a module's inputs where a launch gives none and some are open; remembers the answer.
import * as vscode from 'vscode';
import type { Services } from '../services.ts';
import { parsed, propose, readInfo } from './model/shapes.ts';

/** Undefined: the user has given up. */
export async function withShapes({ context, msvm, output }: Services, configuration: vscode.DebugConfiguration): Promise<vscode.DebugConfiguration | undefined> {
  const { program, shapes, inputs, function: name } = configuration as { program?: string; shapes?: unknown[]; inputs?: object; function?: string };
  if (program === undefined || (shapes?.length ?? 0) > 0 || Object.keys(inputs ?? {}).length > 0) return configuration;
  const answer = await msvm.json(['info', program, '--json']).catch((error: unknown) => {
    output.info(`sizes of ${program}: ${String(error)}`); // the adapter says what is wrong with it, in full
    return undefined;
  });
  const proposal = propose(readInfo(answer), name);
  if (proposal?.open !== true) return configuration;
  const key = `shapes ${program} ${name ?? ''}`;
  const typed = await vscode.window.showInputBox({
    title: `MSVM: sizes of the inputs of ${name === undefined ? 'the program' : `@${name}`}`,
    prompt: `${proposal.inputs}. The values are random; "inputs" in launch.json gives files.`,
    value: context.workspaceState.get<string>(key) ?? proposal.shapes.join(' '),
    ignoreFocusOut: true,
    validateInput: (text) => {
      const found = parsed(text);
      return typeof found === 'string' ? found : undefined;
    },
  });
  const chosen = typed === undefined ? '' : parsed(typed);
  if (typed === undefined || typeof chosen === 'string') return undefined;
  await context.workspaceState.update(key, typed);
  return { ...configuration, shapes: chosen };
}
