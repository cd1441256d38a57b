import { useMemo } from 'preact/hooks';
import type { Program, Region } from '../api/schema.ts';
import { memo } from '../memo.ts';
import { shapeRows, type ShapeRow } from '../model/rows.ts';
import { strip } from '../model/strip.ts';
import type { Column } from '../table/columns.ts';
import { csv, csvName } from '../table/csv.ts';
import { Table } from '../table/table.tsx';
import { count, percent, shape } from '../text/format.ts';
import { sentence } from '../text/sentences.ts';
import { named } from '../text/strings.ts';
import { useUi } from '../ui.ts';
import { Place, Share, Tier } from './badges.tsx';
import { CsvButton, Empty, Panel } from './panel.tsx';
import { StripView } from './strip.tsx';

const COLUMNS: readonly Column<ShapeRow>[] = [
  { id: 'program', label: 'program', width: 0, value: (r) => r.program.name },
  { id: 'region', label: 'region', width: 0, value: (r) => r.region.name },
  { id: 'shape', label: 'shape', width: 128, grow: 3, head: true, value: (r) => shape(r.region.symbols, r.values), cell: (r) => <span class="mono">{shape(r.region.symbols, r.values)}</span> },
  { id: 'runs', label: 'runs', width: 60, numeric: true, value: (r) => r.runs, cell: (r) => count(r.runs) },
  { id: 'share', label: 'share', width: 92, grow: 1, value: (r) => r.share, cell: (r) => <Share share={r.share} text={percent(r.share)} tier={r.tier} /> },
  { id: 'tier', label: 'tier', width: 48, numeric: true, value: (r) => r.tier, cell: (r) => <Tier tier={r.tier} /> },
  { id: 'entry', label: 'entry', width: 180, grow: 3, wide: true, value: (r) => r.entry || null, cell: (r) => <span class="mono">{alias(r)}</span> },
];

/** What people call the entry: image-like ones have a name of their own. */
const alias = (row: ShapeRow): string => row.region.entries.find((e) => e.name === row.entry)?.alias || row.entry || '–'; // eslint-disable-line @typescript-eslint/prefer-nullish-coalescing -- empty is none, too

interface Props {
  readonly programs: readonly Program[];
  readonly time: string;
}

export const Shapes = memo<Props>(function Shapes({ programs, time }) {
  const { host } = useUi();
  const seen = programs.flatMap((program) => program.regions.filter((region) => region.runs > 0 || region.shapes.length > 0).map((region) => ({ program, region })));
  const save = () => host.download(csvName('shapes', time), csv(COLUMNS, seen.flatMap(({ program, region }) => shapeRows(program, region))));
  return (
    <Panel id="shapes" title="shapes" tools={<CsvButton title="shapes" onClick={save} />}>
      {seen.length === 0 && <Empty text="shapes_empty" />}
      <div class="regions">
        {seen.map(({ program, region }) => (
          <RegionView key={`${program.id}/${region.name}`} program={program} region={region} boundaries={program.boundaries} mode={program.cache_mode} analysed={lastAnalysis(program)} />
        ))}
      </div>
    </Panel>
  );
});

/** What the JIT last said about how it took the program apart. */
const lastAnalysis = (program: Program): string => program.events.findLast((e) => e.kind === 'analysed')?.what ?? '';

interface RegionProps {
  readonly program: Program;
  readonly region: Region;
  readonly boundaries: Program['boundaries'];
  readonly mode: string;
  readonly analysed: string;
}

function RegionView({ program, region, boundaries, mode, analysed }: RegionProps) {
  const { t, language } = useUi();
  const rows = useMemo(() => shapeRows(program, region), [program, region]);
  const strips = useMemo(() => region.symbols.map((symbol, k) => strip(region, k, boundaries[symbol] ?? [])), [region, boundaries]);
  const open = strips.filter((s) => s.sizes.length > 1 || s.bands.length > 0);
  const fixed = strips.filter((s) => s.sizes.length === 1 && s.bands.length === 0);
  return (
    <article class="region">
      <header>
        <h3>
          {program.name} <span class="mono">{region.name}</span> <Place place={region.place} />
        </h3>
        <p class="facts-line">
          <span>{t('region_runs', { n: count(region.runs), native: region.runs > 0 ? percent(region.native / region.runs) : percent(null) })}</span>
          <span>{t('scd', { n: region.scd.toFixed(2) })}</span>
          <span>{t('fused', { n: region.fused_calls, all: region.calls })}</span>
          <span title={mode}>{named(t, 'mode', mode)}</span>
        </p>
      </header>
      <div class="region-body">
        <div>
          {open.map((s) => (
            <StripView key={s.symbol} strip={s} />
          ))}
          {fixed.length > 0 && (
            <p class="fixed mono">
              {fixed.map((s) => (
                <span key={s.symbol}>
                  {s.symbol} = {s.sizes[0]?.value}
                </span>
              ))}
            </p>
          )}
          <dl class="why">
            {region.state !== '' && (
              <>
                <dt>{t('why_now')}</dt>
                <dd>{region.state}</dd>
              </>
            )}
            {analysed !== '' && (
              <>
                <dt>{t('analysed')}</dt>
                <dd>{analysed}</dd>
              </>
            )}
          </dl>
          {region.not_fused.length > 0 && (
            <details>
              <summary>{t('not_fused', { n: region.not_fused.length })}</summary>
              <ul class="plain mono">
                {region.not_fused.map((line) => (
                  <li key={line}>{line}</li>
                ))}
              </ul>
            </details>
          )}
          {program.hint !== '' && <p class="hint">{sentence(program.hint, language)}</p>}
        </div>
        {rows.length > 0 && <Table title="shapes" rows={rows} columns={COLUMNS} rowKey={(r) => r.key} order={{ column: 'runs', descending: true }} />}
      </div>
    </article>
  );
}
