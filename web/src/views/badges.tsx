// Small things that many tables show.
import { useUi } from '../ui.ts';
import { named } from '../text/strings.ts';

export function Tier({ tier }: { tier: number }) {
  const { t } = useUi();
  return (
    <span class={`tier tier-${tier}`} title={named(t, 'tier', String(tier))}>
      {String(tier)}
    </span>
  );
}

/** A place in Python; a link where there is an editor to open it. */
export function Place({ place }: { place: string }) {
  const { t, feed } = useUi();
  if (place === '') return null;
  const { open } = feed;
  if (!open) return <span class="place">{place}</span>;
  return (
    <button type="button" class="link place" title={t('open_place', { place })} onClick={() => open(place)}>
      {place}
    </button>
  );
}

/** A part of a whole, as a thin bar behind a text. */
export function Share({ share, text, tier }: { share: number; text: string; tier?: number }) {
  return (
    <span class={`share${tier === undefined ? '' : ` share-${tier}`}`}>
      <span class="share-bar" style={{ width: `${Math.max(0, Math.min(1, share)) * 100}%` }} />
      <span class="share-text">{text}</span>
    </span>
  );
}
