// Who used the tokens: by team, agent, model or run, over a day or longer.
import { api } from '../api.js';
import { bars } from '../charts.js';
import { byId, el, options, setText } from '../dom.js';
import { count, dayAndClock, duration, money, scope, times } from '../words.js';
import { table } from './table.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const SPANS = { '24 hours': [24, 'hour', HOUR], '7 days': [7 * 24, 'hour', HOUR], '30 days': [30, 'day', DAY], '13 months': [396, 'day', DAY] };
const REFRESH_MS = 15_000;
const MOST = 5; // names with a colour of their own

const none = el('p', { class: 'empty' });
const chart = el('div');
const who = el('div');
const sum = el('p', { class: 'hint' });
byId('usage').replaceChildren(none, chart, sum, who);
options(byId('usage-by'), ['team', 'agent', 'model', 'run'].map((by) => [by, `by ${by}`]));
options(byId('usage-span'), Object.keys(SPANS).map((span) => [span, span]));
let draw;
let showWho;
let project;
let asked = 0;

/** All tokens of a row. */
export function tokens(row) {
  return row.input_tokens + row.cache_read_tokens + row.cache_write_tokens + row.output_tokens;
}

/** Rows added up by name, the largest first. Pure. */
export function totals(rows) {
  const byName = new Map();
  for (const row of rows) {
    const total = byName.get(row.name) ?? { name: row.name, tokens: 0, requests: 0, cached: 0, output: 0, usd: 0, wait_ms: 0, rejections: 0 };
    total.tokens += tokens(row);
    total.requests += row.requests;
    total.cached += row.cache_read_tokens;
    total.output += row.output_tokens;
    total.usd += Number(row.usd);
    total.wait_ms += row.wait_ms;
    total.rejections += row.rejections;
    byName.set(row.name, total);
  }
  return [...byName.values()].sort((a, b) => b.tokens - a.tokens);
}

/** When a limit in money is spent, at the rate of the last day. Pure. */
export function outlook({ scope: where, amount, per_hour: perHour, exhausted_at: at }) {
  const what = `${money(amount)} of ${scope(where)}`;
  return at ? `At ${money(perHour)} an hour the ${what} is spent on ${dayAndClock(Date.parse(at))}.` : `The ${what} lasts until it begins anew.`;
}

/** Bars of the largest names, and of the others together. Pure. */
export function stacks(rows, names, from, to, stepMs, value = tokens) {
  const at = new Map();
  const xs = [];
  for (let t = Math.floor(from / stepMs) * stepMs; t < to; t += stepMs) {
    at.set(t, xs.length);
    xs.push(t / 1000);
  }
  const shown = names.slice(0, MOST);
  const series = (names.length > MOST ? [...shown, 'others'] : shown).map((name) => ({ name, label: name === '-' ? 'no name' : name, values: xs.map(() => 0) }));
  for (const row of rows) {
    const i = at.get(Math.floor(Date.parse(row.at) / stepMs) * stepMs);
    const k = shown.includes(row.name) ? shown.indexOf(row.name) : MOST;
    if (i !== undefined && series[k]) {
      series[k].values[i] += value(row);
    }
  }
  return { xs, series };
}

export async function refreshUsage(id) {
  project = id;
  const ask = (asked += 1);
  const by = byId('usage-by').value;
  const span = byId('usage-span').value;
  const [steps, step, stepMs] = SPANS[span];
  const to = Math.ceil((Date.now() + 1) / stepMs) * stepMs;
  const from = to - steps * stepMs;
  let answer;
  try {
    answer = await api.usage(id, { from: new Date(from).toISOString(), to: new Date(to).toISOString(), step, by });
  } catch (e) {
    if (ask === asked) {
      setText(none, e.kind === 'unreachable' ? '' : e.message);
      none.hidden = false;
    }
    return;
  }
  if (ask !== asked) {
    return;
  }
  const { rows } = answer;
  const all = totals(rows);
  const used = all.reduce((total, row) => total + row.tokens, 0);
  none.hidden = all.length > 0;
  setText(none, `Nothing used in ${span}. Tokens appear within a second of a permit being settled.`);
  [chart, sum, who].forEach((part) => (part.hidden = all.length === 0));
  if (all.length === 0) {
    return;
  }
  draw ??= bars(chart, { height: 130, at: (x) => dayAndClock(x * 1000) });
  const { xs, series } = stacks(rows, all.map((row) => row.name), from, to, stepMs);
  const tick = stepMs === HOUR && steps <= 24 ? (x) => dayAndClock(x * 1000).slice(-5) : (x) => dayAndClock(x * 1000).split(',')[0];
  draw({ xs, series, format: count, tick, span: `tokens, last ${span}` });
  const cost = all.reduce((total, row) => total + row.usd, 0);
  const requests = times(all.reduce((n, row) => n + row.requests, 0), 'request');
  setText(sum, [`${count(used)} tokens in ${requests}${cost > 0 ? `, ${money(cost)}` : ''}.`, ...(answer.forecast ?? []).map(outlook)].join(' '));
  showWho ??= table(who, {
    caption: 'What each used',
    most: 8,
    keyOf: (row) => row.name,
    empty: '',
    columns: [
      { name: 'Name', class: 'who', text: (row) => (row.name === '-' ? 'no name' : row.name) },
      { name: 'Requests', class: 'number team', text: (row) => count(row.requests) },
      { name: 'From cache', class: 'number why', text: (row) => (row.tokens > 0 ? `${Math.round((100 * row.cached) / row.tokens)} %` : '') },
      { name: 'Mean wait', class: 'number waited', text: (row) => (row.requests > 0 ? duration(row.wait_ms / row.requests) : '') },
      { name: 'Cost', class: 'number wait', text: (row) => (row.usd > 0 ? money(row.usd) : '—') },
    ],
  });
  showWho(all);
}

/** Asks again when the choice changes, and now and then while somebody looks. */
export function prepareUsage(mayAsk) {
  for (const id of ['usage-by', 'usage-span']) {
    byId(id).addEventListener('change', () => project && refreshUsage(project));
  }
  setInterval(() => project && mayAsk() && refreshUsage(project), REFRESH_MS);
}
