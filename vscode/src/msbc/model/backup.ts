// Where the former file goes when a new one takes its place.
import { access, copyFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** model.msbc.bak, or the first of .bak1, .bak2, … that is free: an older backup is never lost. */
export async function backupPath(path: string, taken: (path: string) => Promise<boolean> = exists): Promise<string> {
  for (let k = 0; ; k++) {
    const candidate = `${path}.bak${k === 0 ? '' : k}`;
    if (!(await taken(candidate))) return candidate;
  }
}

/** Beside the file, so that a rename is atomic; the ending is what `msvm` goes by. */
export const scratchPath = (path: string, unique: string): string => join(dirname(path), `.${basename(path, '.msbc')}.${unique}.msbc`);

/** @returns where the former file is kept. */
export async function replaceFile(path: string, fresh: string): Promise<string> {
  const backup = await backupPath(path);
  try {
    await copyFile(path, backup);
    await rename(fresh, path);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
  return backup;
}
