#!/usr/bin/env node
// Permits from a Sluice server, in one file and with nothing but Node's own fetch (18 or newer).
//
//   import {Project} from './sluice.mjs';
//   const project = new Project('http://localhost:8080', 'acme-prod', {token: 'slc_...', agent: 'host-3/agent-17'});
//   const answer = await project.call({model: 'claude-sonnet-5-5', input_tokens: 2000, max_output_tokens: 4096}, 60_000,
//       async permit => {
//         const answer = await send();
//         await permit.settle({usage: {input_tokens: 1900, output_tokens: 250}});
//         return answer;
//       });
//
// While it waits it says why, and its place in line; meanwhile the permit of a running call is renewed. A call that ends without
// settle, or by an error, is charged its estimate: the provider may have counted it. permit.cancel() says that nothing was sent.
import {randomUUID} from 'node:crypto';
import {pathToFileURL} from 'node:url';

/** A "no" that waiting does not change, or that came after the longest wait. `kind` is one stable word, `body` all of it. */
export class SluiceError extends Error {
  constructor(status, body) {
    super(body.detail ?? body.title ?? `HTTP ${status}`);
    this.status = status;
    this.kind = body.kind ?? 'unknown';
    this.body = body;
  }
}

/** How a wait is told unless you say otherwise. */
export const show = place =>
  console.error(`waiting on ${place.project} ${place.limit}: place ${place.position}, about ${Math.ceil(place.wait_ms / 1000)} s`);

const pause = ms => new Promise(resolve => setTimeout(resolve, ms));
// fetch throws TypeError where no answer came; 503 says that the server or its Redis is going: another may be there.
const passes = error => error instanceof SluiceError ? error.status === 503 : error instanceof TypeError;

export class Project {
  constructor(url, project, {token = process.env.SLUICE_TOKEN, agent, team, run, onWait = show} = {}) {
    this.base = `${url.replace(/\/+$/, '')}/v1/projects/${encodeURIComponent(project)}`;
    this.name = project;
    this.token = token;
    this.who = {agent, team, run};
    this.onWait = onWait;
  }

  /** Runs `work` with a permit: waits for it up to `maxWaitMs`, and charges the estimate if `work` does not settle it. */
  async call(call, maxWaitMs, work) {
    const permit = await this.permit(call, maxWaitMs);
    try {
      return await work(permit);
    } finally {
      if (!permit.ended) await permit.settle();
    }
  }

  /** A permit. The id makes a repeated question the same question: after a broken connection it keeps its place. */
  async permit(call, maxWaitMs = 0) {
    const ask = {...this.who, id: randomUUID(), ...call};
    const deadline = performance.now() + maxWaitMs;
    for (let waitMs = 100; ; waitMs = Math.min(2 * waitMs, 2_000)) {
      try {
        const left = Math.max(0, Math.floor(deadline - performance.now()));
        return new Permit(this, await this.#wait({...ask, max_wait_ms: left}));
      } catch (error) {
        if (!passes(error) || performance.now() + waitMs > deadline) throw error;
        await pause(waitMs);
      }
    }
  }

  async #wait(ask) {
    const response = await this.#fetch('POST', '/permits', ask, {accept: 'text/event-stream'});
    for await (const {name, data} of events(response.body)) {
      if (name === 'granted') return data;
      if (name === 'refused') throw new SluiceError(data.status, data);
      if (name === 'waiting') this.onWait({project: this.name, ...data});
    }
    throw new TypeError('the server ended the stream without an answer');
  }

  /** One call of the API below the project. */
  async request(method, path, body) {
    const text = await (await this.#fetch(method, path, body, {})).text();
    return text ? JSON.parse(text) : {};
  }

  async #fetch(method, path, body, headers) {
    const response = await fetch(this.base + path, {
      method,
      headers: {
        ...headers,
        ...(this.token && {authorization: `Bearer ${this.token}`}),
        ...(body && {'content-type': 'application/json'}),
      },
      body: body && JSON.stringify(body),
    });
    if (response.ok) return response;
    throw new SluiceError(response.status, await response.json().catch(() => ({})));
  }
}

/** Leave for one request. Ends once: by `settle` or by `cancel`. */
export class Permit {
  #timer;

  constructor(project, granted) {
    this.project = project;
    this.id = granted.permit;
    this.modelClass = granted.class;
    this.waitedMs = granted.waited_ms;
    this.ended = false;
    this.lost = new AbortController(); // aborted where the lease ran out: pass lost.signal to your own fetch
    this.#timer = setInterval(() => this.#renew(), granted.lease_ms / 3);
    this.#timer.unref();
  }

  /** Says what was used ({usage}), or hands over the provider's answer ({status, headers, body}). Returns the advice. */
  async settle(report = {}) {
    return (await this.#end('POST', '/settle', report)).advice;
  }

  /** Nothing was sent: everything comes back. */
  cancel() {
    return this.#end('DELETE', '');
  }

  async #end(method, path, body) {
    this.ended = true;
    clearInterval(this.#timer);
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.project.request(method, `/permits/${this.id}${path}`, body);
      } catch (error) {
        // Said twice it counts once.
        if (attempt === 4 || !passes(error)) throw error;
        await pause(100 * 2 ** attempt);
      }
    }
  }

  async #renew() {
    try {
      await this.project.request('POST', `/permits/${this.id}/renew`);
    } catch (error) {
      if ([404, 410].includes(error.status) && !this.ended) {
        clearInterval(this.#timer);
        this.lost.abort(new Error('the lease ran out'));
      } // else the next try is in time, too
    }
  }
}

/** Server-sent events. */
async function* events(body) {
  let rest = '';
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    const blocks = (rest + chunk).split(/\r?\n\r?\n/);
    rest = blocks.pop();
    for (const block of blocks) {
      const field = name => block.split(/\r?\n/).filter(line => line.startsWith(`${name}:`))
        .map(line => line.slice(name.length + 1).trim()).join('\n');
      if (field('data')) yield {name: field('event') || 'message', data: JSON.parse(field('data'))};
    }
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [name, model] = process.argv.slice(2);
  if (!model) {
    console.error('usage: [SLUICE_URL=...] [SLUICE_TOKEN=...] node sluice.mjs PROJECT MODEL');
    process.exit(2);
  }
  const project = new Project(process.env.SLUICE_URL ?? 'http://localhost:8080', name);
  try {
    await project.call({model, input_tokens: 2_000, max_output_tokens: 500}, 60_000, async permit => {
      console.log(`granted on ${permit.modelClass} after ${permit.waitedMs} ms`);
      const advice = await permit.settle({usage: {input_tokens: 1_900, output_tokens: 250}});
      console.log(`advice: ${advice.action}`);
    });
  } catch (error) {
    console.error(`${error.kind ?? error.name}: ${error.message}`);
    process.exit(1);
  }
}
