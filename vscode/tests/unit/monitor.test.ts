import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { HttpFeed } from '../../../web/src/feed/http.ts';
import type { FeedEvent } from '../../../web/src/feed/feed.ts';
import { nodeHost } from '../../src/monitor/http_host.ts';
import { EventStreamParser } from '../../src/monitor/model/event_stream.ts';
import { Freshness } from '../../src/monitor/model/freshness.ts';
import { SessionFeed } from '../../src/monitor/session_feed.ts';
import { runFolder, serving, startOf } from '../../src/monitor/model/run_files.ts';

describe('run files', () => {
  const text = JSON.stringify({ pid: 12, start: '987', url: 'http://127.0.0.1:9', certificate: '', command: 'python x.py' });
  it('count while their process lives', () => {
    expect(serving('12.json', text, '987')).toEqual({ pid: 12, url: 'http://127.0.0.1:9/', certificate: '', command: 'python x.py' });
    expect(serving('12.json', text, '988')).toBeUndefined();
    expect(serving('12.debug.json', text, '987')).toBeUndefined();
    expect(serving('12.json', '{', '987')).toBeUndefined();
    expect(serving('12.json', JSON.stringify({ start: '987', url: 'file:///etc/passwd' }), '987')).toBeUndefined();
  });
  it('lie where the program puts them', () => {
    expect(runFolder({ XDG_RUNTIME_DIR: '/run/user/1', HOME: '/h' }, () => true)).toBe('/run/user/1/msvm');
    expect(runFolder({ XDG_RUNTIME_DIR: '/run/user/1', HOME: '/h' }, () => false)).toBe('/h/.cache/msvm/run');
    expect(runFolder({}, () => true)).toBeUndefined();
  });
  it('know a process by the moment it began, whatever its name', () => {
    expect(startOf('12 (a) b) (c) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20')).toBe('4711');
    expect(startOf('')).toBe('');
  });
});

it('server-sent events are put together from any pieces', () => {
  const whole = ': hello\nevent: state\ndata: {"a":\ndata: 1}\n\nid: 3\ndata: x\r\n\r\nevent: none\n\n';
  for (const size of [1, 2, 7, 1000]) {
    const parser = new EventStreamParser();
    const seen = [];
    for (let at = 0; at < whole.length; at += size) seen.push(...parser.take(whole.slice(at, at + size)));
    expect(seen).toEqual([
      { name: 'state', data: '{"a":\n1}' },
      { name: 'message', data: 'x' },
    ]);
  }
});

it('points are told once', () => {
  const at = (time: string) => ({ time }) as never;
  const fresh = new Freshness();
  expect(fresh.take([at('1'), at('2')])).toHaveLength(2);
  expect(fresh.take([at('1'), at('2'), at('3')])).toEqual([{ time: '3' }]);
  expect(fresh.take([])).toEqual([]);
});

describe('the feed of a monitor that runs', () => {
  let server: Server | undefined;
  afterEach(() => server?.closeAllConnections());
  const serve = async (listener: RequestListener): Promise<string> => {
    const made = createServer(listener);
    server = made;
    await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(made.address() as AddressInfo).port}/`;
  };

  it('has states as they come, sends its token, and posts actions', async () => {
    const asked: string[] = [];
    const url = await serve((request, response) => {
      asked.push(`${request.method ?? ''} ${request.url ?? ''} ${request.headers.authorization ?? ''}`);
      if (request.url === '/api/v1/live') {
        response.writeHead(200, { 'Content-Type': 'text/event-stream' });
        response.write('event: state\ndata: {"pid": 5}\n\n');
      } else if (request.url === '/api/v1/history') response.end('{"step_s": 1, "points": []}');
      else if (request.method === 'POST') request.on('data', (body: Buffer) => asked.push(body.toString())).on('end', () => response.writeHead(403).end('{"error": "read-only"}'));
      else response.writeHead(404).end();
    });
    const feed = new HttpFeed(url, nodeHost(() => ({ token: 'secret' })));
    const state = await new Promise<FeedEvent>((resolve) => {
      const ends = feed.subscribe((event) => {
        if (event.kind !== 'state') return;
        ends();
        resolve(event);
      });
    });
    expect(state).toMatchObject({ kind: 'state', state: { pid: 5 } });
    expect(asked[0]).toBe('GET /api/v1/live Bearer secret');
    await expect(feed.act('trace', { on: true })).rejects.toThrow('read-only');
    expect(asked).toContain('{"on":true}');
  });

  it('says that the address refuses, or is dead', async () => {
    const url = await serve((_request, response) => response.writeHead(401).end());
    const lost = (address: string) =>
      new Promise<FeedEvent>((resolve) => {
        const ends = new HttpFeed(address, nodeHost(() => ({}))).subscribe((event) => {
          if (event.kind !== 'connection' || event.connection.status !== 'lost') return;
          ends();
          resolve(event);
        });
      });
    expect(await lost(url)).toMatchObject({ connection: { why: 'refused' } });
    expect(await lost('http://127.0.0.1:9/')).toMatchObject({ connection: { why: 'unreachable' } });
  });
});

describe('the feed of a debug session', () => {
  const answering = (answers: Readonly<Record<string, () => unknown>>) => {
    const asked: [string, object][] = [];
    const request = (command: string, args: object): Promise<unknown> => {
      asked.push([command, args]);
      const answer = answers[command];
      return answer ? Promise.resolve(answer()) : Promise.reject(new Error(`${command}: unknown request`));
    };
    return { asked, feed: new SessionFeed({ request } as never, {} as never) };
  };

  it('asks for states once a second, and tells each point once', async () => {
    vi.useFakeTimers();
    try {
      let seconds = 0;
      const { feed } = answering({ 'msvm/state': () => ({ pid: ++seconds }), 'msvm/history': () => ({ step_s: 1, points: Array.from({ length: seconds }, (_, k) => ({ time: `2026-12-01T00:00:0${k}Z` })) }) });
      const seen: FeedEvent[] = [];
      const ends = feed.subscribe((event) => seen.push(event));
      await vi.advanceTimersByTimeAsync(2500);
      ends();
      await vi.advanceTimersByTimeAsync(5000);
      expect(seen.filter((e) => e.kind === 'state').map((e) => e.state.pid)).toEqual([1, 2, 3]);
      expect(seen.flatMap((e) => (e.kind === 'point' ? [e.point.time.slice(-3)] : []))).toEqual(['01Z', '02Z']);
      expect(seen.filter((e) => e.kind === 'history')).toHaveLength(1);
    } finally {
      vi.useRealTimers();
    }
  });

  it('is lost while the adapter does not answer, and comes back', async () => {
    vi.useFakeTimers();
    try {
      let up = false;
      const { feed } = answering({ 'msvm/state': () => (up ? {} : undefined), 'msvm/history': () => ({}) });
      const seen: string[] = [];
      const ends = feed.subscribe((event) => seen.push(event.kind === 'connection' ? event.connection.status : event.kind));
      await vi.advanceTimersByTimeAsync(10);
      up = true;
      feed.retry();
      await vi.advanceTimersByTimeAsync(10);
      ends();
      expect(seen).toEqual(['connecting', 'lost', 'live', 'state', 'history']);
    } finally {
      vi.useRealTimers();
    }
  });

  it('hands questions on, and refusals back', async () => {
    const { asked, feed } = answering({ 'msvm/act': () => ({}), 'msvm/disassembly': () => ({ entry: 'jit_1' }) });
    await feed.act('trace', { on: true });
    expect((await feed.disassembly({ program: 0, function: 1, region: 2, entry: 'jit_1' })).entry).toBe('jit_1');
    expect(asked).toEqual([
      ['msvm/act', { action: 'trace', body: { on: true } }],
      ['msvm/disassembly', { program: 0, function: 1, region: 2, entry: 'jit_1' }],
    ]);
    await expect(feed.bytecode(3)).rejects.toThrow('msvm/bytecode: unknown request');
  });
});
