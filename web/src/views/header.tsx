import { useRef, useState } from 'preact/hooks';
import type { State } from '../api/schema.ts';
import type { Action } from '../feed/feed.ts';
import type { Choice } from '../model/rows.ts';
import type { Shown } from '../model/session.ts';
import { LOW_HIT_RATE } from '../model/summary.ts';
import { count, percent, seconds } from '../text/format.ts';
import type { Key } from '../text/strings.ts';
import { useUi } from '../ui.ts';
import { Icon } from './icon.tsx';
import { Menu, type MenuItem } from './menu.tsx';

export const THEMES = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

interface Props {
  readonly shown: Shown;
  readonly hit_rate: number | null;
  readonly warnings: number;
  readonly errors: boolean;
  readonly choice: Choice;
  readonly theme: Theme;
  readonly onChoice: (choice: Choice) => void;
  readonly onPause: () => void;
  readonly onLanguage: () => void;
  readonly onTheme: () => void;
  readonly onAct: (action: Action, body: unknown) => void;
}

export function Header(props: Props) {
  const { shown, hit_rate, choice, theme } = props;
  const { t, host } = useUi();
  const { state, connection, paused } = shown;
  const low = hit_rate !== null && hit_rate < LOW_HIT_RATE;
  const pause = t(paused ? 'resume' : 'pause');
  const theme_label = t(`theme_${theme}`);
  return (
    <header class="top">
      <div class="brand">
        <h1>{t('title')}</h1>
        <span class={`status status-${connection.status}`} role="status">
          <i aria-hidden="true" />
          {t(`status_${connection.status}`)}
        </span>
      </div>
      {state && (
        <>
          <select class="program" aria-label={t('program')} value={choice ?? ''} onChange={(event) => props.onChoice(event.currentTarget.value === '' ? null : Number(event.currentTarget.value))}>
            <option value="">{t('all_programs', { n: count(state.programs.length) })}</option>
            {state.programs.map((p) => (
              <option key={p.id} value={p.id}>
                {p.name}
              </option>
            ))}
          </select>
          <p class="process">
            <span class="mono command" title={state.command}>
              {state.command}
            </span>
            <span class="muted">{t('process', { pid: state.pid, isa: state.isa, threads: state.threads, up: seconds(state.uptime_s) })}</span>
          </p>
          <div class="top-tools">
            {props.warnings > 0 && (
              <a href="#warnings" class={`chip ${props.errors ? 'bad' : 'warn'}`}>
                {t('warnings_n', { n: count(props.warnings) })}
              </a>
            )}
            <span class={`chip ${state.tracing ? 'good' : ''}`}>{t(state.tracing ? 'tracing_on' : 'tracing_off')}</span>
            {state.role === 'read' ? <span class="chip">{t('read_only')}</span> : <Actions state={state} choice={choice} onAct={props.onAct} />}
          </div>
          <p class={`rate ${low ? 'bad' : ''}`}>
            <span>{t('hit_rate')}</span>
            <b>{percent(hit_rate)}</b>
          </p>
        </>
      )}
      <div class="controls">
        <button type="button" class="quiet" aria-pressed={paused} aria-label={pause} title={pause} onClick={props.onPause}>
          <Icon name={paused ? 'play' : 'pause'} />
        </button>
        {!host.scheme && (
          <button type="button" class="quiet" aria-label={theme_label} title={theme_label} onClick={props.onTheme}>
            <Icon name={theme} />
          </button>
        )}
        <button type="button" class="quiet language" lang={t('language') === 'English' ? 'en' : 'zh-CN'} aria-label={`${t('language')} – ${t('language_label')}`} onClick={props.onLanguage}>
          {t('language')}
        </button>
      </div>
    </header>
  );
}

interface ActionsProps {
  readonly state: State;
  readonly choice: Choice;
  readonly onAct: (action: Action, body: unknown) => void;
}

/** What isn't JSON goes as a text: the program says what it expected. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** What changes the program: for those who may. */
function Actions({ state, choice, onAct }: ActionsProps) {
  const { t, host } = useUi();
  const button = useRef<HTMLButtonElement>(null);
  const [open, setOpen] = useState(false);
  const targets = choice === null ? state.programs : state.programs.filter((p) => p.id === choice);
  const clearCache = async (program: number, name: string) => {
    if (await host.confirm(t('clear_cache_sure', { program: name }))) onAct('clear_cache', { program });
  };
  const clear = targets.map((p): MenuItem => ({
    label: `${t('clear_cache')}: ${p.name}`,
    run: () => void clearCache(p.id, p.name),
  }));
  const load = async () => {
    const text = await host.pickText('.json,application/json');
    if (text !== null) onAct('load_capability_patch', parsed(text));
  };
  const items: readonly MenuItem[] = [
    { label: t(state.tracing ? 'turn_tracing_off' : 'turn_tracing_on'), run: () => onAct('trace', { on: !state.tracing }) },
    ...clear,
    { label: t('load_patch'), run: () => void load() },
  ];
  const edge = button.current?.getBoundingClientRect();
  return (
    <>
      <button ref={button} type="button" class="quiet" aria-haspopup="menu" aria-expanded={open} aria-label={t('menu_more')} title={t('menu_more')} onClick={() => setOpen(true)}>
        <Icon name="more" />
      </button>
      {open && <Menu label={t('menu_more')} x={edge?.left ?? 0} y={(edge?.bottom ?? 0) + 4} items={items} onClose={() => setOpen(false)} />}
    </>
  );
}

export const SECTIONS: readonly (readonly [id: string, title: Key])[] = [
  ['hit-rate', 'charts'],
  ['warnings', 'warnings'],
  ['alerts', 'alerts'],
  ['active', 'active'],
  ['queue', 'queue'],
  ['memory', 'memory'],
  ['cache', 'cache'],
  ['shapes', 'shapes'],
  ['latency', 'latency'],
  ['slow_path', 'slow_path'],
  ['events', 'events'],
];

export function Sections() {
  const { t } = useUi();
  return (
    <nav class="sections" aria-label={t('sections')}>
      {SECTIONS.map(([id, title]) => (
        <a key={id} href={`#${id}`}>
          {t(title)}
        </a>
      ))}
    </nav>
  );
}
