// The page in a browser, served by the program that it shows.
import { mount } from './app.tsx';
import { browserHost } from './browser.ts';
import { HttpFeed } from './feed/http.ts';
import './style/index.css';

const element = document.getElementById('monitor');
if (element) {
  const feed = new HttpFeed(new URL('.', location.href).pathname, {
    fetch: (url, init) => fetch(url, init),
    events: (url) => new EventSource(url),
    now: () => Date.now(),
    random: () => Math.random(),
  });
  mount(element, feed, browserHost(window));
}
