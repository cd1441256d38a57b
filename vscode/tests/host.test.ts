// Runs the suite of tests/host/ inside the real extension host of a real VS Code.
import { join } from 'node:path';
import { format } from 'node:util';
import { expect, test } from 'vitest';
import { ROOT, start } from './code_server.ts';
import { BEGIN } from './host/begin.ts';
import { launched } from './programs.ts';

test('the suite inside the extension host', async () => {
  const { env, settings } = launched();
  const server = await start({ testDriver: true, workspace: join(ROOT, 'tests/workspace'), env, settings });
  const lines: string[] = [];
  try {
    const ended = new Promise<number>((resolve) => void server.page.exposeFunction('codeAutomationExit', resolve));
    await server.page.exposeFunction('codeAutomationLog', (_type: string, args: unknown[]) => {
      const line = format(...args);
      if (line.includes('spdlog')) return; // an optional logger of the editor's, which isn't built
      lines.push(line);
      if (lines.includes(BEGIN)) process.stdout.write(`${line}\n`); // what comes before is the editor's own
    });
    const at = `vscode-remote://127.0.0.1:${server.port}`;
    const payload = JSON.stringify([
      ['extensionDevelopmentPath', at + ROOT],
      ['extensionTestsPath', `${at}${ROOT}/dist/tests/host.js`],
    ]);
    await server.page.goto(`${server.url}?folder=${server.folder}&payload=${encodeURIComponent(payload)}`);
    const code = await Promise.race([ended, new Promise<string>((resolve) => setTimeout(resolve, 420_000, 'timeout'))]);
    if (typeof code === 'string' || lines.length === 0) process.stdout.write(server.log().slice(-3000));
    expect(code, 'exit code of the extension host').toBe(0);
  } finally {
    await server.stop();
  }
});
