import type { Point } from '../api/schema.ts';
import { Chart, type Series } from '../chart/chart.tsx';
import { memo } from '../memo.ts';
import { csv, csvName } from '../table/csv.ts';
import { bytes, duration, percent } from '../text/format.ts';
import type { Key } from '../text/strings.ts';
import { useUi } from '../ui.ts';
import { CsvButton, Panel } from './panel.tsx';

const HIT_RATE: readonly Series[] = [
  { label: 'series_native', value: (p) => p.hit_rate, colour: 'tier-1', filled: true },
  { label: 'series_specialised', value: (p) => p.specialised_hit_rate, colour: 'tier-2' },
];
const LATENCY: readonly Series[] = [
  { label: 'series_p50', value: (p) => p.p50_ms, colour: 'tier-2' },
  { label: 'series_p99', value: (p) => p.p99_ms, colour: 'tier-0' },
];
const MEMORY: readonly Series[] = [
  { label: 'series_in_use', value: (p) => p.in_use, colour: 'tier-1', filled: true },
  { label: 'series_reserved', value: (p) => p.reserved, colour: 'plain' },
];

const POINT_COLUMNS = (['hit_rate', 'specialised_hit_rate', 'runs_per_s', 'p50_ms', 'p99_ms', 'in_use', 'reserved', 'queued', 'compiled', 'fallbacks'] as const).map((id) => ({
  id,
  value: (p: Point) => p[id],
}));
const CSV_COLUMNS = [{ id: 'time', value: (p: Point) => p.time }, ...POINT_COLUMNS];

export const RANGES = [1, 5, 15] as const;

interface Props {
  readonly points: readonly Point[];
  readonly time: string;
  readonly minutes: number;
  readonly onMinutes: (minutes: number) => void;
}

interface One {
  readonly id: string;
  readonly title: Key;
  readonly series: readonly Series[];
  readonly format: (value: number | null) => string;
  readonly most: number | null;
  readonly steps?: readonly number[];
}

const CHARTS: readonly One[] = [
  { id: 'hit-rate', title: 'chart_hit_rate', series: HIT_RATE, format: percent, most: 1 },
  { id: 'latency-chart', title: 'chart_latency', series: LATENCY, format: duration, most: null },
  { id: 'memory-chart', title: 'chart_memory', series: MEMORY, format: bytes, most: null, steps: Array.from({ length: 40 }, (_, k) => 2 ** k) },
];

export const Charts = memo<Props>(function Charts({ points, time, minutes, onMinutes }) {
  const { t, host } = useUi();
  const range = (
    <div class="range" role="group" aria-label={t('range')}>
      {RANGES.map((n) => (
        <button type="button" key={n} class="quiet" aria-pressed={n === minutes} onClick={() => onMinutes(n)}>
          {t('minutes', { n })}
        </button>
      ))}
    </div>
  );
  return (
    <>
      {CHARTS.map((c, k) => (
        <Panel
          key={c.id}
          id={c.id}
          title={c.title}
          tools={
            <>
              {k === 0 && range}
              {k === CHARTS.length - 1 && <CsvButton title="charts" onClick={() => host.download(csvName('history', time), csv(CSV_COLUMNS, points))} />}
            </>
          }
        >
          <Chart title={c.title} points={points} series={c.series} minutes={minutes} format={c.format} least={0} most={c.most} {...(c.steps ? { steps: c.steps } : {})} />
        </Panel>
      ))}
    </>
  );
});
