// How many agents the budget feeds, and what binds first.
import { api } from '../api.js';
import { byId, el, options } from '../dom.js';
import { count, limit as limitName, scope, spaced } from '../words.js';

const REFRESH_MS = 15_000;
const answer = byId('plan');
let project;
let given = {};

/** What binds, in words. Pure. */
export function binding(plan) {
  return `${limitName(plan.binding)} of ${scope(plan.binding_scope)}`;
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
  const figure = (n, at) => el('div', {}, el('dd', {}, el('b', { text: count(n) })), el('dt', { text: `agents at ${at} %` }));
  const per = Object.entries(plan.per_agent).filter(([, value]) => Number(value) > 0);
  const others = plan.limits.slice(1, 5).map((l) => `${count(l.agents_at_80)} by ${limitName(l.limit)} of ${scope(l.scope)}`);
  answer.replaceChildren(
    el('dl', { class: 'advice' }, figure(plan.agents_at_70, 70), figure(plan.agents_at_80, 80)),
    el('p', {}, 'Binds first: ', el('b', { text: binding(plan) })),
    el('p', { class: 'hint', text: `${plan.source === 'given' ? 'By the numbers given' : 'As observed'}, an agent: ${per.map(([name, value]) => `${count(Number(value))} ${spaced(name)}`).join(', ')}.` }),
    ...(others.length > 0 ? [el('p', { class: 'hint', text: `At 80 % it would be ${others.join(', ')}.` })] : []),
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

