// VS Code's own server, extension host and workbench, in headless Chromium: how tests start one, over a copy of a workspace.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium, type Browser, type Page } from 'playwright-core';

export const ROOT = resolve(import.meta.dirname, '..');

export interface Options {
  /** Installed by the server, as a user would. */
  readonly vsix?: string;
  /** The workbench hands over to a suite inside the extension host; hides notifications. */
  readonly testDriver?: boolean;
  /** Copied, so that tests may write. */
  readonly workspace: string;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
}

export interface CodeServer {
  readonly page: Page;
  readonly url: string;
  readonly port: number;
  /** The copy of the workspace. */
  readonly folder: string;
  log(): string;
  stop(): Promise<void>;
}

const SETTINGS = {
  'workbench.startupEditor': 'none',
  'telemetry.telemetryLevel': 'off',
  'security.workspace.trust.enabled': false,
  'extensions.autoUpdate': false,
  'extensions.autoCheckUpdates': false,
  'extensions.ignoreRecommendations': true,
  'workbench.tips.enabled': false,
  'workbench.enableExperiments': false,
  'workbench.editor.enablePreview': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'debug.toolBarLocation': 'docked',
  'remote.autoForwardPorts': false,
  'chat.disableAIFeatures': true,
  'chat.commandCenter.enabled': false,
  'git.enabled': false,
  'window.commandCenter': false,
};

const CHROMIUMS = [process.env.MSVM_CHROMIUM, '/usr/bin/chromium-headless-shell', '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

function chromiumPath(): string {
  const path = CHROMIUMS.find((each) => each !== undefined && each !== '' && existsSync(each));
  if (path === undefined) throw new Error('no Chromium found; expected /usr/bin/chromium-headless-shell: apt-get install chromium-headless-shell, or set MSVM_CHROMIUM to one');
  return path;
}

function serverMain(): string {
  const folder = process.env.MSVM_VSCODE_SERVER ?? execFileSync(join(ROOT, 'e2e/setup.sh'), { stdio: ['ignore', 'pipe', 'inherit'] }).toString().trim();
  return join(folder, 'node_modules/code-server/lib/vscode/out/server-main.js'); // not code-server's own entry: that wants a native module, and has no test driver
}

const answers = (url: string) =>
  new Promise<boolean>((resolve) => {
    get(url, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    }).on('error', () => resolve(false));
  });

const freePort = () =>
  new Promise<number>((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });

async function untilUp(url: string, server: ChildProcess, log: () => string): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    if (await answers(url)) return;
    if (server.exitCode !== null) break;
    await sleep(50);
  }
  throw new Error(`no server at ${url}: ${log()}`);
}

export async function start(options: Options): Promise<CodeServer> {
  const data = mkdtempSync(join(tmpdir(), 'msvm-vscode-'));
  const folder = join(data, 'ws');
  cpSync(options.workspace, folder, { recursive: true });
  mkdirSync(join(data, 'data/Machine'), { recursive: true });
  writeFileSync(join(data, 'data/Machine/settings.json'), JSON.stringify({ ...SETTINGS, ...options.settings }));

  const main = serverMain();
  const common = [main, '--server-data-dir', data, '--extensions-dir', join(data, 'exts'), '--accept-server-license-terms', '--telemetry-level', 'off'];
  const env = { ...process.env, ...options.env, EXTENSIONS_GALLERY: '{"serviceUrl":""}' };
  if (options.vsix !== undefined) execFileSync(process.execPath, [...common, '--install-extension', options.vsix], { env, stdio: 'pipe' });

  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const logPath = join(data, 'server.log');
  const log = () => readFileSync(logPath, 'utf8');
  const out = openSync(logPath, 'w');
  const args = [...common, '--host', '127.0.0.1', '--port', String(port), '--without-connection-token', '--disable-workspace-trust'];
  const server = spawn(process.execPath, options.testDriver === true ? [...args, '--enable-smoke-test-driver'] : args, { env, stdio: ['ignore', out, out], detached: true });
  let browser: Browser | undefined;
  const stop = async () => {
    await browser?.close().catch(() => undefined);
    try {
      if (server.pid !== undefined) process.kill(-server.pid); // the group: it has forked the extension host
    } catch {
      // it has ended
    }
    rmSync(data, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    await untilUp(url, server, log);
    browser = await chromium.launch({ executablePath: chromiumPath(), args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'] });
    const context = await browser.newContext({ viewport: { width: 1440, height: 1000 } });
    const page = await context.newPage();
    page.setDefaultTimeout(120_000);
    return { page, url, port, folder, log, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
