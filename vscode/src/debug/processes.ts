// Which processes can be attached to: those that have written a PID.debug.json.
import { readdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { Services } from '../services.ts';
import { processIds } from './model/processes.ts';

const runFolder = () => (process.env.XDG_RUNTIME_DIR ? join(process.env.XDG_RUNTIME_DIR, 'msvm') : join(homedir(), '.cache/msvm/run'));

const alive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

const command = async (pid: number) => (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0').join(' ').trim();

export async function pickProcess({ output }: Services): Promise<number | undefined> {
  const folder = runFolder();
  const names = await readdir(folder).catch(() => [] as string[]);
  const pids = processIds(names).filter(alive);
  output.debug(`${pids.length} processes to attach to in ${folder}`);
  if (pids.length === 0) {
    void vscode.window.showInformationMessage('No process of yours can be attached to. Start one with MSVM_DEBUG=127.0.0.1:0, or call ms.vm.start_debugger() in it.');
    return undefined;
  }
  const items = await Promise.all(pids.map(async (pid) => ({ label: String(pid), description: await command(pid), pid })));
  const picked = await vscode.window.showQuickPick(items, { title: 'MSVM: Attach to a process', placeHolder: 'Processes with a debug server', matchOnDescription: true });
  return picked?.pid;
}
