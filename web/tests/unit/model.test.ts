import { describe, expect, it } from 'vitest';
import type { Program, State } from '../../src/api/schema.ts';
import { highlight } from '../../src/model/links.ts';
import { alertRows, cacheRows, eventRows, fallenRegions, FALLBACK_MARK_MS, hitsOf, latencyRows, ownerRows, queueRows, slowPathRows, warningRows } from '../../src/model/rows.ts';
import { HISTORY_POINTS, Session, withPoint } from '../../src/model/session.ts';
import { share } from '../../src/model/share.ts';
import { bandName, spaced, strip } from '../../src/model/strip.ts';
import { summary } from '../../src/model/summary.ts';
import { disassemblyOf, FALLBACK_AT, pointAt, stateAt } from '../scenario/camera.ts';

const program = (state: State, k: number): Program => {
  const found = state.programs[k];
  if (!found) throw new Error(`no program ${k}`);
  return found;
};

describe('sharing', () => {
  it('is the old value where all is equal', () => {
    const old = { a: [1, { b: 2 }], c: null };
    expect(share(old, structuredClone(old))).toBe(old);
  });
  it('keeps equal parts of what changed', () => {
    const old = { same: { x: 1 }, list: [{ y: 1 }, { y: 2 }] };
    const mixed = share(old, { same: { x: 1 }, list: [{ y: 1 }, { y: 3 }] });
    expect(mixed).toEqual({ same: { x: 1 }, list: [{ y: 1 }, { y: 3 }] });
    expect(mixed.same).toBe(old.same);
    expect(mixed.list[0]).toBe(old.list[0]);
    expect(mixed.list).not.toBe(old.list);
  });
  it.each([
    [[1, 2], [1]],
    [[1], [1, 2]],
    [{ a: 1 }, { a: 1, b: undefined }],
    [{ a: 1, b: 2 }, { a: 1 }],
    [{ 0: 'a' }, ['a']],
    [null, {}],
    [{}, null],
    ['1', 1],
  ])('sees the difference of %j and %j', (old, next) => expect(share(old, next)).toEqual(next));
  it('leaves most of a state alone from one second to the next', () => {
    const old = stateAt(1);
    const next = share(old, stateAt(2));
    expect(next).toEqual(stateAt(2));
    expect(next.warnings).toBe(old.warnings);
    expect(program(next, 0).regions[0]?.entries[0]).not.toBe(program(old, 0).regions[0]?.entries[0]);
  });
});

describe('rows', () => {
  it('mark entries whose hits rose, and only these', () => {
    const rows = cacheRows(stateAt(2), null, hitsOf(stateAt(1)));
    const hit = rows.filter((r) => r.hit).map((r) => r.entry.name);
    expect(hit).toContain('jit_cache_237a4b1c_N*_H1080_W1920');
    expect(hit).not.toContain('jit_cache_237a4b1c_N*_H2160_W3840');
    expect(new Set(rows.map((r) => r.key)).size).toBe(rows.length);
  });
  it('mark none that wasn’t there before', () => expect(cacheRows(stateAt(2), null, new Map()).some((r) => r.hit)).toBe(false));
  it('mark entries of a region that fell back, for a while', () => {
    expect(cacheRows(stateAt(FALLBACK_AT - 1), null, new Map()).some((r) => r.fell)).toBe(false);
    const state = stateAt(FALLBACK_AT);
    expect(cacheRows(state, null, new Map()).filter((r) => r.fell).map((r) => r.region.name)).toEqual(['@main instructions 149 to 203']);
    expect(fallenRegions(stateAt(FALLBACK_AT + FALLBACK_MARK_MS / 1000 - 1), program(state, 0)).size).toBe(1);
    expect(fallenRegions(stateAt(FALLBACK_AT + FALLBACK_MARK_MS / 1000), program(state, 0)).size).toBe(0);
    expect(fallenRegions(state, program(state, 1)).size).toBe(0); // another program's
  });
  it('are of one program, or of all', () => {
    const state = stateAt(8);
    expect(cacheRows(state, null, new Map())).toHaveLength(9);
    expect(cacheRows(state, 2, new Map())).toHaveLength(5);
    expect(cacheRows(state, 3, new Map())).toHaveLength(0);
    expect(warningRows(state, 1).map((w) => w.kind)).toEqual(['fallback', 'capability']); // those of no program, too
    expect(slowPathRows(state, 2)).toHaveLength(0);
    expect(eventRows(state, 2).every((e) => e.program === 'encoder')).toBe(true);
    expect(latencyRows(state, 1).map((r) => r.tier)).toEqual([0, 1, 2]);
  });
  it('of logs come the latest first, each with a key of its own', () => {
    const state = stateAt(8);
    const twice = { ...state, warnings: [...state.warnings, ...state.warnings] };
    const rows = warningRows(twice, null);
    expect(rows.map((w) => w.time)).toEqual([...rows.map((w) => w.time)].sort().reverse());
    expect(new Set(rows.map((w) => w.key)).size).toBe(8);
  });
  it('keep their keys when newer ones come', () => {
    const before = new Set(warningRows(stateAt(FALLBACK_AT - 1), null).map((w) => w.key));
    expect(warningRows(stateAt(FALLBACK_AT), null).filter((w) => !before.has(w.key)).map((w) => w.kind)).toEqual(['fallback']);
  });
  it('put firing alerts first', () => expect(alertRows(stateAt(8)).map((a) => a.state)).toEqual(['firing', 'ok']));
  it('of queue and memory', () => {
    expect(queueRows(stateAt(0)).map((q) => q.position)).toEqual([1, 2, 3]);
    expect(ownerRows(stateAt(0)).find((o) => o.owner === 'weights')?.bytes).toBe(48_234_496);
  });
});

describe('summary', () => {
  it('weighs rates by runs', () => {
    const state = stateAt(0);
    const one = { ...program(state, 0), window: { runs: 300, hit_rate: 1, specialised_hit_rate: 0.5 } };
    const two = { ...program(state, 1), window: { runs: 100, hit_rate: 0.6, specialised_hit_rate: null } };
    const all = summary({ ...state, programs: [one, two] }, null);
    expect(all.hit_rate).toBeCloseTo(0.9);
    expect(all.specialised_hit_rate).toBeCloseTo(0.5);
  });
  it('has no rate where nothing ran', () => {
    const none = summary({ ...stateAt(0), programs: [] }, null);
    expect(none).toMatchObject({ hit_rate: null, runs_per_s: null, mean_compile_ms: null, runs: 0 });
  });
});

describe('session', () => {
  const make = () => {
    const session = new Session(() => undefined);
    session.take({ kind: 'state', state: stateAt(0) });
    session.take({ kind: 'history', history: { step_s: 1, points: [pointAt(-1), pointAt(0)] } });
    return session;
  };
  it('shows what comes', () => {
    const session = make();
    session.take({ kind: 'state', state: stateAt(1) });
    session.take({ kind: 'point', point: pointAt(1) });
    expect(session.shown.state?.time).toBe(stateAt(1).time);
    expect(session.shown.before).toEqual(hitsOf(stateAt(0)));
    expect(session.shown.points).toHaveLength(3);
  });
  it('stands still while paused, and goes on with the newest', () => {
    const session = make();
    session.pause(true);
    for (const k of [1, 2, 3]) {
      session.take({ kind: 'state', state: stateAt(k) });
      session.take({ kind: 'point', point: pointAt(k) });
    }
    expect(session.shown).toMatchObject({ paused: true, waiting: 3 });
    expect(session.shown.state?.time).toBe(stateAt(0).time);
    expect(session.shown.points).toHaveLength(2);
    session.pause(false);
    expect(session.shown).toMatchObject({ paused: false, waiting: 0 });
    expect(session.shown.state?.time).toBe(stateAt(3).time);
    expect(session.shown.points).toHaveLength(5);
  });
  it('says while paused that the connection was lost', () => {
    const session = make();
    session.pause(true);
    session.take({ kind: 'connection', connection: { status: 'lost', why: 'silent', retry_at: 0 } });
    expect(session.shown.connection.status).toBe('lost');
  });
  it('keeps a limited history, without doubles', () => {
    const full = Array.from({ length: HISTORY_POINTS }, (_, k) => pointAt(k));
    expect(withPoint(full, pointAt(HISTORY_POINTS - 1))).toBe(full);
    const next = withPoint(full, pointAt(HISTORY_POINTS));
    expect(next).toHaveLength(HISTORY_POINTS);
    expect(next[0]).toEqual(pointAt(1));
  });
});

describe('strips of sizes', () => {
  const encoder = program(stateAt(0), 1);
  const region = encoder.regions[0];
  if (!region) throw new Error('no region');
  const s = strip(region, 1, encoder.boundaries.S ?? []);
  it('count runs by size and tier', () => {
    expect(s.symbol).toBe('S');
    expect(s.sizes.map((x) => x.value)).toEqual([17, 24, 31, 32, 40, 48, 57, 64, 71, 96, 102, 128, 131, 160, 211]);
    expect(s.sizes.every((x) => x.runs === x.tiers[0] + x.tiers[1] + x.tiers[2])).toBe(true);
    expect(s.sizes.at(-1)?.tiers[2]).toBe(0);
  });
  it('have a band for each bucket and one for what is beyond', () => {
    expect(s.bands.map(bandName)).toEqual(['≤ 32', '33–64', '65–96', '97–160', '> 160']);
    expect(s.bands.reduce((sum, b) => sum + b.runs, 0)).toBe(s.sizes.reduce((sum, x) => sum + x.runs, 0));
  });
  it('put a size on a boundary into the bucket that it ends', () => {
    const exact = strip({ ...region, shapes: [{ values: [8, 32], runs: 5, tier: 2, entry: '' }, { values: [8, 33], runs: 3, tier: 2, entry: '' }] }, 1, [32, 64]);
    expect(exact.bands.map((b) => b.runs)).toEqual([5, 3]);
  });
  it('of nothing are empty', () => expect(strip({ ...region, shapes: [] }, 1, []).sizes).toEqual([]));
  it('label what is far enough apart', () => expect(spaced([0.5, 0.55, 0.9, 0.1], (v) => v, 0.1)).toEqual([0.5, 0.9, 0.1]));
});

describe('links between listings', () => {
  const kernel = disassemblyOf('x').kernels[0];
  if (!kernel) throw new Error('no kernel');
  it('from machine code', () => {
    const lit = highlight(kernel, { side: 'code', line: 13 });
    expect([...lit.ir]).toEqual([8]);
    expect([...lit.instructions]).toEqual([17]);
    expect([...lit.places]).toEqual(['detect.py:47']);
    expect([...lit.code]).toEqual([13]);
  });
  it('from the loop program', () => {
    const lit = highlight(kernel, { side: 'ir', line: 10 });
    expect([...lit.code]).toEqual([6, 7, 15, 16]);
    expect([...lit.instructions]).toEqual([19]);
  });
  it('from bytecode', () => {
    const lit = highlight(kernel, { side: 'bytecode', instruction: 18 });
    expect([...lit.code]).toEqual([5, 14]);
    expect([...lit.ir]).toEqual([9]);
  });
  it('from Python', () => {
    const lit = highlight(kernel, { side: 'place', place: 'detect.py:48' });
    expect([...lit.instructions].sort()).toEqual([18, 19]);
  });
  it('from code that comes from nowhere', () => {
    const lit = highlight(kernel, { side: 'code', line: 0 });
    expect([...lit.code]).toEqual([0]);
    expect([...lit.ir, ...lit.instructions, ...lit.places]).toEqual([]);
  });
  it('of nothing and of lines that aren’t there', () => {
    expect(highlight(kernel, null).code.size).toBe(0);
    expect(highlight(kernel, { side: 'code', line: 9999 }).ir.size).toBe(0);
  });
});
