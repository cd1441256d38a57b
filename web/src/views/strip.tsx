// Draws a strip: bands behind, a bar per size, numbers below.
import { bandName, spaced, type Size, type Strip } from '../model/strip.ts';
import { count } from '../text/format.ts';
import { useUi } from '../ui.ts';

const HEIGHT = 46;
const PAD = 0.04;

export function StripView({ strip }: { strip: Strip }) {
  const { t } = useUi();
  const { sizes, bands, least, most } = strip;
  const place = (v: number) => (most > least ? PAD + ((v - least) / (most - least)) * (1 - 2 * PAD) : 0.5);
  const percent = (share: number) => `${(share * 100).toFixed(3)}%`;
  const tallest = Math.max(1, ...sizes.map((s) => s.runs));
  const width = Math.max(0.004, Math.min(0.018, 0.5 / Math.max(1, sizes.length)));
  const edge = (v: number | null) => (v === null ? 1 : v < least ? 0 : place(v) + 0.5 / Math.max(1, most - least) / 3);
  const numbers = spaced([...sizes].sort((a, b) => b.runs - a.runs), (s) => place(s.value), 0.1);
  const label = t('strip_label', {
    symbol: strip.symbol,
    sizes: sizes.map((s) => t('strip_size', { value: s.value, n: count(s.runs) })).join(', '),
    bands: bands.length > 0 ? t('buckets', { list: bands.map(bandName).join(', ') }) : t('no_buckets'),
  });
  return (
    <div class="strip">
      <span class="strip-symbol mono">{strip.symbol}</span>
      <svg role="img" aria-label={label} height={HEIGHT + 18} width="100%">
        {bands.map((band, k) => {
          const from = edge(band.after);
          return <rect key={bandName(band)} class={`band band-${k % 2} ${band.last === null ? 'band-beyond' : ''}`} x={percent(from)} width={percent(Math.max(0, edge(band.last) - from))} y="0" height={HEIGHT} />;
        })}
        {bands.map((band) => {
          const from = edge(band.after);
          const to = edge(band.last);
          return (
            to - from > 0.1 && (
              <text key={bandName(band)} class="band-name" x={percent((from + to) / 2)} y="10" text-anchor="middle">
                {bandName(band)}
              </text>
            )
          );
        })}
        <line class="axis" x1="0" x2="100%" y1={HEIGHT} y2={HEIGHT} />
        {sizes.map((size) => (
          <Bar key={size.value} size={size} x={place(size.value) - width / 2} width={width} unit={(HEIGHT - 14) / tallest} />
        ))}
        {numbers.map((size) => (
          <text key={size.value} class="size-name" x={percent(place(size.value))} y={HEIGHT + 13} text-anchor="middle">
            {size.value}
          </text>
        ))}
      </svg>
    </div>
  );
}

function Bar({ size, x, width, unit }: { size: Size; x: number; width: number; unit: number }) {
  const { t } = useUi();
  let foot = HEIGHT;
  return (
    <g>
      <title>{t('strip_size', { value: size.value, n: count(size.runs) })}</title>
      {([2, 1, 0] as const).map((tier) => {
        const height = size.tiers[tier] > 0 ? Math.max(2, size.tiers[tier] * unit) : 0;
        foot -= height;
        return height > 0 && <rect key={tier} class={`bar-${tier}`} x={`${(x * 100).toFixed(3)}%`} width={`${(width * 100).toFixed(3)}%`} y={foot} height={height} />;
      })}
    </g>
  );
}
