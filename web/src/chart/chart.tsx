// A line chart over time. Colours and font are those that its legend has, so that style sheets alone decide them.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { Point } from '../api/schema.ts';
import { clock, tick } from '../text/format.ts';
import type { Key } from '../text/strings.ts';
import { useUi } from '../ui.ts';

export interface Series {
  readonly label: Key;
  readonly value: (point: Point) => number | null;
  /** Of the style sheet: line-CLASS. */
  readonly colour: string;
  readonly filled?: boolean;
}

export interface ChartProps {
  readonly title: Key;
  readonly points: readonly Point[];
  readonly series: readonly Series[];
  readonly minutes: number;
  readonly format: (value: number | null) => string;
  /** Ends of the axis; most null: by the data. */
  readonly least: number;
  readonly most: number | null;
  /** Distances of its marks that read well; none: 1, 2, 5, 10, … */
  readonly steps?: readonly number[];
}

const HEIGHT = 168;

export function Chart(props: ChartProps) {
  const { title, points, series, minutes, format } = props;
  const { t, theme, language } = useUi();
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [at, setAt] = useState<number | null>(null);
  const data = useMemo(() => columns(points, series), [points, series]);
  const newest = useRef(data);
  newest.current = data;

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const made = new uPlot(options(element, props, setAt), newest.current, element);
    plot.current = made;
    const sizes = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT }));
    sizes.observe(element);
    return () => {
      sizes.disconnect();
      made.destroy();
    };
  }, [theme, language, series, format]);

  useEffect(() => {
    const end = data[0].at(-1);
    plot.current?.batch(() => {
      plot.current?.setData(data, false);
      plot.current?.setScale('x', end === undefined ? { min: 0, max: 1 } : { min: end - minutes * 60, max: end });
    });
  }, [data, minutes, theme, language, format]);

  const row = at === null ? points.at(-1) : points[at];
  const values = series.map((s) => ({ ...s, text: row ? format(s.value(row)) : format(null) }));
  const label = t('chart_label', { title: t(title), minutes, series: values.map((v) => `${t(v.label)} ${v.text}`).join(', ') });
  return (
    <figure class="chart">
      <figcaption>
        {values.map((v) => (
          <span key={v.label} class="chart-key">
            <i class={`swatch line-${v.colour}`} />
            {t(v.label)} <b>{v.text}</b>
          </span>
        ))}
        <time class="muted">{row ? clock(row.time) : t('chart_empty')}</time>
      </figcaption>
      <div ref={box} class="plot" role="img" aria-label={label} />
    </figure>
  );
}

type Columns = [number[], ...(number | null)[][]];

function columns(points: readonly Point[], series: readonly Series[]): Columns {
  return [points.map((p) => Date.parse(p.time) / 1000), ...series.map((s) => points.map(s.value))];
}

function options(element: HTMLElement, props: ChartProps, setAt: (index: number | null) => void): uPlot.Options {
  const { series, format, least, most } = props;
  const view = element.ownerDocument.defaultView;
  const style = view?.getComputedStyle(element);
  const colour = (name: string) => {
    const swatch = element.parentElement?.querySelector(`.line-${name}`);
    return (swatch && view?.getComputedStyle(swatch).color) ?? 'gray';
  };
  const axis = { stroke: style?.color ?? 'gray', font: `11px ${style?.fontFamily ?? 'sans-serif'}`, ticks: { show: false }, grid: { stroke: style?.borderColor ?? 'gray', width: 1 } };
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
    padding: [10, 8, 0, 0],
    scales: { y: { range: (_plot, _low, high) => [least, most ?? Math.max(1e-9, (high || 0) * 1.1)] } },
    axes: [
      { ...axis, size: 24, space: 54, grid: { show: false }, values: (_plot, splits, _axis, _space, step) => splits.map((s) => clock(new Date(s * 1000).toISOString()).slice(0, step < 60 ? 8 : 5)) },
      { ...axis, size: 58, space: 34, ...(props.steps ? { incrs: [...props.steps] } : {}), values: (_plot, splits) => splits.map((s) => tick(format(s))) },
    ],
    series: [
      {},
      ...series.map((s) => {
        const stroke = colour(s.colour);
        return { stroke, width: 1.6, points: { show: false }, spanGaps: false, ...(s.filled ? { fill: stroke.replace(/^rgb\((.*)\)$/, 'rgba($1, 0.12)') } : {}) };
      }),
    ],
    hooks: { setCursor: [(plot) => setAt(plot.cursor.idx ?? null)] },
  };
}
