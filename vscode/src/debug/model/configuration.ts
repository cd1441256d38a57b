// What a debug configuration becomes before it is sent to the adapter: pure rules, no editor.
import { extname, resolve as absolute } from 'node:path';
import { TYPE } from './names.ts';

/** A configuration as it is in launch.json; anything may be missing or wrong. */
export interface Configuration {
  readonly type?: string;
  readonly name?: string;
  readonly request?: string;
  readonly [key: string]: unknown;
}

export interface Surroundings {
  /** The file in the active editor, if it is one of the file system's. */
  readonly file: string | undefined;
  readonly folder: string | undefined;
  readonly python: string | undefined;
}

export type Named = Configuration & { type: string; name: string; request: string };
export type Resolved = { readonly configuration: Named } | { readonly error: string; readonly mend: string };

export const PROGRAMS = ['.py', '.msbc', '.msasm', '.onnx'] as const;

export const launchable = (file: string | undefined): file is string => file !== undefined && (PROGRAMS as readonly string[]).includes(extname(file).toLowerCase());
export const isPython = (file: string): boolean => extname(file).toLowerCase() === '.py';

/** The file that a finding is about: a module that a Python program has loaded, else the program itself. */
export const unverifiedFile = (name: string, program: string, cwd: string): string => (launchable(name) && !isPython(name) ? absolute(cwd, name) : program || name);

/** A launch of a module: its inputs come from nowhere else. */
export const needsShapes = ({ request, program }: Named): boolean => request === 'launch' && typeof program === 'string' && !isPython(program);

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The configuration that F5 takes where no launch.json says another: the file in the active editor. */
export function fileConfiguration(file: string): Named {
  return { type: TYPE, request: 'launch', name: `MSVM: ${file.slice(Math.max(file.lastIndexOf('/'), file.lastIndexOf('\\')) + 1)}`, program: file, stopOnEntry: true };
}

export function resolve(given: Configuration, around: Surroundings): Resolved {
  const empty = text(given.type) === '' && text(given.request) === '' && text(given.name) === '';
  if (empty && !launchable(around.file))
    return { error: 'There is nothing to debug: the active editor holds no program', mend: `Open a ${PROGRAMS.join(', ')} file, or write a launch.json with a configuration of type msvm` };
  const configuration = empty && around.file !== undefined ? fileConfiguration(around.file) : { ...given };
  const named = { ...configuration, type: TYPE, name: text(configuration.name) || 'MSVM', request: text(configuration.request) || 'launch' };
  if (named.request === 'attach') return attach(named);
  if (named.request !== 'launch') return { error: `A configuration has the request "${named.request}"; launch and attach are known`, mend: 'Correct it in launch.json' };
  return launch(named, around);
}

function attach(configuration: Named): Resolved {
  const { processId, address } = configuration as { processId?: unknown; address?: unknown };
  if (address !== undefined) return text(address) === '' ? { error: 'address is empty', mend: 'Write HOST:PORT, or leave it out' } : { configuration };
  const id = typeof processId === 'string' ? Number(processId) : processId;
  if (typeof id !== 'number' || !Number.isInteger(id) || id <= 0)
    return { error: `processId is ${processId === undefined ? 'missing' : JSON.stringify(processId)}, which is no process`, mend: 'Write "${command:msvm.pickProcess}", a number, or an address' };
  return { configuration: { ...configuration, processId: id } };
}

function launch(configuration: Named, around: Surroundings): Resolved {
  const { program } = configuration;
  if (typeof program !== 'string' || program === '') return { error: `The configuration "${configuration.name}" names no program`, mend: 'Add "program", for example "${file}"' };
  if (!launchable(program)) return { error: `${String(program)} is no program that can be debugged`, mend: `Give one that ends in ${PROGRAMS.join(', ')}` };
  const console = configuration.console;
  const rest = { ...configuration, console: 'internalConsole', ...(configuration.cwd === undefined && around.folder !== undefined ? { cwd: around.folder } : {}) };
  if (console !== undefined && console !== 'internalConsole') return { error: `console is ${JSON.stringify(console)}; only internalConsole is there`, mend: 'Leave it out' };
  if (!isPython(program)) return { configuration: rest };
  const python = text(configuration.python) || around.python;
  if (python === undefined) return { error: 'No Python interpreter is found', mend: 'Name one in the setting msvm.python, or "python" in the configuration' };
  return { configuration: { ...rest, python } };
}
