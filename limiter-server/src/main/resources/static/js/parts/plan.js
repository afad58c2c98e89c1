// How many agents the budget feeds, and what binds first.
import { api } from '../api.js';
import { byId, el, options } from '../dom.js';
import { count, limit as limitName, scope, spaced } from '../words.js';

const REFRESH_MS = 15_000;
const answer = byId('plan');
let project;
let given = {};

/** What binds: `itpm` or `c:sonnet itpm` or {scope, limit}. Pure. */
export function binding(plan) {
  if (!plan.binding) {
    return '';
  }
  if (typeof plan.binding === 'object') {
    return `${limitName(plan.binding.limit)} of ${scope(plan.binding.scope)}`;
  }
  const [, where, what] = /^(?:(\S+) )?(\S+)$/.exec(plan.binding) ?? [];
  return where ? `${limitName(what)} of ${scope(where)}` : limitName(what ?? plan.binding);
}

export function showClasses(status) {
  const classes = [...new Set(status.limits.map((l) => l.scope).filter((s) => /^c:[^|]+$/.test(s)))];
  options(byId('plan-class'), classes.length > 0 ? classes.map((name) => [name.slice(2), scope(name)]) : [['', 'no class']]);
}

export async function refreshPlan(id) {
  project = id;
  const modelClass = byId('plan-class').value;
  if (!modelClass) {
    answer.replaceChildren(el('p', { class: 'empty', text: 'The policy has no class with limits: nothing bounds the fleet.' }));
    return;
  }
  let plan;
  try {
    plan = await api.plan(id, { class: modelClass, ...given });
  } catch (e) {
    if (project === id && e.kind !== 'unreachable') {
      answer.replaceChildren(el('p', { class: 'empty', text: e.message }));
    }
    return;
  }
  if (project === id && byId('plan-class').value === modelClass) {
    tell(plan);
  }
}

function tell(plan) {
  const known = plan.agents_at_80 !== null && plan.agents_at_80 !== undefined;
  if (!known) {
    answer.replaceChildren(el('p', { class: 'empty', text: plan.message ?? 'Nothing observed yet: it takes some minutes of calls. Or give numbers of your own below.' }));
    return;
  }
  const figure = (n, at) => el('div', {}, el('dd', {}, el('b', { text: count(n) })), el('dt', { text: `agents at ${at} %` }));
  const per = Object.entries(plan.per_agent ?? {}).filter(([, value]) => typeof value === 'number' && value > 0);
  answer.replaceChildren(
    el('dl', { class: 'advice' }, figure(plan.agents_at_70, 70), figure(plan.agents_at_80, 80)),
    el('p', {}, 'Binds first: ', el('b', { text: binding(plan) || 'nothing' })),
    el('p', { class: 'hint', text: `${plan.source === 'given' ? 'By the numbers given' : 'As observed'}${per.length > 0 ? `, an agent: ${per.map(([name, value]) => `${count(value)} ${spaced(name)}`).join(', ')}` : ''}.` }),
  );
}

export function preparePlan(mayAsk) {
  byId('plan-class').addEventListener('change', () => refreshPlan(project));
  byId('plan-form').addEventListener('submit', (event) => {
    event.preventDefault();
    given = Object.fromEntries([...new FormData(event.target)].filter(([, value]) => value !== ''));
    refreshPlan(project);
  });
  byId('plan-form').addEventListener('reset', () => {
    given = {};
    refreshPlan(project);
  });
  setInterval(() => project && mayAsk() && refreshPlan(project), REFRESH_MS);
}

