// Processes of this user that serve a monitor.
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runFolder, serving, startOf, type Serving } from './model/run_files.ts';

export async function servingProcesses(): Promise<readonly Serving[]> {
  const folder = runFolder(process.env, existsSync);
  if (folder === undefined) return [];
  const names = await readdir(folder).catch(() => [] as string[]);
  const found = await Promise.all(
    names
      .filter((name) => /^\d+\.json$/.test(name))
      .map(async (name) => {
        const text = await readFile(join(folder, name), 'utf8').catch(() => '');
        const stat = await readFile(`/proc/${name.slice(0, -5)}/stat`, 'utf8').catch(() => '');
        return serving(name, text, startOf(stat));
      }),
  );
  return found.filter((each) => each !== undefined).sort((a, b) => a.pid - b.pid);
}
