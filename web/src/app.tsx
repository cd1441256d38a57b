// The page: takes a feed's events into a session, and lays its views out.
import { render } from 'preact';
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import { Drawer } from './disassembly/drawer.tsx';
import type { Action, EntryAddress, Feed } from './feed/feed.ts';
import type { Host } from './host.ts';
import { alertRows, cacheRows, chosen, eventRows, latencyRows, queueRows, slowPathRows, warningRows, type Choice } from './model/rows.ts';
import { Session, type Shown } from './model/session.ts';
import { summary } from './model/summary.ts';
import { LANGUAGES, preferred, translator, type Language } from './text/strings.ts';
import { UiContext, type Ui } from './ui.ts';
import { Alerts } from './views/alerts.tsx';
import { Banner } from './views/banner.tsx';
import { Cache } from './views/cache.tsx';
import { Charts } from './views/charts.tsx';
import { Active, Queue } from './views/compilation.tsx';
import { Figures } from './views/figures.tsx';
import { Header, Sections, THEMES, type Theme } from './views/header.tsx';
import { Events, Latency, SlowPath } from './views/logs.tsx';
import { Memory } from './views/memory.tsx';
import { Shapes } from './views/shapes.tsx';
import { Warnings } from './views/warnings.tsx';

/** Puts a monitor into an element of the host's page. @returns takes it away again. */
export function mount(element: HTMLElement, feed: Feed, host: Host): () => void {
  render(<App feed={feed} host={host} element={element} />, element);
  return () => render(null, element);
}

interface AppProps {
  readonly feed: Feed;
  readonly host: Host;
  readonly element: HTMLElement;
}

function App({ feed, host, element }: AppProps) {
  const [shown, setShown] = useState<Shown | null>(null);
  const session = useMemo(() => new Session((now) => host.visible() && setShown(now)), [host]);
  useEffect(() => host.onVisible(() => host.visible() && setShown(session.shown)), [host, session]);
  useEffect(() => feed.subscribe((event) => session.take(event)), [feed, session]);

  const [language, setLanguage] = useSetting<Language>(host, 'language', LANGUAGES, preferred(host.languages));
  const [theme, setTheme] = useSetting<Theme>(host, 'theme', THEMES, 'auto');
  const scheme = useScheme(host, theme);
  const t = useMemo(() => translator(language), [language]);
  const ui = useMemo<Ui>(() => ({ t, language, feed, host, theme: scheme }), [t, language, feed, host, scheme]);
  useEffect(() => {
    const root = element.ownerDocument.documentElement;
    root.lang = language === 'zh' ? 'zh-CN' : 'en';
    root.dataset.theme = host.scheme?.() ?? theme;
  }, [element, language, theme, host, scheme]);

  return (
    <UiContext.Provider value={ui}>
      <Page
        shown={shown ?? session.shown}
        theme={theme}
        onPause={() => session.pause(!session.shown.paused)}
        onLanguage={() => setLanguage(language === 'en' ? 'zh' : 'en')}
        onTheme={() => setTheme(THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'auto')}
        ui={ui}
      />
    </UiContext.Provider>
  );
}

interface PageProps {
  readonly shown: Shown;
  readonly theme: Theme;
  readonly ui: Ui;
  readonly onPause: () => void;
  readonly onLanguage: () => void;
  readonly onTheme: () => void;
}

function Page({ shown, theme, ui, onPause, onLanguage, onTheme }: PageProps) {
  const { t, feed } = ui;
  const { state, before, points } = shown;
  const [choice, setChoice] = useState<Choice>(null);
  const [minutes, setMinutes] = useState(5);
  const [query, setQuery] = useState('');
  const [open, setOpen] = useState<EntryAddress | null>(null);
  const [refusal, setRefusal] = useState('');
  const act = useCallback(
    (action: Action, body: unknown) => {
      setRefusal('');
      feed.act(action, body).catch((error: unknown) => setRefusal(error instanceof Error ? error.message : String(error)));
    },
    [feed],
  );
  const close = useCallback(() => setOpen(null), []);
  // A program that has ended can't be looked at any longer.
  const seen = state?.programs.some((p) => p.id === choice) ? choice : null;
  const rows = useMemo(() => (state ? rowsOf(shown, seen) : null), [state, before, seen]);
  return (
    <div class="monitor">
      <a class="skip" href="#cache">
        {t('skip')}
      </a>
      <Header
        shown={shown}
        hit_rate={rows?.summary.hit_rate ?? null}
        warnings={rows?.warnings.filter((w) => w.severity !== 'info').length ?? 0}
        errors={rows?.warnings.some((w) => w.severity === 'error') ?? false}
        choice={seen}
        theme={theme}
        onChoice={setChoice}
        onPause={onPause}
        onLanguage={onLanguage}
        onTheme={onTheme}
        onAct={act}
      />
      <Banner shown={shown} refusal={refusal} onResume={onPause} onCloseRefusal={() => setRefusal('')} />
      {state && rows ? (
        <>
          <Sections />
          <main>
            <Figures summary={rows.summary} />
            <div class="grid">
              <Charts points={points} time={state.time} minutes={minutes} onMinutes={setMinutes} />
              <Warnings rows={rows.warnings} time={state.time} />
              <Alerts rows={rows.alerts} time={state.time} />
              <Active queues={state.queues} time={state.time} />
              <Queue rows={rows.queue} queued={state.queues.reduce((sum, q) => sum + q.queued, 0)} time={state.time} />
              <Memory state={state} />
              <Cache rows={rows.cache} time={state.time} query={query} onQuery={setQuery} onDisassemble={setOpen} />
              <Shapes programs={rows.programs} time={state.time} />
              <Latency rows={rows.latency} time={state.time} />
              <SlowPath rows={rows.slow_path} time={state.time} />
              <Events rows={rows.events} time={state.time} />
            </div>
          </main>
        </>
      ) : (
        <main class="waiting">
          <p>{t('waiting_for_data')}</p>
        </main>
      )}
      {open && <Drawer address={open} onClose={close} />}
    </div>
  );
}

function rowsOf(shown: Shown, choice: Choice) {
  const { state, before } = shown;
  if (!state) return null;
  return {
    summary: summary(state, choice),
    programs: chosen(state, choice),
    warnings: warningRows(state, choice),
    alerts: alertRows(state),
    queue: queueRows(state),
    cache: cacheRows(state, choice, before),
    latency: latencyRows(state, choice),
    slow_path: slowPathRows(state, choice),
    events: eventRows(state, choice),
  };
}

/** A choice that the host remembers. */
function useSetting<T extends string>(host: Host, key: string, values: readonly T[], otherwise: T): [T, (value: T) => void] {
  const [value, setValue] = useState<T>(() => values.find((v) => v === host.read(key)) ?? otherwise);
  return [
    value,
    (next) => {
      setValue(next);
      host.write(key, next);
    },
  ];
}

/** A name that changes when colours do. */
function useScheme(host: Host, theme: Theme): string {
  const [changes, setChanges] = useState(0);
  useEffect(() => host.onColours(() => setChanges((n) => n + 1)), [host]);
  return `${theme}/${changes}`;
}
