// The programs that tests of the whole extension launch: `msvm` and the interpreter of this clone.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { ROOT } from './code_server.ts';

const clone = resolve(ROOT, '..');
const build = process.env.MSVM_BUILD ?? resolve(clone, 'build/release');

export function launched(): { env: Record<string, string>; settings: Record<string, unknown> } {
  const msvm = resolve(build, 'msvm');
  if (!existsSync(msvm)) throw new Error(`${msvm} is missing: build it (./test does), or set MSVM_BUILD to a build folder`);
  return {
    env: { PYTHONPATH: resolve(build, 'python') },
    settings: { 'msvm.path': msvm, 'msvm.python': resolve(clone, 'build/venv/bin/python') },
  };
}
