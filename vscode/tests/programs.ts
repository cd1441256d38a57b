// The programs that tests of the whole extension launch: `msvm` and the interpreter of this clone.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ROOT } from './code_server.ts';

const clone = resolve(ROOT, '..');
const build = process.env.MSVM_BUILD ?? resolve(clone, 'build/release');

/** With a run folder of its own: processes of others are in no list. */
export function launched(): { env: Record<string, string>; settings: Record<string, unknown> } {
  const msvm = resolve(build, 'msvm');
  if (!existsSync(msvm)) throw new Error(`${msvm} is missing: build it (./test does), or set MSVM_BUILD to a build folder`);
  const runs = mkdtempSync(join(tmpdir(), 'msvm-run-'));
  process.on('exit', () => rmSync(runs, { recursive: true, force: true }));
  return {
    env: { XDG_RUNTIME_DIR: runs, PYTHONPATH: resolve(build, 'python') },
    settings: { 'msvm.path': msvm, 'msvm.python': resolve(clone, 'build/venv/bin/python') },
  };
}
