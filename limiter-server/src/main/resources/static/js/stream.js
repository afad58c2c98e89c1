// Server-sent events over fetch: unlike EventSource it sees the status of a "no", keeps the last id over its own reconnects, and
// notices a connection that is open but silent.
import { problem } from './api.js';

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;

/** Splits a stream of text into events `{type, data, id}`; `feed` takes the text as it comes. */
export function parser(onEvent) {
  let rest = '';
  let event = { type: 'message', data: [], id: undefined };
  const line = (text) => {
    if (text === '') {
      if (event.data.length > 0) {
        onEvent({ type: event.type, data: event.data.join('\n'), id: event.id });
      }
      event = { type: 'message', data: [], id: undefined };
      return;
    }
    const colon = text.indexOf(':');
    const field = colon < 0 ? text : text.slice(0, colon);
    const value = colon < 0 ? '' : text.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') {
      event.type = value;
    } else if (field === 'data') {
      event.data.push(value);
    } else if (field === 'id') {
      event.id = value;
    }
  };
  return (text) => {
    const lines = (rest + text).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop();
    lines.forEach(line);
  };
}

/**
 * One stream, reconnected for ever until it is closed. `onEvent(event)`; `onState({state, retryAt, problem})` with `live` at each
 * event after a break, `lost` when it breaks. `silentMs`: silence that counts as a break; 0 = a stream may be silent. `lastId`: the event to go on after.
 */
export class Stream {
  constructor(path, { onEvent, onState = () => {}, silentMs = 0, lastId = undefined }) {
    Object.assign(this, { path, onEvent, onState, silentMs, lastId, wait: FIRST_WAIT_MS, live: false, closed: false });
    this.connect();
  }

  close() {
    this.closed = true;
    clearTimeout(this.retry);
    clearTimeout(this.silence);
    this.abort?.abort();
  }

  /** Connects at once if it is waiting to. */
  now() {
    if (!this.closed && this.retry !== undefined) {
      this.connect();
    }
  }

  async connect() {
    clearTimeout(this.retry);
    this.retry = undefined;
    const abort = new AbortController();
    this.abort = abort;
    this.listen(abort);
    let fault;
    try {
      const headers = { Accept: 'text/event-stream' };
      if (this.lastId) {
        headers['Last-Event-ID'] = this.lastId;
      }
      const response = await fetch(this.path, { headers, signal: abort.signal, cache: 'no-store' });
      if (!response.ok) {
        throw await problem(response);
      }
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      const feed = parser((event) => this.heard(event, abort));
      for (let read = await reader.read(); !read.done; read = await reader.read()) {
        feed(read.value);
      }
    } catch (e) {
      fault = e;
    }
    clearTimeout(this.silence);
    if (!this.closed && this.abort === abort) {
      this.again(fault);
    }
  }

  heard(event, abort) {
    this.listen(abort);
    this.lastId = event.id ?? this.lastId;
    this.wait = FIRST_WAIT_MS;
    if (!this.live) {
      this.live = true;
      this.onState({ state: 'live' });
    }
    this.onEvent(event);
  }

  listen(abort) {
    clearTimeout(this.silence);
    if (this.silentMs > 0) {
      this.silence = setTimeout(() => abort.abort(), this.silentMs);
    }
  }

  again(fault) {
    // Not all pages at the same moment after a restart of the server.
    const wait = this.wait * (0.75 + Math.random() / 2);
    this.wait = Math.min(2 * this.wait, LONGEST_WAIT_MS);
    this.live = false;
    this.retry = setTimeout(() => this.connect(), wait);
    this.onState({ state: 'lost', retryAt: Date.now() + wait, problem: fault });
  }
}
