// What a running program says of a jitted function, in one line.
import type { Program } from '../../../../web/src/api/schema.ts';
import type { Jitted } from './jitted.ts';

export interface Facts {
  readonly tier: number;
  readonly scd: number | null;
  readonly hitRate: number | null;
  readonly runs: number;
  readonly programs: readonly Program[];
}

/** "/a/model.py:47" or "model.py:47" lies in the function's lines of the file. */
function within(place: string, file: string, { line, last }: Jitted): boolean {
  const found = /^(.*?):(\d+)(?::\d+)?$/.exec(place);
  if (found === null) return false;
  const base = (path: string) => path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
  const row = Number(found[2]) - 1;
  return base(found[1] ?? '') === base(file) && row >= line && row <= last;
}

const bare = (name: string) => name.replace(/#\d+$/, '').split('.').at(-1) ?? name;

/** Programs that a jitted function has become: by the place of their regions, or else by name. */
export function programsOf(programs: readonly Program[], file: string, of: Jitted): readonly Program[] {
  const placed = programs.filter(({ regions }) => regions.some(({ place }) => within(place, file, of)));
  return placed.length > 0 ? placed : programs.filter(({ name, regions }) => bare(name) === of.name && regions.every(({ place }) => place === ''));
}

export function facts(programs: readonly Program[], file: string, of: Jitted): Facts | undefined {
  const own = programsOf(programs, file, of);
  if (own.length === 0) return undefined;
  const regions = own.flatMap((program) => program.regions);
  const tiers = regions.flatMap(({ entries }) => entries.map(({ tier }) => tier));
  const total = (pick: (program: Program) => number) => own.reduce((sum, program) => sum + pick(program), 0);
  const runs = total(({ region_runs }) => region_runs);
  return {
    tier: Math.max(0, ...tiers),
    scd: regions.length === 0 ? null : Math.max(...regions.map(({ scd }) => scd)),
    hitRate: runs === 0 ? null : total(({ native }) => native) / runs,
    runs: total((program) => program.runs),
    programs: own,
  };
}

const TIERS = ['interpreted', 'native, any sizes', 'native, these sizes'];

/** "tier 2 (native, these sizes) · SCD 1.00 · hit rate 97 %" */
export function line({ tier, scd, hitRate, runs }: Facts): string {
  const parts = [`tier ${tier} (${TIERS[tier] ?? 'native'})`];
  if (scd !== null) parts.push(`SCD ${scd.toFixed(2)}`);
  parts.push(hitRate === null ? `${runs} ${runs === 1 ? 'run' : 'runs'}` : `hit rate ${Math.round(hitRate * 100)} %`);
  return parts.join(' · ');
}
