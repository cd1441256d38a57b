// The program `msvm`: where it is, and running it.
import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { Mend } from './model/mend.ts';
import { expanded, programs, pythons } from './model/places.ts';

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly input?: string | Uint8Array;
  readonly cwd?: string;
  /** Milliseconds until it is ended; 60 000 unless given. */
  readonly timeout?: number;
  readonly token?: vscode.CancellationToken;
}

export interface Msvm {
  /** Path of `msvm`; rejects with a Mend where there is none. */
  path(): Promise<string>;
  /** Path of the interpreter that launches use; undefined where none is found. */
  python(resource?: vscode.Uri): Promise<string | undefined>;
  /** What a finished run said, whatever its exit code. */
  run(args: readonly string[], options?: RunOptions): Promise<Ran>;
  /** Standard output as JSON; rejects with a Mend that holds standard error where the run fails. */
  json(args: readonly string[], options?: RunOptions): Promise<unknown>;
}

const LARGEST = 256 * 1024 * 1024;

async function first(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) {
    if (
      await access(path, constants.X_OK).then(
        () => true,
        () => false,
      )
    )
      return path;
  }
  return undefined;
}

const folders = () => (vscode.workspace.workspaceFolders ?? []).filter((folder) => folder.uri.scheme === 'file').map((folder) => folder.uri.fsPath);
const setting = (name: string) => expanded(vscode.workspace.getConfiguration('msvm').get<string>(name, '').trim(), folders(), homedir());
const common = () => ({ folders: folders(), path: process.env.PATH ?? '', windows: process.platform === 'win32' });

/** The interpreter that the Python extension has chosen, where that extension is there. */
async function chosenPython(resource: vscode.Uri | undefined): Promise<string | undefined> {
  const extension = vscode.extensions.getExtension<PythonApi>('ms-python.python');
  if (extension === undefined) return undefined;
  try {
    const api = extension.isActive ? extension.exports : await extension.activate();
    const { path } = api.environments.getActiveEnvironmentPath(resource);
    return (await api.environments.resolveEnvironment(path))?.executable.uri?.fsPath;
  } catch {
    return undefined;
  }
}

/** The part of the Python extension's public interface that is used. */
interface PythonApi {
  environments: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { path: string };
    resolveEnvironment(path: string): Promise<{ executable: { uri?: vscode.Uri } } | undefined>;
  };
}

function spawned(path: string, args: readonly string[], options: RunOptions): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(path, args, { cwd: options.cwd, timeout: options.timeout ?? 60_000, stdio: 'pipe' });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    let size = 0;
    const take = (into: Buffer[]) => (chunk: Buffer) => {
      size += chunk.length;
      if (size > LARGEST) child.kill();
      else into.push(chunk);
    };
    child.stdout.on('data', take(out));
    child.stderr.on('data', take(err));
    child.stdin.on('error', () => undefined); // it may have ended without reading
    child.stdin.end(options.input ?? '');
    const cancelled = options.token?.onCancellationRequested(() => child.kill());
    child.on('error', (error) => reject(new Mend(`${path} can't be started: ${error.message}`, 'Check the setting msvm.path')));
    child.on('close', (code, signal) => {
      cancelled?.dispose();
      const stderr = Buffer.concat(err).toString();
      resolve({ code: code ?? -1, stdout: Buffer.concat(out).toString(), stderr: signal === null ? stderr : `${stderr}ended by ${signal}` });
    });
  });
}

export function findMsvm(output: vscode.LogOutputChannel): Msvm {
  const msvm: Msvm = {
    async python(resource) {
      const named = setting('python');
      return (named === '' ? await chosenPython(resource) : undefined) ?? first(pythons({ ...common(), setting: named }));
    },
    async path() {
      const named = setting('path');
      const found = await first(programs({ ...common(), setting: named, python: await msvm.python() }));
      if (found !== undefined) return found;
      throw named === ''
        ? new Mend('The program msvm is not found: not beside the Python interpreter, and not on the PATH', 'Install it (docs/cli.md), or name its path in the setting msvm.path')
        : new Mend(`The setting msvm.path names ${named}, which can't be run`, 'Correct it, or empty it to have msvm looked for');
    },
    async run(args, options = {}) {
      const path = await msvm.path();
      const begin = Date.now();
      const ran = await spawned(path, args, options);
      output.debug(`${path} ${args.join(' ')}: exit code ${ran.code}, ${Date.now() - begin} ms`);
      return ran;
    },
    async json(args, options) {
      const ran = await msvm.run(args, options);
      if (ran.code !== 0) throw new Mend(`msvm ${args[0] ?? ''} failed: ${ran.stderr.trim()}`, '');
      try {
        return JSON.parse(ran.stdout) as unknown;
      } catch {
        throw new Mend(`msvm ${args[0] ?? ''} did not write JSON`, 'Do the extension and msvm have the same version?');
      }
    },
  };
  return msvm;
}
