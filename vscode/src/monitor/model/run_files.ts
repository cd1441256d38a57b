// Which processes of this user serve a monitor: the files that they keep while they do (docs/monitor.md).
import { object, string, number } from '../../../../web/src/api/decode.ts';

export interface Serving {
  readonly pid: number;
  readonly url: string;
  /** PEM; empty: no TLS. */
  readonly certificate: string;
  readonly command: string;
}

const read = object({ pid: number, start: string, url: string, certificate: string, command: string });

export function runFolder(env: Readonly<Record<string, string | undefined>>, exists: (path: string) => boolean): string | undefined {
  const { XDG_RUNTIME_DIR: run = '', HOME: home = '' } = env;
  if (run.startsWith('/') && exists(run)) return `${run}/msvm`;
  return home.startsWith('/') ? `${home}/.cache/msvm/run` : undefined;
}

/** The moment at which a process began, of /proc/PID/stat: the 22nd field; the second may hold anything. */
export function startOf(stat: string): string {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[19] ?? '';
}

/** @param start of the process that has this number now; empty where there is none. A number may be used again. */
export function serving(name: string, text: string, start: string): Serving | undefined {
  const pid = Number(/^(\d+)\.json$/.exec(name)?.[1] ?? Number.NaN);
  if (!Number.isInteger(pid)) return undefined;
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    return undefined;
  }
  const file = read(raw);
  if (file.start === '' || file.start !== start || !/^https?:\/\//.test(file.url)) return undefined;
  return { pid, url: file.url.endsWith('/') ? file.url : `${file.url}/`, certificate: file.certificate, command: file.command };
}
