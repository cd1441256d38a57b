// MSVM: Open JIT Monitor.
import * as vscode from 'vscode';
import type { Feed } from '../../../web/src/feed/feed.ts';
import { HttpFeed } from '../../../web/src/feed/http.ts';
import type { Feature, Services } from '../services.ts';
import { sentence } from '../msvm/model/mend.ts';
import { nodeHost, type Access } from './http_host.ts';
import { MonitorPanel } from './panel.ts';
import { servingProcesses } from './serving.ts';
import { SessionFeed } from './session_feed.ts';

interface Source {
  /** Two panels of one source are one. */
  readonly key: string;
  readonly title: string;
  readonly feed: () => Promise<Feed | undefined>;
}

const ofSession = (services: Services, session: vscode.DebugSession): Source => ({
  key: `session ${session.id}`,
  title: `JIT Monitor: ${session.name}`,
  feed: () => Promise.resolve(new SessionFeed(services.sessions, session)),
});

/** Tokens are asked for once, and kept where the editor keeps secrets. */
async function accessTo(services: Services, url: string, certificate: string): Promise<Access | undefined> {
  const { secrets } = services.context;
  const key = `monitor ${url}`;
  const withToken = (token: string | undefined): Access => ({ ...(token === undefined || token === '' ? {} : { token }), ...(certificate === '' ? {} : { certificate }) });
  let token = (await secrets.get(key)) ?? process.env.MSVM_MONITOR_TOKEN ?? process.env.MSVM_MONITOR_READ_TOKEN;
  for (;;) {
    const now = withToken(token);
    const answer = await nodeHost(() => now).fetch(`${url}api/v1/state`);
    if (answer.ok) return now;
    if (answer.status !== 401 && answer.status !== 403) throw new Error(`${url} answers ${answer.status} ${answer.statusText}: expected the monitor of an MSVM program`);
    token = await vscode.window.showInputBox({ password: true, title: `Token of ${url}`, prompt: token === undefined ? 'This monitor wants a token' : 'That token was refused' });
    if (token === undefined) return undefined;
    await secrets.store(key, token);
  }
}

const ofAddress = (services: Services, url: string, certificate: string, title: string): Source => ({
  key: url,
  title,
  feed: async () => {
    const access = await accessTo(services, url, certificate);
    return access && new HttpFeed(url, nodeHost(() => access));
  },
});

async function choose(services: Services): Promise<Source | undefined> {
  const { current } = services.sessions;
  const processes = await servingProcesses();
  const items = [
    ...services.sessions.live.map((session) => ({ label: `$(debug) ${session.name}`, description: 'debug session', source: ofSession(services, session) })),
    ...processes.map((p) => ({ label: `$(pulse) ${p.command.slice(0, 80)}`, description: `process ${p.pid}, ${p.url}`, source: ofAddress(services, p.url, p.certificate, `JIT Monitor: ${p.pid}`) })),
  ];
  const [first] = items;
  if (first && items.length === 1 && (current !== undefined || processes.length === 1)) return first.source;
  const address = { label: 'Another address…', description: 'of a monitor on this or another machine', source: undefined };
  const picked = await vscode.window.showQuickPick([...items, address], {
    placeHolder: items.length > 0 ? 'Whose JIT?' : 'No process of this user serves a monitor: debug a program, or run one with MSVM_MONITOR=127.0.0.1:0',
  });
  if (!picked || picked.source) return picked?.source;
  const typed = await vscode.window.showInputBox({ prompt: 'Address of a monitor', value: 'http://127.0.0.1:9464/', validateInput: (text) => (/^https?:\/\/[^/\s]+/.test(text) ? undefined : 'Expected an address such as http://127.0.0.1:9464/') });
  if (typed === undefined) return undefined;
  const url = `${typed.replace(/\/+$/, '')}/`;
  return ofAddress(services, url, '', `JIT Monitor: ${new URL(url).host}`);
}

export const monitor: Feature = (services) => {
  const panels = new Map<string, MonitorPanel>();
  const open = async (source: Source): Promise<MonitorPanel | undefined> => {
    const known = panels.get(source.key);
    if (known) {
      known.reveal();
      return known;
    }
    const feed = await source.feed();
    if (!feed) return undefined;
    const panel = new MonitorPanel({ context: services.context, title: source.title, feed });
    panels.set(source.key, panel);
    panel.onDidClose(() => panels.delete(source.key));
    return panel;
  };
  services.context.subscriptions.push(
    // Of an address or a session where one is given: the tool bar of a session hands its id over.
    vscode.commands.registerCommand('msvm.openMonitor', async (given?: unknown) => {
      try {
        const session = services.sessions.live.find((each) => each === given || each.id === given || each.id === (given as { readonly sessionId?: string } | undefined)?.sessionId);
        const address = typeof given === 'string' && /^https?:/.test(given) ? ofAddress(services, given, '', 'JIT Monitor') : undefined;
        const source = session ? ofSession(services, session) : (address ?? (await choose(services)));
        return source && (await open(source));
      } catch (error) {
        void vscode.window.showErrorMessage(`JIT Monitor: ${sentence(error)}`);
        return undefined;
      }
    }),
    new vscode.Disposable(() => panels.forEach((panel) => panel.dispose())),
  );
};
