import { memo } from '../memo.ts';
import type { AlertRow } from '../model/rows.ts';
import { csv, csvName } from '../table/csv.ts';
import { clock, count, decimal } from '../text/format.ts';
import { named } from '../text/strings.ts';
import { useUi } from '../ui.ts';
import { CsvButton, Empty, Panel } from './panel.tsx';

const COLUMNS = [
  { id: 'rule', value: (a: AlertRow) => a.rule },
  { id: 'state', value: (a: AlertRow) => a.state },
  { id: 'since', value: (a: AlertRow) => a.since },
  { id: 'value', value: (a: AlertRow) => a.value },
  { id: 'message', value: (a: AlertRow) => a.message },
];

export const Alerts = memo<{ rows: readonly AlertRow[]; time: string }>(function Alerts({ rows, time }) {
  const { t, host } = useUi();
  return (
    <Panel
      id="alerts"
      title="alerts"
      count={rows.length > 0 ? count(rows.length) : ''}
      tools={<CsvButton title="alerts" onClick={() => host.download(csvName('alerts', time), csv(COLUMNS, rows))} />}
    >
      {rows.length === 0 ? (
        <Empty text="alerts_none" />
      ) : (
        <ul class="alerts">
          {rows.map((a) => (
            <li key={a.key} class={`alert alert-${a.state}`}>
              <p class="alert-head">
                <code>{a.rule}</code>
                <span class={`chip state-${a.state}`}>{named(t, 'state', a.state)}</span>
              </p>
              <p class="muted">
                {t('value')} <b>{decimal(a.value)}</b>
                {a.since !== '' && (
                  <>
                    {' · '}
                    {t('since')} <time dateTime={a.since}>{clock(a.since)}</time>
                  </>
                )}
              </p>
              {a.message !== '' && <p class="mend">{a.message}</p>}
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
});
