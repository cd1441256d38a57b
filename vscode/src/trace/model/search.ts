// Events by words: of their operator, kernel, program, shapes, reason, place.
import { describe, type Timeline } from './timeline.ts';

/** All words must occur. Texts are looked at once for each combination, not for each event. */
export function search(t: Timeline, query: string): Uint32Array {
  const words = query.toLowerCase().split(/\s+/).filter((w) => w !== '');
  if (words.length === 0) return new Uint32Array();
  const known = new Map<number, boolean>();
  const instructions = new Map<number, number>();
  const texts = t.header.texts.length;
  const found: number[] = [];
  for (let e = 0; e < t.count; e++) {
    const at = ((t.program[e] ?? 0) * 65536 + (t.function[e] ?? 0)) * 1_048_577 + (t.instruction[e] ?? -1) + 1;
    let instruction = instructions.get(at);
    if (instruction === undefined) instructions.set(at, (instruction = instructions.size));
    const key = ((instruction * texts + (t.name[e] ?? 0)) * texts + (t.detail[e] ?? 0)) * 32 + (t.kind[e] ?? 0) * 3 + (t.tier[e] ?? 0);
    let hit = known.get(key);
    if (hit === undefined) {
      const d = describe(t, e);
      const text = `${d.kind} ${d.title} ${d.mode} ${d.program} ${d.mnemonic} ${d.operator} ${d.place} ${d.name} ${d.detail}`.toLowerCase();
      hit = words.every((w) => text.includes(w));
      known.set(key, hit);
    }
    if (hit) found.push(e);
  }
  return Uint32Array.from(found);
}
