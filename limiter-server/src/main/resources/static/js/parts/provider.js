// What the provider's own headers said last, and where that differs from the policy.
import { byId } from '../dom.js';
import { count, duration, limit as limitName } from '../words.js';
import { table } from './table.js';

let limits = [];

const show = table(byId('provider'), {
  caption: "The provider's own figures, as its answers told them last",
  most: 12,
  keyOf: (said) => `${said.class} ${said.limit}`,
  empty: 'Nothing yet. Agents that settle with the headers of an answer make this known.',
  columns: [
    { name: 'Limit', class: 'who', text: (said) => `${limitName(said.limit)}${said.class === '-' ? '' : ` · ${said.class}`}` },
    { name: 'Left', class: 'number wait', text: left },
    { name: 'Differs', class: 'why', text: drift, mood: () => 'busy' },
    { name: 'Seen', class: 'number waited', text: (said) => `${duration(Math.max(0, Date.now() - Date.parse(said.seen_at)))} ago` },
  ],
});

function left(said) {
  const known = (n) => (n === null || n === undefined ? '?' : count(n));
  return `${known(said.remaining)} of ${known(said.amount)}`;
}

/** Told where the provider's limit is another than the policy's. */
function drift(said) {
  const ours = limits.find((l) => l.scope === (said.class === '-' ? 'p' : `c:${said.class}`) && l.limit === said.limit);
  const known = ours && said.amount !== null && said.amount !== undefined;
  return known && ours.amount !== said.amount ? `policy: ${count(ours.amount)}` : '';
}

export function showProvider(status) {
  ({ limits } = status);
  show(status.provider ?? []);
}
