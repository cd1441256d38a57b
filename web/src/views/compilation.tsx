import { useMemo } from 'preact/hooks';
import type { Queue as QueueState } from '../api/schema.ts';
import { memo } from '../memo.ts';
import type { QueueRow } from '../model/rows.ts';
import type { Column } from '../table/columns.ts';
import { csv, csvName } from '../table/csv.ts';
import { TablePanel } from '../table/table_panel.tsx';
import { count, decimal, duration, seconds } from '../text/format.ts';
import { named, type Translate } from '../text/strings.ts';
import { useUi } from '../ui.ts';
import { CsvButton, Empty, Panel } from './panel.tsx';

const PHASES = ['parse', 'optimize', 'codegen'] as const;

type Running = NonNullable<QueueState['running']>;

/** One row an engine that compiles something. */
const RUNNING_CSV = [
  { id: 'engine', value: (q: QueueState) => q.engine },
  { id: 'label', value: (q: QueueState) => q.running?.label ?? null },
  { id: 'program', value: (q: QueueState) => q.running?.program ?? null },
  { id: 'phase', value: (q: QueueState) => q.running?.phase ?? null },
  { id: 'elapsed_ms', value: (q: QueueState) => q.running?.elapsed_ms ?? null },
  { id: 'estimate_ms', value: (q: QueueState) => q.running?.estimate_ms ?? null },
  { id: 'progress', value: (q: QueueState) => q.running?.progress ?? null },
];

export const Active = memo<{ queues: readonly QueueState[]; time: string }>(function Active({ queues, time }) {
  const { host } = useUi();
  const busy = queues.filter((q) => q.running !== null);
  return (
    <Panel
      id="active"
      title="active"
      count={busy.length > 0 ? count(busy.length) : ''}
      tools={<CsvButton title="active" onClick={() => host.download(csvName('active', time), csv(RUNNING_CSV, busy))} />}
    >
      {busy.length === 0 && <Empty text="active_empty" />}
      {busy.map((q) => q.running && <Job key={q.engine} job={q.running} phases={q.phases} />)}
      {queues.map((q) => (
        <Totals key={q.engine} queue={q} />
      ))}
    </Panel>
  );
});

function Job({ job, phases }: { job: Running; phases: QueueState['phases'] }) {
  const { t } = useUi();
  const at = PHASES.findIndex((phase) => phase === job.phase);
  const phase = named(t, 'phase', job.phase);
  const done = Math.round(Math.max(0, Math.min(1, job.progress)) * 100);
  return (
    <div class="job">
      <p class="job-label" title={job.label}>
        <strong>{job.label}</strong>
        {job.program !== '' && <span class="muted"> · {job.program}</span>}
      </p>
      <ol class="phases">
        {PHASES.map((name, k) => (
          <li key={name} class={at < 0 ? '' : k < at ? 'done' : k === at ? 'now' : ''} {...(k === at ? { 'aria-current': 'step' as const } : {})}>
            <span>{named(t, 'phase', name)}</span>
            <small>{phases[name] ? t('phase_mean', { time: duration(phases[name].mean_ms) }) : '\u00a0'}</small>
          </li>
        ))}
        {at < 0 && (
          <li class="now" aria-current="step">
            <span>{phase}</span>
            <small>{'\u00a0'}</small>
          </li>
        )}
      </ol>
      <div class="progress" role="progressbar" aria-valuenow={done} aria-valuemin={0} aria-valuemax={100} aria-label={t('progress_label', { label: job.label, phase })}>
        <span style={{ width: `${done}%` }} />
      </div>
      <p class="note">{t('progress', { elapsed: duration(job.elapsed_ms), estimate: duration(job.estimate_ms) })}</p>
    </div>
  );
}

function Totals({ queue }: { queue: QueueState }) {
  const { t } = useUi();
  const outcomes = Object.entries(queue.outcomes).filter(([, n]) => n > 0);
  return (
    <div class="totals">
      {outcomes.length > 0 && (
        <ul class="chips" aria-label={t('outcomes')}>
          {outcomes.map(([name, n]) => (
            <li key={name} class={name === 'compiled' || name === 'from disk' ? 'chip good' : 'chip warn'}>
              {name} <b>{count(n)}</b>
            </li>
          ))}
        </ul>
      )}
      <p class="note">{t('budget', { used: seconds(queue.cpu_s), budget: seconds(queue.budget_s), starts: queue.compiler_starts })}</p>
    </div>
  );
}

const queueColumns = (t: Translate): readonly Column<QueueRow>[] => [
  { id: 'engine', label: 'engine', width: 0, value: (r) => r.engine },
  { id: 'position', label: 'position', width: 0, value: (r) => r.position },
  { id: 'label', label: 'job', width: 120, grow: 1, head: true, value: (r) => r.label },
  { id: 'urgency', label: 'urgency', width: 88, value: (r) => r.urgency, cell: (r) => <span class={`urgency urgency-${r.urgency}`}>{named(t, 'urgency', r.urgency)}</span> },
  { id: 'gain', label: 'gain', width: 56, numeric: true, value: (r) => r.gain, cell: (r) => decimal(r.gain) },
  { id: 'estimate_ms', label: 'estimate', width: 84, numeric: true, value: (r) => r.estimate_ms, cell: (r) => duration(r.estimate_ms) },
];

export const Queue = memo<{ rows: readonly QueueRow[]; queued: number; time: string }>(function Queue({ rows, queued, time }) {
  const { t } = useUi();
  const columns = useMemo(() => queueColumns(t), [t]);
  const more = queued - rows.length;
  return (
    <TablePanel
      id="queue"
      title="queue"
      empty="queue_empty"
      time={time}
      rows={rows}
      columns={columns}
      rowKey={(row) => row.key}
      after={more > 0 ? <p class="note pad">{t('queue_more', { n: count(more) })}</p> : null}
    />
  );
});
