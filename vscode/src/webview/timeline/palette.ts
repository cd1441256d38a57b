// Colours of the canvas: the editor's, read anew when its theme changes.

export interface Palette {
  readonly back: string;
  readonly band: string;
  readonly line: string;
  readonly text: string;
  readonly muted: string;
  readonly focus: string;
  readonly found: string;
  readonly outlier: string;
  readonly plain: string;
  readonly tiers: readonly string[];
  readonly tierText: readonly string[];
  readonly font: string;
}

export function palette(element: HTMLElement): Palette {
  const style = getComputedStyle(element);
  const read = (name: string, otherwise: string): string => style.getPropertyValue(name).trim() || otherwise;
  return {
    back: read('--tl-back', '#1e1e1e'),
    band: read('--tl-band', '#252526'),
    line: read('--tl-line', '#333'),
    text: read('--tl-text', '#ddd'),
    muted: read('--tl-muted', '#999'),
    focus: read('--tl-focus', '#3794ff'),
    found: read('--tl-found', '#e2c08d'),
    outlier: read('--tl-outlier', '#f14c4c'),
    plain: read('--tl-plain', '#888'),
    tiers: [read('--tl-tier-0', '#c08f35'), read('--tl-tier-1', '#5780d6'), read('--tl-tier-2', '#2f9d89')],
    tierText: [read('--tl-tier-text-0', '#111'), read('--tl-tier-text-1', '#111'), read('--tl-tier-text-2', '#111')],
    font: read('--vscode-font-family', 'sans-serif'),
  };
}
