import { useMemo } from 'preact/hooks';
import type { CacheRow } from '../model/rows.ts';
import { TablePanel } from '../table/table_panel.tsx';
import type { Column } from '../table/columns.ts';
import { bytes, count, duration, seconds, shortRegion } from '../text/format.ts';
import type { Translate } from '../text/strings.ts';
import type { EntryAddress } from '../feed/feed.ts';
import { useUi } from '../ui.ts';
import { memo } from '../memo.ts';
import { Tier } from './badges.tsx';

interface Props {
  readonly rows: readonly CacheRow[];
  readonly time: string;
  readonly query: string;
  readonly onQuery: (query: string) => void;
  readonly onDisassemble: (address: EntryAddress) => void;
}

export const address = (row: CacheRow): EntryAddress => ({ program: row.program.id, function: row.region.function, region: row.region.region, entry: row.entry.name });

/** `t` and `onDisassemble` may be left out where only values are wanted. */
export function cacheColumns(t: Translate, onDisassemble: (address: EntryAddress) => void): readonly Column<CacheRow>[] {
  return [
    {
      id: 'signature',
      label: 'signature',
      width: 128,
      grow: 5,
      head: true,
      value: (r) => r.entry.name,
      cell: (r) => (
        <>
          <button type="button" class="link mono row-name" onClick={() => onDisassemble(address(r))}>
            <Signature name={r.entry.name} box={r.entry.box} />
          </button>
          {(r.hit || r.fell) && <span class="unseen">, {t(r.fell ? 'just_fell' : 'just_hit')}</span>}
        </>
      ),
    },
    { id: 'alias', label: 'alias', width: 116, grow: 1, wide: true, value: (r) => r.entry.alias || null, cell: (r) => <span class="mono">{r.entry.alias || '–'}</span> },
    { id: 'program', label: 'program', width: 0, value: (r) => r.program.name },
    { id: 'region', label: 'region', width: 126, grow: 1, wide: true, value: (r) => r.region.name, cell: (r) => shortRegion(r.region.name) },
    { id: 'place', label: 'place', width: 116, grow: 1, wide: true, value: (r) => r.region.place || null },
    { id: 'box', label: 'shape', width: 0, value: (r) => r.entry.box },
    { id: 'tier', label: 'tier', width: 46, numeric: true, value: (r) => r.entry.tier, cell: (r) => <Tier tier={r.entry.tier} /> },
    { id: 'hits', label: 'hits', width: 64, numeric: true, value: (r) => r.entry.hits, cell: (r) => count(r.entry.hits) },
    { id: 'last_hit_s', label: 'last_hit', width: 78, numeric: true, wide: true, value: (r) => r.entry.last_hit_s, cell: (r) => seconds(r.entry.last_hit_s) },
    {
      id: 'code_bytes',
      label: 'size',
      width: 76,
      numeric: true,
      value: (r) => r.entry.code_bytes,
      cell: (r) => (r.entry.shared ? <span class="muted" title={bytes(r.entry.code_bytes)}>{t('shared')}</span> : bytes(r.entry.code_bytes)),
    },
    { id: 'shared', label: 'shared', width: 0, value: (r) => Number(r.entry.shared) },
    { id: 'outcome', label: 'outcome', width: 92, wide: true, value: (r) => r.entry.outcome || null },
    { id: 'compile_ms', label: 'compiled_in', width: 100, numeric: true, wide: true, value: (r) => r.entry.compile_ms, cell: (r) => duration(r.entry.compile_ms) },
    { id: 'age_s', label: 'age', width: 92, numeric: true, wide: true, value: (r) => r.entry.age_s, cell: (r) => seconds(r.entry.age_s) },
  ];
}

/** Where there is little room its beginning is cut: what tells entries apart stands at the end. */
function Signature({ name, box }: { name: string; box: string }) {
  const cut = box !== '' && name.endsWith(box) ? name.length - box.length : 0;
  return (
    <span class="signature">
      {cut > 0 && <span class="signature-head">{name.slice(0, cut)}</span>}
      <span class="signature-tail">{name.slice(cut)}</span>
    </span>
  );
}

const look = (row: CacheRow): string => (row.fell ? 'fell' : row.hit ? 'hit' : '');

export const Cache = memo<Props>(function Cache({ rows, time, query, onQuery, onDisassemble }) {
  const { t, host } = useUi();
  const columns = useMemo(() => cacheColumns(t, onDisassemble), [t, onDisassemble]);
  return (
    <TablePanel
      id="cache"
      title="cache"
      empty="cache_empty"
      time={time}
      filter
      query={[query, onQuery]}
      rows={rows}
      columns={columns}
      rowKey={(row) => row.key}
      rowName={(row) => row.entry.name}
      rowClass={look}
      order={{ column: 'hits', descending: true }}
      menu={(row) => [
        { label: t('show_disassembly'), run: () => onDisassemble(address(row)) },
        { label: t('copy_signature'), run: () => host.copy(row.entry.name) },
        { label: t('filter_region'), run: () => onQuery(row.region.name) },
      ]}
    />
  );
});
