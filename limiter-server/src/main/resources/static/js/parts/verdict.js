// The one sentence at the top: why the fleet waits, or that it does not.
import { byId, el, keyed, part, setText } from '../dom.js';
import { isClosed, isOneOfMany, state, taken } from '../levels.js';
import { count, duration, limit as limitName, obstacle, percent, scope, spaced, times } from '../words.js';
import { rejectedLately } from './rejections.js';

function waiters(status) {
  return status.waiters ?? status.waiting.length;
}

/** What most of those in line wait for: `[text, how many]`, the most frequent first. */
export function reasons(waiting) {
  const counts = new Map();
  for (const call of waiting) {
    const text = obstacle(call.limit, call.scope ?? (call.class ? `c:${call.class}` : 'p'));
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1]);
}

/** The sentence, what there is to add, and its mood. Pure. */
export function verdict(status) {
  const waits = waiters(status);
  const inLine = waits > 0 ? `${times(waits, 'call')} ${waits === 1 ? 'waits' : 'wait'} in line.` : 'Nobody waits.';
  if (status.degraded) {
    return { text: 'Redis does not answer', more: "Calls go by the policy's outage rule until it does.", mood: 'stop' };
  }
  if (status.mode === 'draining') {
    return { text: 'This project is being removed', more: 'New calls are refused; it goes when the last permit has ended.', mood: 'stop' };
  }
  const holds = status.holds.filter(isClosed);
  const whole = holds.find((hold) => hold.scope === 'p');
  if (whole) {
    return { text: 'The whole project is on hold', more: `${held(whole)} ${inLine}`, mood: 'stop' };
  }
  if (holds.length > 0) {
    const what = holds.length === 1 ? scope(holds[0].scope) : times(holds.length, 'scope');
    return { text: `On hold: ${what}`, more: `${holds.length === 1 ? `${held(holds[0])} ` : ''}${inLine}`, mood: 'stop' };
  }
  if (waits > 0) {
    const [[why, how]] = reasons(status.waiting).length > 0 ? reasons(status.waiting) : [['their turn', waits]];
    const longest = Math.max(0, ...status.waiting.map((call) => call.waited_ms));
    const last = Math.max(0, ...status.waiting.map((call) => call.wait_ms ?? 0));
    return {
      text: `${times(waits, 'call')} ${waits === 1 ? 'waits' : 'wait'}${how < waits ? ', most' : ''} for ${why}`,
      more: `The longest has waited ${duration(longest)}; the last starts in about ${duration(last)}.`,
      mood: 'busy',
    };
  }
  const tightest = status.limits.filter((l) => !isOneOfMany(l.scope)).sort((a, b) => taken(b) - taken(a))[0];
  const shadow = status.mode === 'shadow' ? 'Shadow mode: nobody would wait.' : 'Nobody waits.';
  return {
    text: shadow,
    more: tightest ? `Tightest is ${limitName(tightest.limit)} of ${scope(tightest.scope)}, ${percent(taken(tightest))} taken.` : '',
    mood: tightest && state(tightest).mood === 'stop' ? 'stop' : 'calm',
  };
}

function held(hold) {
  return `${spaced(hold.kind)}${hold.reason ? `: ${hold.reason}` : ''}.`;
}

/** The figures under the sentence: `[name, figure, what it means]`. Pure. */
export function facts(status, rejected) {
  const inFlight = status.in_flight?.p ?? status.limits.filter((l) => l.scope.startsWith('c:')).reduce(
    (most, l) => most.set(l.scope, l.in_flight), new Map());
  const running = typeof inFlight === 'number' ? inFlight : [...inFlight.values()].reduce((a, b) => a + b, 0);
  const slots = status.limits.find((l) => l.scope === 'p' && l.limit === 'concurrency');
  const states = { calling: 0, waiting: 0, quiet: 0 };
  status.agents.forEach((agent) => (states[agent.state] += 1));
  return [
    ['In flight', count(running), slots ? `of ${count(slots.amount)}` : 'no ceiling'],
    ['Waiting', count(waiters(status)), longest(status.waiting)],
    ['Agents', count(status.agents_in_all ?? status.agents.length), `${states.calling} calling, ${states.waiting} waiting`],
    ['Hosts', count(status.hosts), 'seen in the last minute'],
    ['Rejections', rejected === undefined ? '…' : count(rejected), 'in the last 24 hours'],
  ];
}

function longest(waiting) {
  return waiting.length === 0 ? 'nobody' : `longest ${duration(Math.max(...waiting.map((call) => call.waited_ms)))}`;
}

export function showVerdict(status) {
  const { text, more, mood } = verdict(status);
  setText(byId('verdict'), text);
  byId('verdict').dataset.mood = mood;
  setText(byId('verdict-more'), more);
  keyed(
    byId('facts'),
    facts(status, rejectedLately()),
    ([name]) => name,
    ([name]) =>
      el('div', { data: { fact: name.toLowerCase().replace(' ', '-') } }, el('dt', { text: name }), el('dd', {}, el('b', { 'data-part': 'figure' }), el('span', { 'data-part': 'means' }))),
    (item, [, figure, means]) => {
      setText(part(item, 'figure'), figure);
      setText(part(item, 'means'), means);
    },
  );
}
