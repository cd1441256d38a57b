// The host that a browser is.
import type { Host } from './host.ts';

export function browserHost(window: Window & typeof globalThis): Host {
  const { document, navigator } = window;
  const storage = (): Storage | null => {
    try {
      return window.localStorage;
    } catch {
      return null; // the browser may forbid it
    }
  };
  return {
    languages: navigator.languages,
    download(name, text) {
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }));
      link.download = name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    },
    copy(text) {
      // Absent on pages that came neither over TLS nor from loopback.
      void (navigator.clipboard as Clipboard | undefined)?.writeText(text).catch(() => undefined);
    },
    confirm: (question) => Promise.resolve(window.confirm(question)),
    pickText(accept) {
      return new Promise((resolve) => {
        const input = document.createElement('input');
        input.type = 'file';
        input.accept = accept;
        input.addEventListener('cancel', () => resolve(null));
        input.addEventListener('change', () => {
          const file = input.files?.[0];
          if (file) file.text().then(resolve, () => resolve(null));
          else resolve(null);
        });
        input.click();
      });
    },
    read: (key) => storage()?.getItem(`msvm.${key}`) ?? null,
    write(key, value) {
      try {
        storage()?.setItem(`msvm.${key}`, value);
      } catch {
        // full, or forbidden: it holds until the page is closed
      }
    },
    visible: () => document.visibilityState === 'visible',
    onVisible(changed) {
      document.addEventListener('visibilitychange', changed);
      return () => document.removeEventListener('visibilitychange', changed);
    },
    onColours(changed) {
      const dark = window.matchMedia('(prefers-color-scheme: dark)');
      dark.addEventListener('change', changed);
      return () => dark.removeEventListener('change', changed);
    },
  };
}
