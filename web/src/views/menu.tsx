// A menu of actions where the pointer is, or under a button.
import { useLayoutEffect, useRef } from 'preact/hooks';

export interface MenuItem {
  readonly label: string;
  readonly run: () => void;
}

interface Props {
  readonly label: string;
  readonly x: number;
  readonly y: number;
  readonly items: readonly MenuItem[];
  readonly onClose: () => void;
}

export function Menu({ label, x, y, items, onClose }: Props) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const menu = box.current;
    if (!menu) return undefined;
    const { activeElement, defaultView } = menu.ownerDocument;
    const edge = menu.getBoundingClientRect();
    menu.style.left = `${Math.max(8, Math.min(x, (defaultView?.innerWidth ?? 0) - edge.width - 8))}px`;
    menu.style.top = `${Math.max(8, Math.min(y, (defaultView?.innerHeight ?? 0) - edge.height - 8))}px`;
    menu.querySelector('button')?.focus();
    const outside = (event: Event) => {
      if (!menu.contains(event.target as Node)) onClose();
    };
    menu.ownerDocument.addEventListener('pointerdown', outside);
    return () => {
      menu.ownerDocument.removeEventListener('pointerdown', outside);
      if (activeElement instanceof HTMLElement && activeElement.isConnected) activeElement.focus();
    };
  }, []);
  const onKeyDown = (event: KeyboardEvent) => {
    const buttons = [...(box.current?.querySelectorAll('button') ?? [])];
    const at = buttons.findIndex((b) => b === box.current?.ownerDocument.activeElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) buttons[(at + step + buttons.length) % buttons.length]?.focus();
    else if (event.key === 'Escape' || event.key === 'Tab') onClose();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div ref={box} class="menu" role="menu" aria-label={label} onKeyDown={onKeyDown}>
      {items.map((item) => (
        <button
          type="button"
          role="menuitem"
          tabIndex={-1}
          key={item.label}
          onClick={() => {
            onClose();
            item.run();
          }}
        >
          {item.label}
        </button>
      ))}
    </div>
  );
}
