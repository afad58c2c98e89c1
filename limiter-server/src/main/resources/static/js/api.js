// The server's HTTP API, as far as this page calls it. The cookie of the login goes along by itself.

/** A "no" of the server (problem+json), or none at all: then `kind` is `unreachable`. */
export class Problem extends Error {
  constructor(status, kind, detail, body = {}) {
    super(detail);
    this.status = status;
    this.kind = kind;
    this.body = body;
  }
}

/** Sends a request; the answer's `json` or `text`, and its `etag`. Throws a `Problem`. */
export async function call(method, path, { json, yaml, accept = 'application/json', ifMatch, signal } = {}) {
  const headers = { Accept: accept };
  if (json !== undefined) {
    headers['Content-Type'] = 'application/json';
  } else if (yaml !== undefined) {
    headers['Content-Type'] = 'application/yaml';
  }
  if (ifMatch !== undefined) {
    headers['If-Match'] = `"${ifMatch}"`;
  }
  let response;
  try {
    response = await fetch(path, { method, headers, body: json === undefined ? yaml : JSON.stringify(json), signal });
  } catch (e) {
    throw e.name === 'AbortError' ? e : new Problem(0, 'unreachable', 'The server does not answer.');
  }
  if (!response.ok) {
    throw await problem(response);
  }
  const type = response.headers.get('Content-Type') ?? '';
  return {
    json: type.includes('json') ? await response.json() : undefined,
    text: type.includes('yaml') ? await response.text() : undefined,
    etag: Number((response.headers.get('ETag') ?? '').replace(/\D/g, '')) || undefined,
  };
}

/** The problem that an answer tells. */
export async function problem(response) {
  let body = {};
  try {
    body = await response.json();
  } catch {
    // Not ours: a proxy's page, or nothing.
  }
  const kind = body.kind ?? String(body.type ?? '').split(/[:/]/).pop() ?? '';
  return new Problem(response.status, kind, body.detail ?? body.title ?? `The server answered ${response.status}.`, body);
}

const project = (id) => `v1/projects/${encodeURIComponent(id)}`;

export const api = {
  me: async () => (await call('GET', 'v1/me')).json,
  login: (token) => call('POST', 'v1/login', { json: { token } }),
  logout: () => call('DELETE', 'v1/login'),
  projects: async () => (await call('GET', 'v1/projects')).json.projects,
  statusPath: (id) => `${project(id)}/status`,
  eventsPath: (id) => `${project(id)}/events`,
  policy: (id) => call('GET', project(id), { accept: 'application/yaml' }),
  install: async (id, yaml, { ifMatch, dryRun, signal }) =>
    (await call('PUT', `${project(id)}${dryRun ? '?dry_run=true' : ''}`, { yaml, ifMatch, signal })).json,
  versions: async (id) => (await call('GET', `${project(id)}/versions`)).json.versions,
  rollback: async (id, to) => (await call('POST', `${project(id)}/rollback`, { json: { to } })).json,
  hold: (id, order) => call('POST', `${project(id)}/hold`, { json: order }),
  release: (id, scope) => call('DELETE', `${project(id)}/hold?${new URLSearchParams({ scope })}`),
  level: async (id, order) => (await call('POST', `${project(id)}/levels`, { json: order })).json,
  remove: (id, query) => call('DELETE', `${project(id)}?${new URLSearchParams(query)}`),
  plan: async (id, query) => (await call('GET', `${project(id)}/plan?${new URLSearchParams(query)}`)).json,
  usage: async (id, query) => (await call('GET', `${project(id)}/usage?${new URLSearchParams(query)}`)).json,
};
