// What happened, the newest first.
import { byId, el, show } from '../dom.js';
import { clock, count, dayAndClock, scope, spaced } from '../words.js';

const MOST = 60;
const ORDINARY = new Set(['permit', 'wait']); // many, and told by the gauges

function figures(data) {
  return Object.entries(data)
    .filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value) && value !== '')
    .map(([name, value]) => `${spaced(name)} ${typeof value === 'number' ? count(value) : name === 'scope' ? scope(value) : value}`)
    .join(', ');
}

/** An event in words: `[word, text]`. Pure. */
export function words(type, data) {
  const where = data.scope ? scope(data.scope) : data.class ? `class ${data.class}` : '';
  const { who, reason, kind, version, scope: _scope, class: _class, ...rest } = data;
  const by = who ? `by ${who}` : '';
  const said = [where, kind ? spaced(kind) : '', version ? `version ${version}` : '', by, reason ?? '', figures(rest)].filter((text) => text !== '');
  return [type, said.join(' · ')];
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
  const [word, text] = words(event.type, typeof inner.data === 'object' && inner.data !== null ? inner.data : inner);
  const list = byId('events');
  list.prepend(
    el('li', { data: { type: event.type } }, el('time', { text: at < Date.now() - 43_200_000 ? dayAndClock(at) : clock(at), datetime: new Date(at).toISOString() }), el('span', { class: 'tag', data: { mood: mood(word) }, text: word }), el('span', { class: 'event-text', text })),
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
