import { memo } from '../memo.ts';
import { LOW_HIT_RATE, type Summary } from '../model/summary.ts';
import { bytes, count, decimal, duration, percent } from '../text/format.ts';
import { useUi } from '../ui.ts';

interface FigureProps {
  readonly name: string;
  readonly value: string;
  readonly note: string;
  readonly look?: string;
}

const Figure = memo<FigureProps>(function Figure({ name, value, note, look }) {
  return (
    <div class={`figure ${look ?? ''}`}>
      <dt>{name}</dt>
      <dd>
        <b>{value}</b>
        <small>{note}</small>
      </dd>
    </div>
  );
});

export const Figures = memo<{ summary: Summary }>(function Figures({ summary: s }) {
  const { t } = useUi();
  const low = s.hit_rate !== null && s.hit_rate < LOW_HIT_RATE;
  return (
    <dl class="figures" aria-label={t('figures')}>
      <Figure name={t('hit_rate')} value={percent(s.hit_rate)} note={t('recent_runs', { whole: percent(s.whole_hit_rate) })} look={low ? 'first bad' : 'first'} />
      <Figure name={t('specialised')} value={percent(s.specialised_hit_rate)} note={t('specialised_note')} />
      <Figure name={t('runs_per_s')} value={decimal(s.runs_per_s)} note={t('runs_note', { n: count(s.runs), failed: count(s.failed_runs) })} look={s.failed_runs > 0 ? 'warn' : ''} />
      <Figure name={t('throughput')} value={t('gflops', { n: decimal(s.gflops) })} note={t('throughput_note', { share: percent(s.peak_share) })} />
      <Figure name={t('bandwidth')} value={t('gbytes', { n: decimal(s.gbytes_per_s) })} note={t('layout_note', { bytes: bytes(s.layout_bytes) })} />
      <Figure name={t('code')} value={bytes(s.code_bytes)} note={t('code_note', { n: count(s.entries), limit: bytes(s.cache_bytes) })} />
      <Figure name={t('compile_time')} value={duration(s.mean_compile_ms)} note={t('compile_note', { n: count(s.compiled), failed: count(s.failed) })} look={s.failed > 0 ? 'warn' : ''} />
    </dl>
  );
});
