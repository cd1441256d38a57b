import { expect, test } from 'vitest';
import { Stops } from '../../src/debug/model/stops.ts';

const stopped = (threadId: number, reason = 'step') => ({ type: 'event', event: 'stopped', body: { threadId, reason } });
const request = (seq: number, command: string, threadId: number) => ({ seq, type: 'request', command, arguments: { threadId } });
const response = (request_seq: number, success = true, allThreadsContinued = false) => ({ type: 'response', request_seq, success, body: { allThreadsContinued } });

test('the last that stopped is the one that waits', () => {
  const stops = new Stops();
  expect(stops.last).toBeUndefined();
  expect(stops.received(stopped(1))).toBe(true);
  expect(stops.received(stopped(2, 'breakpoint'))).toBe(true);
  expect(stops.last).toEqual({ threadId: 2, reason: 'breakpoint' });
  expect(stops.received(stopped(1))).toBe(true);
  expect(stops.last?.threadId).toBe(1);
});

test('a thread goes on with the request, and its next stop may come before the answer', () => {
  const stops = new Stops();
  stops.received(stopped(1));
  expect(stops.sent(request(7, 'next', 1))).toBe(true);
  expect(stops.last).toBeUndefined();
  stops.received(stopped(1, 'breakpoint'));
  expect(stops.received(response(7))).toBe(false);
  expect(stops.last?.reason).toBe('breakpoint');
});

test('where the request fails, it waits as before', () => {
  const stops = new Stops();
  stops.received(stopped(1, 'entry'));
  stops.sent(request(7, 'stepIn', 1));
  expect(stops.received(response(7, false))).toBe(true);
  expect(stops.last?.reason).toBe('entry');
});

test('threads go on one by one, or all of them', () => {
  const stops = new Stops();
  for (const thread of [1, 2, 3]) stops.received(stopped(thread));
  expect(stops.received({ type: 'event', event: 'continued', body: { threadId: 3 } })).toBe(true);
  expect(stops.last?.threadId).toBe(2);
  stops.sent(request(1, 'continue', 2));
  stops.received(response(1, true, true));
  expect(stops.last).toBeUndefined();
  stops.received(stopped(1));
  expect(stops.received({ type: 'event', event: 'continued', body: { threadId: 9, allThreadsContinued: true } })).toBe(true);
  expect(stops.last).toBeUndefined();
});

test('an end is the end of every stop; what is not about threads changes nothing', () => {
  const stops = new Stops();
  stops.received(stopped(1));
  expect(stops.received({ type: 'event', event: 'output' })).toBe(false);
  expect(stops.received({ type: 'event', event: 'continued', body: { threadId: 5 } })).toBe(false);
  expect(stops.sent(request(1, 'threads', 1))).toBe(false);
  expect(stops.received({ type: 'event', event: 'terminated' })).toBe(true);
  expect(stops.last).toBeUndefined();
});
