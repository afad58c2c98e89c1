// Who waits, for what, and how long.
import { byId, el, keyed, part, setText } from '../dom.js';
import { count, duration, obstacle } from '../words.js';
import { reasons } from './verdict.js';
import { table } from './table.js';

const show = table(byId('line'), {
  caption: 'Calls that wait, in the order of their flows',
  most: 25,
  keyOf: (call) => call.id,
  empty: 'Nobody waits: calls start at once.',
  columns: [
    { name: 'Place', class: 'number place', text: (call) => call.position },
    { name: 'Agent', class: 'who', text: (call) => call.agent, title: (call) => call.id },
    { name: 'Team', class: 'team', text: (call) => `${call.team} · ${call.priority}` },
    { name: 'Waits for', class: 'why', text: why, title: (call) => (call.class ? `class ${call.class}` : '') },
    { name: 'Waited', class: 'number waited', text: (call) => duration(call.waited_ms) },
    { name: 'Starts in', class: 'number wait', text: (call) => (call.wait_ms > 0 ? `about ${duration(call.wait_ms)}` : 'any moment') },
  ],
});

function why(call) {
  return obstacle(call.limit, call.scope ?? (call.class ? `c:${call.class}` : 'p'));
}

export function showLine(status) {
  const waiters = status.waiters ?? status.waiting.length;
  const named = status.waiting.length;
  setText(byId('line-count'), waiters === 0 ? '' : waiters > named ? `${count(waiters)} wait, ${count(named)} of them shown` : `${count(waiters)} wait`);
  keyed(
    byId('line-why'),
    reasons(status.waiting).slice(0, 6),
    ([text]) => text,
    ([text]) => el('li', {}, el('b', { 'data-part': 'n' }), el('span', { text })),
    (item, [, n]) => setText(part(item, 'n'), count(n)),
  );
  show(status.waiting);
}
