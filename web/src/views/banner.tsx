// What stands above everything when the page isn't what it seems: connection lost, paused, another version, a refused action.
import { useEffect, useState } from 'preact/hooks';
import { VERSION } from '../api/schema.ts';
import type { Shown } from '../model/session.ts';
import { clock, count } from '../text/format.ts';
import { useUi } from '../ui.ts';
import { Icon } from './icon.tsx';

interface Props {
  readonly shown: Shown;
  readonly refusal: string;
  readonly onResume: () => void;
  readonly onCloseRefusal: () => void;
}

export function Banner({ shown, refusal, onResume, onCloseRefusal }: Props) {
  const { t } = useUi();
  const { connection, state, paused, waiting } = shown;
  return (
    <aside class="banners" aria-label={t('notices')}>
      <div role="alert">
        {connection.status === 'lost' && <Lost why={connection.why} retry_at={connection.retry_at} />}
        {refusal !== '' && (
          <p class="banner bad">
            <span>{t('action_failed', { why: refusal })}</span>
            <button type="button" class="quiet" aria-label={t('close')} onClick={onCloseRefusal}>
              <Icon name="close" />
            </button>
          </p>
        )}
      </div>
      {paused && state && (
        <p class="banner">
          <span>{t('paused', { time: clock(state.time), n: count(waiting) })}</span>
          <button type="button" onClick={onResume}>
            {t('resume')}
          </button>
        </p>
      )}
      {state && state.version !== VERSION && <p class="banner warn">{t('other_version', { page: VERSION, program: state.version })}</p>}
    </aside>
  );
}

function Lost({ why, retry_at }: { why: 'unreachable' | 'refused' | 'silent'; retry_at: number }) {
  const { t, feed } = useUi();
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, []);
  const left = Math.max(0, Math.ceil((retry_at - now) / 1000));
  return (
    <p class="banner bad" id="lost">
      <span>
        {t(`lost_${why}`)} <span aria-hidden="true">{left > 0 ? t('lost_next', { s: left }) : t('lost_now')}</span>
      </span>
      <button type="button" onClick={() => feed.retry()}>
        {t('retry')}
      </button>
    </p>
  );
}
