// Server-sent events, taken apart as they come.

export interface StreamEvent {
  readonly name: string;
  readonly data: string;
}

export class EventStreamParser {
  #rest = '';
  #name = '';
  #data: string[] = [];

  *take(chunk: string): Generator<StreamEvent> {
    const lines = (this.#rest + chunk).split(/\r\n|\n|\r/);
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line === '') {
        if (this.#data.length > 0) yield { name: this.#name === '' ? 'message' : this.#name, data: this.#data.join('\n') };
        this.#name = '';
        this.#data = [];
        continue;
      }
      const colon = line.indexOf(':');
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
      if (field === 'event') this.#name = value;
      if (field === 'data') this.#data.push(value);
    }
  }
}
