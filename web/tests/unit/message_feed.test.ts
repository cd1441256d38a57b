import { describe, expect, it } from 'vitest';
import { FeedError, type FeedEvent } from '../../src/feed/feed.ts';
import { Asking, MessageFeed } from '../../src/feed/message_feed.ts';
import type { FromPage, Port, ToPage } from '../../src/feed/messages.ts';

function line() {
  const heard = new Set<(message: ToPage) => void>();
  const said: FromPage[] = [];
  const port: Port = {
    post: (message) => said.push(message),
    listen(take) {
      heard.add(take);
      return () => heard.delete(take);
    },
  };
  const asking = new Asking(port);
  const tell = (message: ToPage) => heard.forEach((take) => take(message));
  const asked = () => said.flatMap((m) => (m.kind === 'ask' ? [m] : []));
  return { port, asking, said, tell, asked, feed: new MessageFeed(port, asking) };
}

describe('the feed by messages', () => {
  it('hands events on until it is told to stop', () => {
    const { feed, said, tell } = line();
    const seen: FeedEvent[] = [];
    const ends = feed.subscribe((event) => seen.push(event));
    expect(said).toEqual([{ kind: 'subscribe' }]);
    tell({ kind: 'event', event: { kind: 'connection', connection: { status: 'live' } } });
    ends();
    tell({ kind: 'event', event: { kind: 'connection', connection: { status: 'connecting' } } });
    expect(seen).toEqual([{ kind: 'connection', connection: { status: 'live' } }]);
  });

  it('gives each question its own answer, in whatever order they come', async () => {
    const { feed, tell, asked } = line();
    const first = feed.bytecode(1);
    const second = feed.bytecode(2);
    const third = feed.act('trace', { on: true });
    expect(asked().map((m) => m.question)).toEqual([
      { what: 'bytecode', program: 1 },
      { what: 'bytecode', program: 2 },
      { what: 'act', action: 'trace', body: { on: true } },
    ]);
    const [a, b, c] = asked().map((m) => m.id);
    tell({ kind: 'answer', id: b ?? 0, value: 'two' });
    tell({ kind: 'refusal', id: c ?? 0, message: 'read-only' });
    tell({ kind: 'answer', id: 99, value: 'nobody asked' });
    tell({ kind: 'answer', id: a ?? 0, value: 'one' });
    expect(await first).toBe('one');
    expect(await second).toBe('two');
    await expect(third).rejects.toEqual(new FeedError('read-only'));
  });

  it('opens places', () => {
    const { feed, said } = line();
    feed.open('model.py:47');
    expect(said).toEqual([{ kind: 'open', place: 'model.py:47' }]);
  });
});
