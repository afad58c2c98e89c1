// Every limit as a gauge with its last minutes beside it, under the scope it belongs to.
import { spark } from '../charts.js';
import { byId, el, keyed, part, setText } from '../dom.js';
import { STEP_MS } from '../history.js';
import { isOneOfMany, key, state, taken } from '../levels.js';
import { count, duration, limit as limitName, money, scope } from '../words.js';

const MOST_OF_MANY = 12;
const sparks = new WeakMap();

/** The scopes to show, each with its limits: all of the project's parts, of single agents and runs the fullest. Pure. */
export function scopes(limits) {
  const byScope = new Map();
  for (const limit of limits) {
    byScope.set(limit.scope, [...(byScope.get(limit.scope) ?? []), limit]);
  }
  const all = [...byScope].map(([name, members]) => ({ name, limits: members, many: isOneOfMany(name) }));
  const many = all.filter((s) => s.many).sort((a, b) => fullest(b) - fullest(a));
  return { scopes: [...all.filter((s) => !s.many), ...many.slice(0, MOST_OF_MANY)], left: Math.max(0, many.length - MOST_OF_MANY) };
}

function fullest({ limits }) {
  return Math.max(...limits.map(taken));
}

/** What is left, in the words of that limit. Pure. */
export function figure(limit) {
  if (limit.limit === 'concurrency') {
    return `${count(limit.in_flight)} of ${count(limit.amount)}`;
  }
  const words = say(limit.limit);
  return `${words(limit.level)} of ${words(limit.capacity ?? limit.amount)} left`;
}

/** What the policy states: 2M input tokens / min. Pure. */
export function stated(limit) {
  return `${say(limit.limit)(limit.amount, 10_000)} ${limitName(limit.limit, limit.amount)}`;
}

function say(name) {
  return name.startsWith('usd') ? money : count;
}

export function showLimits(status, history, now) {
  const holder = byId('limits');
  const { scopes: shown, left } = scopes(status.limits);
  if (shown.length === 0) {
    holder.replaceChildren(el('p', { class: 'empty', text: 'The policy sets no limits. Add some under Policy; until then every call starts at once.' }));
    return;
  }
  const length = history.length(now);
  setText(byId('span'), duration(length * STEP_MS));
  const xs = history.axis(now, length);
  const rest = left > 0 ? [{ name: '+', left }] : [];
  keyed(holder, [...shown, ...rest], (s) => s.name, make, (element, s) => {
    if (s.left) {
      setText(element, `and ${count(s.left)} more agents and runs that have taken less`);
      return;
    }
    const running = s.limits[0].in_flight;
    setText(part(element, 'running'), running > 0 ? `${count(running)} in flight` : '');
    keyed(part(element, 'rows'), s.limits, (limit) => limit.limit, makeRow, (row, limit) => {
      showRow(row, limit);
      if (!s.many) {
        drawSpark(part(row, 'spark'), xs, history.series(now, (step) => step.taken[key(limit)], length));
      }
    });
  });
}

function make(s) {
  if (s.left) {
    return el('p', { class: 'hint' });
  }
  return el(
    'section',
    { class: 'scope', data: { scope: s.name } },
    el('h3', {}, el('span', { text: scope(s.name) }), el('span', { class: 'hint', 'data-part': 'running' })),
    el('ul', { 'data-part': 'rows', 'aria-label': `Limits of ${scope(s.name)}` }),
  );
}

function makeRow(limit) {
  return el(
    'li',
    { class: 'gauge', data: { limit: limit.limit } },
    el('span', { class: 'gauge-name', title: limit.limit, 'data-part': 'name' }),
    el('span', { class: 'gauge-bar', role: 'meter', 'aria-valuemin': 0, 'aria-valuemax': 100, 'aria-label': `${limitName(limit.limit)}, taken` }, el('i', { 'data-part': 'fill' })),
    el('span', { class: 'gauge-state', 'data-part': 'state' }),
    el('span', { class: 'gauge-figure', 'data-part': 'figure' }),
    el('span', { class: 'gauge-reset', 'data-part': 'reset' }),
    el('span', { class: 'gauge-spark', 'aria-hidden': 'true', 'data-part': 'spark' }),
  );
}

function showRow(row, limit) {
  const share = limit.amount === 0 ? 1 : taken(limit);
  const { word, mood } = state(limit);
  row.dataset.mood = mood;
  const bar = row.querySelector('.gauge-bar');
  const shown = Math.round(Math.min(1, Math.max(0, share)) * 1000) / 10;
  part(row, 'fill').style.transform = `scaleX(${shown / 100})`;
  bar.setAttribute('aria-valuenow', Math.round(shown));
  bar.setAttribute('aria-valuetext', `${Math.round(shown)} %, ${word}`);
  setText(part(row, 'state'), word);
  setText(part(row, 'name'), stated(limit));
  setText(part(row, 'figure'), figure(limit));
  setText(part(row, 'reset'), limit.reset_ms > 0 ? `full again in ${duration(limit.reset_ms)}` : '');
}

function drawSpark(holder, xs, ys) {
  if (!sparks.has(holder)) {
    sparks.set(holder, spark(holder));
  }
  sparks.get(holder)(xs, ys);
}
