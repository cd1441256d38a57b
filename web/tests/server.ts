// A monitor as programs serve it, with a scripted program behind: the built page, its policy, JSON and server-sent events.
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Disassembly, State } from '../src/api/schema.ts';
import { bytecode, disassemblyOf, history, pointAt, stateAt } from './scenario/camera.ts';

const dist = (name: string): string => readFileSync(fileURLToPath(new URL(`../dist/${name}`, import.meta.url)), 'utf8');

export class TestMonitor {
  readonly #server: Server;
  readonly #clients = new Set<ServerResponse>();
  /** Step of the scenario that clients see. */
  step = 0;
  state: (step: number) => State = stateAt;
  disassembly: (entry: string) => Disassembly = disassemblyOf;
  /** Requests that are answered with this status instead. */
  refuse: number | null = null;
  readonly acts: { action: string; body: unknown }[] = [];

  private constructor() {
    this.#server = createServer((request, response) => this.#answer(request, response));
  }

  static async start(): Promise<TestMonitor> {
    const monitor = new TestMonitor();
    await monitor.#listen(0);
    return monitor;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/`;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The next state, to all. */
  advance(steps = 1): void {
    for (let k = 0; k < steps; ++k) {
      this.step += 1;
      for (const client of this.#clients) this.#send(client);
    }
  }

  async stop(): Promise<void> {
    for (const client of this.#clients) client.destroy();
    this.#clients.clear();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Goes away, and is there again under the same address when the returned function was called. */
  async vanish(): Promise<() => Promise<void>> {
    const { port } = this;
    await this.stop();
    return () => this.#listen(port);
  }

  #listen(port: number): Promise<void> {
    return new Promise((resolve) => this.#server.listen(port, '127.0.0.1', resolve));
  }

  #send(client: ServerResponse): void {
    client.write(`event: state\ndata: ${JSON.stringify(this.state(this.step))}\n\n`);
    client.write(`event: history\ndata: ${JSON.stringify(pointAt(this.step))}\n\n`);
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '/', this.url);
    const json = (value: unknown, status = 200) => {
      response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
      response.end(JSON.stringify(value));
    };
    if (this.refuse !== null && url.pathname !== '/') {
      json({ status: this.refuse, error: 'a token is needed' }, this.refuse);
      return;
    }
    switch (url.pathname) {
      case '/':
        response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': dist('csp.txt'), 'X-Content-Type-Options': 'nosniff' });
        response.end(dist('index.html'));
        return;
      case '/api/v1/live':
        response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
        this.#clients.add(response);
        response.on('close', () => this.#clients.delete(response));
        this.#send(response);
        return;
      case '/api/v1/state':
        json(this.state(this.step));
        return;
      case '/api/v1/history':
        json(history);
        return;
      case '/api/v1/bytecode':
        json(bytecode);
        return;
      case '/api/v1/disassembly': {
        const entry = url.searchParams.get('entry') ?? '';
        if (entry.includes('b1aa90f3')) json({ status: 404, error: `there is no entry ${entry}: it was retired` }, 404);
        else json(this.disassembly(entry));
        return;
      }
    }
    const action = /^\/api\/v1\/actions\/(\w+)$/.exec(url.pathname)?.[1];
    if (action !== undefined && request.method === 'POST') {
      let body = '';
      request.on('data', (part: Buffer) => (body += part.toString()));
      request.on('end', () => {
        this.acts.push({ action, body: JSON.parse(body) as unknown });
        json({});
      });
      return;
    }
    json({ status: 404, error: `there is no ${url.pathname}` }, 404);
  }
}
