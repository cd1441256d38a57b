import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fileConfiguration, needsShapes, resolve, unverifiedFile, type Configuration, type Resolved } from '../../src/debug/model/configuration.ts';
import { processIds } from '../../src/debug/model/processes.ts';

const around = { file: '/ws/model.py', folder: '/ws', python: '/env/bin/python' };
const made = (given: Configuration, where = around) => resolve(given, where);
const configuration = (resolved: Resolved) => ('configuration' in resolved ? resolved.configuration : expect.fail(resolved.error));
const problem = (resolved: Resolved) => ('error' in resolved ? `${resolved.error}. ${resolved.mend}` : expect.fail('it was resolved'));

test('F5 without launch.json debugs the file in front and stops at the first jitted function', () => {
  expect(configuration(made({}))).toEqual({ type: 'msvm', request: 'launch', name: 'MSVM: model.py', program: '/ws/model.py', stopOnEntry: true, console: 'internalConsole', cwd: '/ws', python: '/env/bin/python' });
});

test.each(['.msasm', '.msbc', '.onnx'])('a module (%s) needs no interpreter, and shapes', (ending) => {
  const found = configuration(made({}, { ...around, file: `/ws/neck${ending}`, python: undefined as unknown as string }));
  expect(found).not.toHaveProperty('python');
  expect(needsShapes(found)).toBe(true);
});

test('what the user wrote stays', () => {
  const own = { type: 'msvm', request: 'launch', name: 'mine', program: '/a.py', cwd: '/elsewhere', python: '/own/python', stopOnEntry: false, args: ['1'] };
  expect(configuration(made(own))).toEqual({ ...own, console: 'internalConsole' });
  expect(needsShapes(configuration(made(own)))).toBe(false);
});

test.each<[Configuration, RegExp]>([
  [{ type: 'msvm', request: 'launch', name: 'a' }, /names no program.*"program"/],
  [{ type: 'msvm', request: 'launch', name: 'a', program: 7 }, /names no program/],
  [{ type: 'msvm', request: 'launch', name: 'a', program: '/a.txt' }, /a\.txt is no program.*\.msbc/],
  [{ type: 'msvm', request: 'fetch', name: 'a' }, /"fetch"; launch and attach are known/],
  [{ type: 'msvm', request: 'launch', name: 'a', program: '/a.py', console: 'integratedTerminal' }, /only internalConsole/],
  [{ type: 'msvm', request: 'attach', name: 'a', processId: 'x' }, /"x", which is no process.*pickProcess/],
  [{ type: 'msvm', request: 'attach', name: 'a' }, /missing, which is no process/],
  [{ type: 'msvm', request: 'attach', name: 'a', address: '' }, /address is empty/],
])('what is wrong is named with its mend: %j', (given, text) => expect(problem(made(given))).toMatch(text));

test('without a program in front there is nothing to debug', () => {
  expect(problem(made({}, { ...around, file: '/ws/notes.txt' }))).toMatch(/active editor holds no program.*launch\.json/);
});

test('without an interpreter a Python program is not launched', () => {
  expect(problem(resolve(fileConfiguration('/a.py'), { ...around, python: undefined }))).toMatch(/msvm\.python/);
});

test('attach by process takes numbers and texts of them, or an address', () => {
  expect(configuration(made({ type: 'msvm', request: 'attach', name: 'a', processId: '4711' }))).toMatchObject({ processId: 4711 });
  expect(configuration(made({ type: 'msvm', request: 'attach', name: 'a', address: '127.0.0.1:4000', token: 'x' }))).toMatchObject({ address: '127.0.0.1:4000' });
});

test('processes with a debug server are found by their files', () => {
  expect(processIds(['12.json', '12.debug.json', '340.debug.json', 'x.debug.json', '7.debug.json.tmp'])).toEqual([340, 12]);
});

test('findings belong to the module that a program has loaded, or to the program itself', () => {
  expect(unverifiedFile('parts/bad.msasm', '/ws/model.py', '/ws')).toBe('/ws/parts/bad.msasm');
  expect(unverifiedFile('/elsewhere/bad.msbc', '/ws/model.py', '/ws')).toBe('/elsewhere/bad.msbc');
  expect(unverifiedFile('neck', '/ws/neck.msasm', '/ws')).toBe('/ws/neck.msasm');
  expect(unverifiedFile('model.work', '/ws/model.py', '/ws')).toBe('/ws/model.py');
});

test('completion knows every argument of a launch that the manuals name', () => {
  const root = join(import.meta.dirname, '../../..');
  const manifest = JSON.parse(readFileSync(join(root, 'vscode/package.json'), 'utf8')) as { contributes: { debuggers: { configurationAttributes: { launch: { properties: object } } }[] } };
  const known = Object.keys(manifest.contributes.debuggers[0]?.configurationAttributes.launch.properties ?? {});
  for (const manual of ['docs/debugging.md', 'docs/debugging_python.md']) {
    const [, table = ''] = readFileSync(join(root, manual), 'utf8').split('| argument | what it is |\n| --- | --- |\n');
    const rows = table.split('\n').slice(0, table.split('\n').findIndex((line) => !line.startsWith('|')));
    const named = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name = '']) => name));
    expect(named.length, manual).toBeGreaterThan(5);
    expect(named.filter((name) => !known.includes(name) && name !== 'noDebug')).toEqual([]); // "Start Without Debugging" gives that
  }
});

test('a key that is pressed before the extension has begun begins it', () => {
  const { activationEvents, contributes } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as { activationEvents: string[]; contributes: Record<'commands' | 'keybindings', { command: string }[]> };
  const known = new Set([...contributes.commands.map(({ command }) => command), ...activationEvents.map((event) => event.replace('onCommand:', ''))]); // commands of the palette need no event
  expect(contributes.keybindings.filter(({ command }) => !known.has(command))).toEqual([]);
});
