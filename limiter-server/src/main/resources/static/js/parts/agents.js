// Who holds the budget, who waits, who is merely quiet.
import { byId, setText } from '../dom.js';
import { count, duration } from '../words.js';
import { table } from './table.js';

const ORDER = { calling: 0, waiting: 1, quiet: 2 };

const show = table(byId('agents'), {
  caption: 'Agents, calling ones first',
  most: 10,
  keyOf: (agent) => `${agent.team} ${agent.agent}`,
  empty: 'No agent yet. One appears with its first call.',
  columns: [
    { name: 'Agent', class: 'who', text: (agent) => agent.agent },
    { name: 'Team', class: 'team', text: (agent) => agent.team },
    { name: 'State', class: 'why', text: (agent) => agent.state, mood: (agent) => (agent.state === 'calling' ? 'accent' : agent.state === 'waiting' ? 'busy' : 'calm') },
    { name: 'Since', class: 'number wait', text: (agent) => duration(agent.since_ms) },
  ],
});

export function showAgents(status) {
  const agents = [...status.agents].sort((a, b) => ORDER[a.state] - ORDER[b.state] || b.since_ms - a.since_ms);
  const n = (state) => agents.filter((agent) => agent.state === state).length;
  const inAll = status.agents_in_all ?? agents.length;
  setText(
    byId('agents-count'),
    agents.length === 0 ? '' : `${n('calling')} calling, ${n('waiting')} waiting, ${n('quiet')} quiet${inAll > agents.length ? `; ${count(inAll)} in all` : ''}`,
  );
  show(agents);
}
