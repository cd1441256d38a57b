// A panel with one table: its count, its filter, its CSV file.
import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { count } from '../text/format.ts';
import type { Key } from '../text/strings.ts';
import { useUi } from '../ui.ts';
import { CsvButton, Empty, Panel } from '../views/panel.tsx';
import { csv, csvName } from './csv.ts';
import { filtered } from './order.ts';
import { Table, type TableProps } from './table.tsx';

interface Props<Row> extends TableProps<Row> {
  readonly id: string;
  readonly empty: Key;
  /** Time of the state, for the file's name. */
  readonly time: string;
  readonly filter?: boolean;
  /** The filter's text, where others may set it, too. */
  readonly query?: readonly [string, (query: string) => void];
  readonly tools?: ComponentChildren;
  readonly before?: ComponentChildren;
  readonly after?: ComponentChildren;
}

export function TablePanel<Row>(props: Props<Row>) {
  const { id, title, rows, columns, empty } = props;
  const { t, host } = useUi();
  const own = useState('');
  const [query, setQuery] = props.query ?? own;
  const found = useMemo(() => filtered(rows, query, (row) => columns.map((c) => c.value(row))), [rows, query, columns]);
  const tools = (
    <>
      {props.tools}
      {props.filter && (
        <input type="search" class="filter" value={query} placeholder={t('filter')} aria-label={t('filter_label', { table: t(title) })} onInput={(event) => setQuery(event.currentTarget.value)} />
      )}
      <CsvButton title={title} onClick={() => host.download(csvName(id, props.time), csv(columns, found))} />
    </>
  );
  return (
    <Panel id={id} title={title} count={rows.length === 0 ? '' : found.length === rows.length ? count(rows.length) : t('shown_of', { n: count(found.length), all: count(rows.length) })} tools={tools}>
      {props.before}
      {rows.length === 0 ? <Empty text={empty} /> : found.length === 0 ? <p class="empty">{t('filter_none', { query })}</p> : <Table {...props} rows={found} />}
      {props.after}
    </Panel>
  );
}
