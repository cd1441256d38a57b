import { useMemo } from 'preact/hooks';
import { memo } from '../memo.ts';
import type { EventRow, LatencyRow, SlowPathRow } from '../model/rows.ts';
import type { Column } from '../table/columns.ts';
import { TablePanel } from '../table/table_panel.tsx';
import { clock, count, duration, shortRegion } from '../text/format.ts';
import { named, type Translate } from '../text/strings.ts';
import { useUi } from '../ui.ts';
import { Place, Tier } from './badges.tsx';

const latencyColumns = (t: Translate): readonly Column<LatencyRow>[] => {
  const times = (['mean', 'p50', 'p90', 'p99', 'p999', 'max'] as const).map((name): Column<LatencyRow> => {
    const column = `${name}_ms` as const;
    return { id: column, label: name, width: 74, grow: 1, numeric: true, wide: name !== 'p50' && name !== 'p99', value: (r) => r.spread[column], cell: (r) => duration(r.spread[column]) };
  });
  return [
    { id: 'program', label: 'program', width: 80, grow: 2, head: true, value: (r) => r.program.name },
    { id: 'tier', label: 'tier', width: 46, grow: 2, value: (r) => r.tier, cell: (r) => <span class="tier-named"><Tier tier={r.tier} /> <span>{named(t, 'tier', String(r.tier))}</span></span> },
    { id: 'count', label: 'runs', width: 68, grow: 1, numeric: true, value: (r) => r.spread.count, cell: (r) => count(r.spread.count) },
    ...times,
  ];
};

export const Latency = memo<{ rows: readonly LatencyRow[]; time: string }>(function Latency({ rows, time }) {
  const { t } = useUi();
  const columns = useMemo(() => latencyColumns(t), [t]);
  return <TablePanel id="latency" title="latency" empty="latency_empty" time={time} rows={rows} columns={columns} rowKey={(r) => r.key} />;
});

const At = ({ time }: { time: string }) => (
  <time dateTime={time} title={time}>
    {clock(time)}
  </time>
);

const SLOW_COLUMNS: readonly Column<SlowPathRow>[] = [
  { id: 'time', label: 'time', width: 84, value: (r) => r.time, cell: (r) => <At time={r.time} /> },
  { id: 'program', label: 'program', width: 0, value: (r) => r.program },
  { id: 'region', label: 'region', width: 130, wide: true, value: (r) => r.region, cell: (r) => shortRegion(r.region) },
  { id: 'reason', label: 'reason', width: 170, grow: 1, value: (r) => r.reason },
  { id: 'place', label: 'place', width: 104, value: (r) => r.place || null, cell: (r) => <Place place={r.place} /> },
];

export const SlowPath = memo<{ rows: readonly SlowPathRow[]; time: string }>(function SlowPath({ rows, time }) {
  return <TablePanel id="slow_path" title="slow_path" empty="slow_path_empty" time={time} filter rows={rows} columns={SLOW_COLUMNS} rowKey={(r) => r.key} />;
});

const eventColumns = (t: Translate): readonly Column<EventRow>[] => [
  { id: 'time', label: 'time', width: 84, value: (r) => r.time, cell: (r) => <At time={r.time} /> },
  { id: 'program', label: 'program', width: 0, value: (r) => r.program },
  { id: 'kind', label: 'event', width: 84, value: (r) => r.kind, cell: (r) => <span class={`event event-${r.kind.replaceAll(' ', '-')}`}>{named(t, 'event', r.kind)}</span> },
  { id: 'what', label: 'text', width: 180, grow: 1, value: (r) => r.what, cell: (r) => <span class="mono">{r.what}</span> },
];

export const Events = memo<{ rows: readonly EventRow[]; time: string }>(function Events({ rows, time }) {
  const { t } = useUi();
  const columns = useMemo(() => eventColumns(t), [t]);
  return <TablePanel id="events" title="events" empty="events_empty" time={time} filter rows={rows} columns={columns} rowKey={(r) => r.key} />;
});
