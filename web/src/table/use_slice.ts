// The slice of a list that its scrolling box shows; follows scrolling and the box's size.
import { useLayoutEffect, useState } from 'preact/hooks';
import type { RefObject } from 'preact';
import { slice, type Slice } from './slice.ts';

export function useSlice(box: RefObject<HTMLElement | null>, rows: number, row_height: number): Slice & { readonly width: number } {
  const [view, setView] = useState({ top: 0, height: 600, width: 600 });
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const look = () => {
      const next = { top: element.scrollTop, height: element.clientHeight, width: element.clientWidth };
      setView((old) => (old.top === next.top && old.height === next.height && old.width === next.width ? old : next));
    };
    look();
    const sizes = new ResizeObserver(look);
    sizes.observe(element);
    element.addEventListener('scroll', look, { passive: true });
    return () => {
      sizes.disconnect();
      element.removeEventListener('scroll', look);
    };
  }, [box]);
  return { ...slice(rows, row_height, view.top, view.height), width: view.width };
}
