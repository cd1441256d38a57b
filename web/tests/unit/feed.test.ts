import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { backoff } from '../../src/feed/backoff.ts';
import { FeedError, type FeedEvent } from '../../src/feed/feed.ts';
import { errorText, HttpFeed, type HttpHost } from '../../src/feed/http.ts';
import { RecordedFeed } from '../../src/feed/recorded.ts';
import { history, pointAt, recording, stateAt } from '../scenario/camera.ts';

class FakeSource extends EventTarget {
  closed = false;
  constructor(readonly url: string) {
    super();
  }
  close(): void {
    this.closed = true;
  }
  say(kind: string, value?: unknown): void {
    this.dispatchEvent(value === undefined ? new Event(kind) : new MessageEvent(kind, { data: typeof value === 'string' ? value : JSON.stringify(value) }));
  }
}

function fake() {
  const sources: FakeSource[] = [];
  const requests: { url: string; init: RequestInit | undefined }[] = [];
  const answers = new Map<string, () => Response>();
  const host: HttpHost = {
    events(url) {
      const source = new FakeSource(url);
      sources.push(source);
      return source as unknown as EventSource;
    },
    fetch(url, init) {
      requests.push({ url, init });
      const answer = answers.get(url.split('?')[0] ?? '');
      return answer ? Promise.resolve(answer()) : Promise.reject(new TypeError('unreachable'));
    },
    now: () => Date.now(),
    random: () => 1,
  };
  const events: FeedEvent[] = [];
  const feed = new HttpFeed('/', host);
  const newest = () => {
    const source = sources.at(-1);
    if (!source) throw new Error('nothing was opened');
    return source;
  };
  const connections = () => events.flatMap((e) => (e.kind === 'connection' ? [e.connection] : []));
  return { sources, requests, answers, events, feed, newest, connections };
}

const settle = () => vi.advanceTimersByTimeAsync(0);

describe('the feed over HTTP', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('gives states, points, and the history as soon as it is open', async () => {
    const { answers, events, feed, newest, connections } = fake();
    answers.set('/api/v1/history', () => Response.json(history));
    feed.subscribe((e) => events.push(e));
    expect(newest().url).toBe('/api/v1/live');
    newest().say('open');
    newest().say('state', stateAt(0));
    newest().say('history', pointAt(0));
    await settle();
    expect(connections().map((c) => c.status)).toEqual(['connecting', 'live']);
    expect(events.map((e) => e.kind).sort()).toEqual(['connection', 'connection', 'history', 'point', 'state']);
  });

  it('says why it is lost, and comes back after waiting longer each time', async () => {
    const { sources, events, feed, newest, connections } = fake();
    feed.subscribe((e) => events.push(e));
    newest().say('state', stateAt(0));
    const waits: number[] = [];
    for (let k = 0; k < 4; ++k) {
      newest().say('error');
      await settle();
      const lost = connections().at(-1);
      if (lost?.status !== 'lost') throw new Error('not lost');
      expect(lost.why).toBe('unreachable');
      waits.push(lost.retry_at - Date.now());
      await vi.advanceTimersByTimeAsync(lost.retry_at - Date.now());
    }
    expect(waits).toEqual([500, 1000, 2000, 4000]);
    expect(sources).toHaveLength(5);
    expect(sources.slice(0, 4).every((s) => s.closed)).toBe(true);
    newest().say('state', stateAt(1));
    expect(connections().at(-1)?.status).toBe('live');
    newest().say('error');
    await settle();
    expect(connections().at(-1)).toMatchObject({ retry_at: Date.now() + 500 }); // begins anew
  });

  it('knows a refusal from an absence', async () => {
    const { answers, events, feed, newest, connections } = fake();
    answers.set('/api/v1/state', () => Response.json({ error: 'a token is needed' }, { status: 401 }));
    feed.subscribe((e) => events.push(e));
    newest().say('error');
    await settle();
    expect(connections().at(-1)).toMatchObject({ status: 'lost', why: 'refused' });
  });

  it('takes silence as loss', async () => {
    const { events, feed, newest, connections } = fake();
    feed.subscribe((e) => events.push(e));
    newest().say('state', stateAt(0));
    await vi.advanceTimersByTimeAsync(5000);
    newest().say('state', stateAt(1));
    await vi.advanceTimersByTimeAsync(5000);
    expect(connections().at(-1)?.status).toBe('live');
    await vi.advanceTimersByTimeAsync(1100);
    expect(connections().at(-1)).toMatchObject({ status: 'lost', why: 'silent' });
  });

  it('tries at once when told to, and not twice', async () => {
    const { sources, events, feed, newest } = fake();
    feed.subscribe((e) => events.push(e));
    newest().say('error');
    await settle();
    feed.retry();
    feed.retry();
    expect(sources).toHaveLength(2);
  });

  it('ends when nobody listens', async () => {
    const { sources, events, feed, newest } = fake();
    const end = feed.subscribe((e) => events.push(e));
    newest().say('error');
    end();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(sources).toHaveLength(1);
    expect(newest().closed).toBe(true);
  });

  it('passes over events that aren’t JSON', () => {
    const { events, feed, newest } = fake();
    feed.subscribe((e) => events.push(e));
    newest().say('state', '{"version":');
    newest().say('history', 'null and void');
    expect(events.map((e) => e.kind)).toEqual(['connection']);
  });

  it('asks for one entry’s code', async () => {
    const { requests, answers, feed } = fake();
    answers.set('/api/v1/disassembly', () => Response.json({ entry: 'a b' }));
    expect((await feed.disassembly({ program: 1, function: 0, region: 2, entry: 'N*_H&W' })).entry).toBe('a b');
    expect(requests[0]?.url).toBe('/api/v1/disassembly?program=1&function=0&region=2&entry=N*_H%26W');
  });

  it('does what it is told by POST, and says the program’s reason for a no', async () => {
    const { requests, answers, feed } = fake();
    answers.set('/api/v1/actions/trace', () => new Response(null, { status: 204 }));
    await feed.act('trace', { on: true });
    expect(requests[0]?.init).toMatchObject({ method: 'POST', body: '{"on":true}', credentials: 'same-origin' });
    answers.set('/api/v1/actions/trace', () => Response.json({ status: 403, error: 'this token may only read' }, { status: 403 }));
    await expect(feed.act('trace', { on: true })).rejects.toThrow(new FeedError('this token may only read'));
  });
});

it('errors of programs, in whatever form', () => {
  expect(errorText('{"error":"no","mend":"do"}')).toBe('no; do');
  expect(errorText('{"error":{"message":"no"}}')).toBe('no');
  expect(errorText('<html>')).toBe('');
  expect(errorText('null')).toBe('');
});

it('waits double each time, up to a limit, a little less by chance', () => {
  expect([1, 2, 3].map((k) => backoff(k, 1))).toEqual([500, 1000, 2000]);
  expect(backoff(100, 1)).toBe(15_000);
  expect(backoff(1, 0)).toBe(375);
  expect(backoff(0, 1)).toBe(500);
});

describe('a recording', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());
  it('plays its steps, one a second, and stops when nobody listens', async () => {
    const feed = new RecordedFeed(recording(10));
    const seen: string[] = [];
    const end = feed.subscribe((e) => e.kind === 'state' && seen.push(e.state.time));
    await vi.advanceTimersByTimeAsync(3000);
    expect(seen).toEqual([0, 1, 2, 3].map((k) => stateAt(k).time));
    end();
    await vi.advanceTimersByTimeAsync(3000);
    expect(seen).toHaveLength(4);
  });
  it('has code of its entries, and remembers what it was told', async () => {
    const feed = new RecordedFeed(recording(1));
    expect((await feed.disassembly({ program: 1, function: 0, region: 0, entry: 'jit_x' })).kernels).toHaveLength(2);
    await expect(feed.disassembly({ program: 1, function: 0, region: 0, entry: 'gone' })).rejects.toThrow('gone');
    await feed.act('clear_cache', { program: 1 });
    expect(feed.acts).toEqual([{ action: 'clear_cache', body: { program: 1 } }]);
  });
});
