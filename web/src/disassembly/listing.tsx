// A list of code lines, of which only those on the screen are drawn. Lines that are lit are brought into view.
import { useEffect, useRef, useState } from 'preact/hooks';
import { useSlice } from '../table/use_slice.ts';

export interface Line {
  readonly gutter: string;
  readonly text: string;
  /** Something was found here. */
  readonly mark: boolean;
  readonly note: string;
}

interface Props {
  readonly title: string;
  readonly class: string;
  readonly lines: readonly Line[];
  readonly lit: ReadonlySet<number>;
  /** Scrolls to lit lines: not where the pointer is. */
  readonly follow: boolean;
  /** A line to go to, each time that `jumps` is another object. */
  readonly jump?: number | undefined;
  readonly jumps?: unknown;
  readonly onTarget: (line: number | null) => void;
}

const LINE_HEIGHT = 20;

export function Listing({ title, lines, lit, follow, jump, jumps, onTarget, ...rest }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const shown = useSlice(box, lines.length, LINE_HEIGHT);
  const [cursor, setCursor] = useState<number | null>(null);
  const show = (line: number) => {
    const element = box.current;
    if (!element) return;
    const top = line * LINE_HEIGHT;
    if (top < element.scrollTop || top + LINE_HEIGHT > element.scrollTop + element.clientHeight) element.scrollTop = top - element.clientHeight / 3;
  };
  useEffect(() => {
    if (jump === undefined) return;
    setCursor(jump);
    onTarget(jump);
    show(jump);
    box.current?.focus();
  }, [jump, jumps]);
  useEffect(() => {
    const first = Math.min(...lit);
    if (follow && lit.size > 0 && ![...lit].some((k) => k >= shown.first + 12 && k < shown.end - 12)) show(first);
  }, [lit, follow]);
  const go = (line: number) => {
    setCursor(line);
    onTarget(line);
    show(line);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor((box.current?.clientHeight ?? 0) / LINE_HEIGHT) - 1);
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -lines.length, End: lines.length };
    const step = steps[event.key];
    if (step === undefined || lines.length === 0) return;
    event.preventDefault();
    go(Math.max(0, Math.min(lines.length - 1, (cursor ?? -1) + step)));
  };
  return (
    <section class={`listing ${rest.class}`} aria-label={title}>
      <h4>{title}</h4>
      <div class="listing-box" ref={box} tabIndex={0} role="group" aria-label={title} onKeyDown={onKeyDown} onPointerLeave={() => onTarget(null)}>
        <div class="listing-lines" style={{ height: `${lines.length * LINE_HEIGHT}px` }}>
          <pre style={{ top: `${shown.above}px` }}>
            {lines.slice(shown.first, shown.end).map((line, k) => {
              const index = shown.first + k;
              const look = `line${lit.has(index) ? ' lit' : ''}${line.mark ? ' mark' : ''}${cursor === index ? ' cursor' : ''}`;
              return (
                <div key={index} class={look} {...(line.note !== '' ? { title: line.note } : {})} onPointerEnter={() => onTarget(index)}>
                  <span class="gutter">{line.gutter}</span>
                  <span class="line-text">{line.text}</span>
                </div>
              );
            })}
          </pre>
        </div>
      </div>
    </section>
  );
}
