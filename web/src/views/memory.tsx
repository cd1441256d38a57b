import type { Memory as MemoryState, State } from '../api/schema.ts';
import { memo } from '../memo.ts';
import { ownerRows, type OwnerRow } from '../model/rows.ts';
import { csv, csvName } from '../table/csv.ts';
import { bytes, percent } from '../text/format.ts';
import { sentence } from '../text/sentences.ts';
import { named } from '../text/strings.ts';
import { useUi } from '../ui.ts';
import { CsvButton, Empty, Panel } from './panel.tsx';

const MEMORY_CSV = [
  { id: 'engine', value: (r: OwnerRow) => r.memory.engine },
  { id: 'device', value: (r: OwnerRow) => r.memory.device },
  { id: 'owner', value: (r: OwnerRow) => r.owner },
  { id: 'bytes', value: (r: OwnerRow) => r.bytes },
  { id: 'in_use', value: (r: OwnerRow) => r.memory.in_use },
  { id: 'reserved', value: (r: OwnerRow) => r.memory.reserved },
  { id: 'peak', value: (r: OwnerRow) => r.memory.peak },
  { id: 'fragmentation', value: (r: OwnerRow) => r.memory.fragmentation },
];

export const Memory = memo<{ state: State }>(function Memory({ state }) {
  const { host } = useUi();
  return (
    <Panel id="memory" title="memory" tools={<CsvButton title="memory" onClick={() => host.download(csvName('memory', state.time), csv(MEMORY_CSV, ownerRows(state)))} />}>
      {state.memory.length === 0 ? <Empty text="memory_empty" /> : state.memory.map((m) => <Pool key={m.engine} memory={m} />)}
    </Panel>
  );
});

const Pool = memo<{ memory: MemoryState }>(function Pool({ memory }) {
  const { t, language } = useUi();
  const owners = Object.entries(memory.by_owner).filter(([, n]) => n > 0);
  const owned = owners.reduce((sum, [, n]) => sum + n, 0);
  const free = Math.max(0, memory.reserved - owned);
  const whole = owned + free;
  const label = t('memory_label', {
    device: memory.device,
    used: bytes(memory.in_use),
    reserved: bytes(memory.reserved),
    owners: owners.map(([name, n]) => `${named(t, 'owner', name)} ${bytes(n)}`).join(', '),
  });
  return (
    <div class="pool">
      <dl class="facts">
        <div>
          <dt>{t('in_use')}</dt>
          <dd>{bytes(memory.in_use)}</dd>
        </div>
        <div>
          <dt>{t('reserved')}</dt>
          <dd>{bytes(memory.reserved)}</dd>
        </div>
        <div>
          <dt>{t('peak')}</dt>
          <dd>{bytes(memory.peak)}</dd>
        </div>
        <div>
          <dt>{t('fragmentation')}</dt>
          <dd>{percent(memory.fragmentation)}</dd>
        </div>
      </dl>
      <div class="stack" role="img" aria-label={label}>
        {owners.map(([name, n], k) => (
          <span key={name} class={`owner-${k % 6}`} style={{ width: `${whole > 0 ? (100 * n) / whole : 0}%` }} title={`${named(t, 'owner', name)} ${bytes(n)}`} />
        ))}
      </div>
      <ul class="legend">
        {owners.map(([name, n], k) => (
          <li key={name}>
            <i class={`swatch owner-${k % 6}`} />
            {named(t, 'owner', name)} <b>{bytes(n)}</b>
          </li>
        ))}
        {free > 0 && (
          <li>
            <i class="swatch owner-free" />
            {t('owner_free')} <b>{bytes(free)}</b>
          </li>
        )}
      </ul>
      {memory.hint !== '' && <p class="hint">{sentence(memory.hint, language)}</p>}
    </div>
  );
});
