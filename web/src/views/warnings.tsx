import { useMemo, useRef } from 'preact/hooks';
import { memo } from '../memo.ts';
import type { WarningRow } from '../model/rows.ts';
import { csv, csvName } from '../table/csv.ts';
import type { Column } from '../table/columns.ts';
import { filtered } from '../table/order.ts';
import { clock, count } from '../text/format.ts';
import { sentence } from '../text/sentences.ts';
import { named } from '../text/strings.ts';
import { useUi } from '../ui.ts';
import { useState } from 'preact/hooks';
import { Place } from './badges.tsx';
import { CsvButton, Empty, Panel } from './panel.tsx';

const COLUMNS: readonly Column<WarningRow>[] = [
  { id: 'time', label: 'time', width: 0, value: (w) => w.time },
  { id: 'kind', label: 'kind', width: 0, value: (w) => w.kind },
  { id: 'severity', label: 'severity', width: 0, value: (w) => w.severity },
  { id: 'program', label: 'program', width: 0, value: (w) => w.program },
  { id: 'region', label: 'region', width: 0, value: (w) => w.region },
  { id: 'place', label: 'place', width: 0, value: (w) => w.place },
  { id: 'text', label: 'text', width: 0, value: (w) => w.text },
  { id: 'mend', label: 'mend', width: 0, value: (w) => w.mend },
];

/** More are in the CSV file. */
const MOST = 200;

export const Warnings = memo<{ rows: readonly WarningRow[]; time: string }>(function Warnings({ rows, time }) {
  const { t, host } = useUi();
  const [query, setQuery] = useState('');
  const found = useMemo(() => filtered(rows, query, (w) => COLUMNS.map((c) => c.value(w))), [rows, query]);
  const tools = (
    <>
      <input type="search" class="filter" value={query} placeholder={t('filter')} aria-label={t('filter_label', { table: t('warnings') })} onInput={(event) => setQuery(event.currentTarget.value)} />
      <CsvButton title="warnings" onClick={() => host.download(csvName('warnings', time), csv(COLUMNS, found))} />
    </>
  );
  return (
    <Panel id="warnings" title="warnings" count={rows.length > 0 ? count(rows.length) : ''} tools={tools}>
      {rows.length === 0 ? <Empty text="warnings_none" /> : found.length === 0 && <p class="empty">{t('filter_none', { query })}</p>}
      {found.length > 0 && (
        <ul class="warnings" tabIndex={0} aria-label={t('warnings')}>
          {found.slice(0, MOST).map((w) => (
            <Row key={w.key} time={w.time} kind={w.kind} severity={w.severity} program={w.program} region={w.region} place={w.place} text={w.text} mend={w.mend} />
          ))}
        </ul>
      )}
      <Announcer rows={rows} />
    </Panel>
  );
});

const Row = memo<Omit<WarningRow, 'key'>>(function Row(w) {
  const { t, language } = useUi();
  return (
    <li class={`warning ${w.kind === 'fallback' ? 'severity-error' : `severity-${w.severity}`}`}>
      <time dateTime={w.time} title={w.time}>
        {clock(w.time)}
      </time>
      <span class="warning-kind">{named(t, 'kind', w.kind)}</span>
      <div class="warning-text">
        <p>
          <strong>{sentence(w.text, language)}</strong> <Place place={w.place} />
        </p>
        {(w.program !== '' || w.region !== '') && <p class="muted">{[w.program, w.region].filter((s) => s !== '').join(' · ')}</p>}
        {w.mend !== '' && <p class="mend">{sentence(w.mend, language)}</p>}
      </div>
    </li>
  );
});

/** Says the newest warning to screen readers, once, when it comes; not those that were there when the page opened. */
function Announcer({ rows }: { rows: readonly WarningRow[] }) {
  const { t, language } = useUi();
  const known = useRef<ReadonlySet<string> | null>(null);
  const said = useRef('');
  const fresh = known.current ? rows.find((w) => !known.current?.has(w.key)) : undefined;
  known.current = new Set(rows.map((w) => w.key));
  if (fresh) said.current = t('new_warning', { text: `${sentence(fresh.text, language)} ${fresh.place}`.trim() });
  return (
    <p class="unseen" role="status" aria-live="polite">
      {said.current}
    </p>
  );
}
