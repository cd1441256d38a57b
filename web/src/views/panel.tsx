import type { ComponentChildren } from 'preact';
import { useUi } from '../ui.ts';
import type { Key } from '../text/strings.ts';
import { Icon } from './icon.tsx';

interface Props {
  readonly id: string;
  readonly title: Key;
  readonly count?: string | undefined;
  readonly tools?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function Panel({ id, title, count, tools, children }: Props) {
  const { t } = useUi();
  return (
    <section class="panel" id={id} aria-labelledby={`${id}-title`}>
      <header class="panel-head">
        <h2 id={`${id}-title`}>{t(title)}</h2>
        {count !== undefined && count !== '' && <span class="panel-count">{count}</span>}
        <div class="panel-tools">{tools}</div>
      </header>
      {children}
    </section>
  );
}

export function CsvButton({ title, onClick }: { title: Key; onClick: () => void }) {
  const { t } = useUi();
  const label = t('export_csv', { table: t(title) });
  return (
    <button type="button" class="quiet csv" aria-label={label} title={label} onClick={onClick}>
      <Icon name="save" />
      <span>CSV</span>
    </button>
  );
}

export function Empty({ text }: { text: Key }) {
  const { t } = useUi();
  return <p class="empty">{t(text)}</p>;
}
