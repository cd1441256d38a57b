// The host that an editor is: VS Code's webviews, and what they can't do themselves.
import type { Asking } from './feed/message_feed.ts';
import type { Port } from './feed/messages.ts';
import type { Host } from './host.ts';

export function editorHost(window: Window & typeof globalThis, port: Port, asking: Asking, settings: Readonly<Record<string, string>>, languages: readonly string[]): Host {
  const { document } = window;
  const kept = new Map(Object.entries(settings));
  return {
    languages,
    download: (name, text) => port.post({ kind: 'download', name, text }),
    copy: (text) => port.post({ kind: 'copy', text }),
    confirm: async (question) => (await asking.ask({ what: 'confirm', question })) === true,
    async pickText(accept) {
      const text = await asking.ask({ what: 'pick_text', accept });
      return typeof text === 'string' ? text : null;
    },
    read: (key) => kept.get(key) ?? null,
    write(key, value) {
      kept.set(key, value);
      port.post({ kind: 'write', key, value });
    },
    scheme: () => (/\bvscode-(dark|high-contrast(?!-light))\b/.test(document.body.className) ? 'dark' : 'light'),
    onColours(changed) {
      const observer = new MutationObserver(changed);
      observer.observe(document.body, { attributes: true, attributeFilter: ['class', 'data-vscode-theme-id'] });
      return () => observer.disconnect();
    },
    visible: () => document.visibilityState === 'visible',
    onVisible(changed) {
      document.addEventListener('visibilitychange', changed);
      return () => document.removeEventListener('visibilitychange', changed);
    },
  };
}
