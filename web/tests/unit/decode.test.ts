import { describe, expect, it } from 'vitest';
import { readDisassembly, readHistory, readState } from '../../src/api/schema.ts';
import { stateAt } from '../scenario/camera.ts';

describe('reading a state', () => {
  it('keeps a whole one as it is', () => expect(readState(JSON.parse(JSON.stringify(stateAt(8))))).toEqual(stateAt(8)));

  it.each([null, undefined, 3, 'state', [], { programs: 7, warnings: [null], queues: [{ running: [] }] }])('makes something to show of %j', (raw) => {
    const state = readState(raw);
    expect(state.version).toBe(0);
    expect(state.programs).toEqual([]);
    expect(state.queues.every((q) => q.running === null)).toBe(true);
  });

  it('takes numbers that JSON can’t have, and nulls, as none', () => {
    const state = readState({ programs: [{ hit_rate: null, runs: 'many', rates: { gflops: null } }] });
    expect(state.programs[0]).toMatchObject({ hit_rate: null, runs: 0, rates: { gflops: null, layout_bytes: 0 }, regions: [] });
  });

  it('doesn’t let names of owners reach prototypes', () => {
    const state = readState(JSON.parse('{"memory":[{"by_owner":{"__proto__":5,"weights":1}}]}'));
    const owners = state.memory[0]?.by_owner ?? {};
    expect(Object.entries(owners)).toEqual([['__proto__', 5], ['weights', 1]]);
    expect(Object.getPrototypeOf(owners)).toBe(Object.prototype);
  });

  it('falls back to a known severity', () => expect(readState({ warnings: [{ severity: 'catastrophe' }] }).warnings[0]?.severity).toBe('warning'));
});

it('reads histories and disassemblies of nothing', () => {
  expect(readHistory({})).toEqual({ step_s: 0, points: [] });
  expect(readDisassembly('')).toEqual({ entry: '', kernels: [], findings: [], calls: [] });
});
