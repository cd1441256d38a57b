// What the page's HTTP feed needs of its surroundings, from Node: requests with a token, server-sent events.
import { request as plainRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { request as tlsRequest } from 'node:https';
import type { HttpHost } from '../../../web/src/feed/http.ts';
import { EventStreamParser } from './model/event_stream.ts';

export interface Access {
  readonly token?: string;
  /** PEM, trusted beside what the system trusts: a monitor's own, from its run file. */
  readonly certificate?: string;
}

interface Init {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const LARGEST = 64 * 1024 * 1024;

function open(url: string, access: Access, init: Init, answered: (response: IncomingMessage) => void): ClientRequest {
  const options = {
    method: init.method ?? 'GET',
    headers: { ...init.headers, ...(access.token === undefined ? {} : { Authorization: `Bearer ${access.token}` }) },
    ...(access.certificate === undefined ? {} : { ca: access.certificate, checkServerIdentity: () => undefined }), // this very certificate, whatever its name
  };
  const request = (url.startsWith('https:') ? tlsRequest : plainRequest)(url, options, answered);
  request.end(init.body);
  return request;
}

/** Enough of an EventSource: events, errors, close. */
class NodeEvents extends EventTarget {
  readonly #request: ClientRequest;

  constructor(url: string, access: Access) {
    super();
    const failed = (): void => void this.dispatchEvent(new Event('error'));
    this.#request = open(url, access, { headers: { Accept: 'text/event-stream' } }, (response) => {
      if (response.statusCode !== 200) {
        response.resume();
        failed();
        return;
      }
      this.dispatchEvent(new Event('open'));
      const parser = new EventStreamParser();
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        for (const event of parser.take(chunk)) this.dispatchEvent(new MessageEvent(event.name, { data: event.data }));
      });
      response.on('close', failed);
      response.on('error', failed);
    });
    this.#request.on('error', failed);
  }

  close(): void {
    this.#request.destroy();
  }
}

export function nodeHost(access: () => Access): HttpHost {
  return {
    now: () => Date.now(),
    random: () => Math.random(),
    events: (url) => new NodeEvents(url, access()) as unknown as EventSource,
    fetch: (url, init) =>
      new Promise((resolve, reject) => {
        const { method, headers, body } = (init ?? {}) as Init;
        const request = open(url, access(), { ...(method === undefined ? {} : { method }), ...(headers === undefined ? {} : { headers }), ...(body === undefined ? {} : { body }) }, (response) => {
          const chunks: Buffer[] = [];
          let size = 0;
          response.on('data', (chunk: Buffer) => {
            size += chunk.length;
            if (size > LARGEST) request.destroy(new Error('the answer is larger than 64 MiB'));
            else chunks.push(chunk);
          });
          response.on('error', reject);
          response.on('end', () => resolve(new Response(Buffer.concat(chunks), { status: response.statusCode ?? 502, statusText: response.statusMessage ?? '' })));
        });
        request.setTimeout(15_000, () => request.destroy(new Error('no answer within 15 s')));
        request.on('error', reject);
      }),
  };
}
