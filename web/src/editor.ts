// The page in a view of an editor, which hands it data by messages. Bundled by vscode/build.mjs.
import { mount } from './app.tsx';
import { editorHost } from './editor_host.ts';
import { Asking, MessageFeed } from './feed/message_feed.ts';
import type { Port, ToPage } from './feed/messages.ts';
import './style/index.css';

declare function acquireVsCodeApi(): { postMessage(message: unknown): void };

const api = acquireVsCodeApi();
const port: Port = {
  post: (message) => api.postMessage(message),
  listen(heard) {
    const take = (event: MessageEvent<ToPage>): void => heard(event.data);
    window.addEventListener('message', take);
    return () => window.removeEventListener('message', take);
  },
};
const asking = new Asking(port);
const element = document.getElementById('monitor');
const ends = port.listen((message) => {
  if (message.kind !== 'begin' || !element) return;
  ends();
  mount(element, new MessageFeed(port, asking), editorHost(window, port, asking, message.settings, message.languages));
});
port.post({ kind: 'ready' });
