// What happened, the newest first.
import { byId, el, show } from '../dom.js';
import { clock, count, dayAndClock, duration, scope, spaced } from '../words.js';

const MOST = 60;
const UNSAID = new Set(['outcome', 'retryable', 'project']);
const ORDINARY = new Set(['permit', 'wait']); // many, and told by the gauges

/** What is left of an event when its words are said: `agent a, left 2 s`. */
function figures(data) {
  return Object.entries(data)
    .filter(([name, value]) => !UNSAID.has(name) && ['string', 'number'].includes(typeof value) && value !== '')
    .map(([name, value]) => (name.endsWith('_ms') ? `${spaced(name.slice(0, -3))} ${duration(value)}` : `${spaced(name)} ${typeof value === 'number' ? count(value) : value}`))
    .join(', ');
}

/** An event in words. Pure. */
export function words(data) {
  const { who, reason, kind, version, scope: where, class: modelClass, ...rest } = data;
  const place = modelClass ? `class ${modelClass}` : /^(p$|\w:)/.test(where ?? '') ? scope(where) : '';
  return [kind ? spaced(kind) : '', place, version ? `version ${version}` : '', reason ?? '', figures(rest), who ? `by ${who}` : ''].filter((text) => text !== '').join(' · ');
}

export function showEvent(event) {
  let data;
  try {
    data = JSON.parse(event.data);
  } catch {
    return;
  }
  if (ORDINARY.has(event.type) || event.type === 'message') {
    return;
  }
  const at = Date.parse(data.at ?? '') || Number((event.id ?? '').split('-')[0]) || Date.now();
  const { at: _at, ...inner } = data;
  const text = words(typeof inner.data === 'object' && inner.data !== null ? inner.data : inner);
  const list = byId('events');
  list.prepend(
    el('li', { data: { type: event.type } }, el('time', { text: at < Date.now() - 43_200_000 ? dayAndClock(at) : clock(at), datetime: new Date(at).toISOString() }), el('span', { class: 'tag', data: { mood: mood(event.type) }, text: event.type }), el('span', { class: 'event-text', text })),
  );
  while (list.children.length > MOST) {
    list.lastElementChild.remove();
  }
  show(byId('events-none'), false);
}

function mood(word) {
  return { rejection: 'stop', hold: 'busy', lost: 'busy' }[word] ?? 'calm';
}

export function clearEvents() {
  byId('events').replaceChildren();
  show(byId('events-none'), true);
}
