// Where the program `msvm` and a Python interpreter may lie, best first.
import { dirname, isAbsolute, join } from 'node:path';

export interface Places {
  readonly setting: string;
  readonly folders: readonly string[];
  readonly python: string | undefined;
  readonly path: string;
  readonly windows: boolean;
}

const onPath = (path: string, windows: boolean): string[] => path.split(windows ? ';' : ':').filter((folder) => folder !== '');

/** A path of the settings: `~` and `${workspaceFolder}` stand for folders, and one that isn't absolute is of the first folder. */
export function expanded(setting: string, folders: readonly string[], home: string): string {
  const folder = folders[0] ?? home;
  const path = setting.replaceAll('${workspaceFolder}', folder).replace(/^~(?=\/|$)/, home);
  return isAbsolute(path) || !path.includes('/') ? path : join(folder, path);
}

/** Of `msvm`: built in a clone that is open, beside the interpreter (an installed one), on the PATH. A setting is the only place. */
export function programs(places: Places): readonly string[] {
  const name = places.windows ? 'msvm.exe' : 'msvm';
  const path = onPath(places.path, places.windows);
  if (places.setting !== '') return isAbsolute(places.setting) ? [places.setting] : path.map((folder) => join(folder, places.setting));
  return [
    ...places.folders.map((folder) => join(folder, 'build/release', name)),
    ...(places.python === undefined ? [] : [join(dirname(places.python), name)]),
    ...path.map((folder) => join(folder, name)),
  ];
}

/** Of Python: environments in the folders that are open, then the PATH. */
export function pythons(places: Omit<Places, 'python'>): readonly string[] {
  const path = onPath(places.path, places.windows);
  if (places.setting !== '') return isAbsolute(places.setting) ? [places.setting] : path.map((folder) => join(folder, places.setting));
  const inside = places.windows ? 'Scripts/python.exe' : 'bin/python';
  return [
    ...places.folders.flatMap((folder) => ['.venv', 'venv', 'build/venv'].map((venv) => join(folder, venv, inside))),
    ...path.flatMap((folder) => (places.windows ? [join(folder, 'python.exe')] : [join(folder, 'python3'), join(folder, 'python')])),
  ];
}
