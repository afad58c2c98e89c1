// What is on hold, for how long still, and how to end it; and a hold of one's own.
import { api } from '../api.js';
import { byId, el, keyed, options, part, setText, show } from '../dom.js';
import { isClosed } from '../levels.js';
import { countdown, duration, scope, spaced } from '../words.js';

let known = new Map();
let project;

export function showHolds(status, id, may) {
  project = id;
  const now = performance.now();
  const next = new Map();
  for (const hold of status.holds ?? []) {
    const left = hold.left_ms ?? null;
    next.set(hold.scope, { ...hold, ends: left === null ? null : now + left, whole: Math.max(left ?? 0, known.get(hold.scope)?.whole ?? 0) });
  }
  tell(next);
  known = next;
  show(byId('hold-open'), may);
  byId('holds').classList.toggle('calm', next.size === 0);
  byId('holds').classList.toggle('closed', [...next.values()].some(isClosed));
  show(byId('holds-none'), next.size === 0);
  keyed(byId('holds-list'), [...next.values()], (hold) => hold.scope, make, (item, hold) => {
    item.dataset.closed = isClosed(hold);
    setText(part(item, 'kind'), spaced(hold.kind));
    setText(part(item, 'reason'), hold.reason || (hold.retryable === false ? 'the same request cannot succeed before it ends' : ''));
    setText(part(item, 'since'), hold.since && isClosed(hold) ? `held for ${duration(Math.max(0, Date.now() - Date.parse(hold.since)))}` : '');
    show(part(item, 'release'), may);
  });
  tick();
  options(byId('hold-scope'), [['p', 'the whole project'], ...scopesOf(status).map((name) => [name, scope(name)])]);
}

function scopesOf(status) {
  return [...new Set(status.limits.map((l) => l.scope))].filter((name) => /^[ct]:[^|]+$/.test(name));
}

/** Between two looks the clocks go on by themselves. */
export function tick() {
  const now = performance.now();
  for (const item of byId('holds-list').children) {
    const hold = known.get(item.dataset.key);
    if (hold) {
      const left = hold.ends === null ? null : hold.ends - now;
      setText(part(item, 'left'), left === null ? 'until released' : left > 0 ? countdown(left) : 'open again, a few calls at first');
      part(item, 'fill').style.transform = `scaleX(${left === null ? 1 : hold.whole > 0 ? Math.max(0, left / hold.whole) : 0})`;
    }
  }
}

/** Says what closed and what opened again, to whoever cannot see it. */
function tell(next) {
  for (const hold of next.values()) {
    if (isClosed(hold) && !isClosed(known.get(hold.scope))) {
      setText(byId('news'), `${scope(hold.scope)} is on hold: ${spaced(hold.kind)} ${hold.reason ?? ''}`);
    }
  }
  for (const [name, hold] of known) {
    if (isClosed(hold) && !isClosed(next.get(name))) {
      setText(byId('news'), `The hold of ${scope(name)} is over`);
    }
  }
}

function make(hold) {
  const release = el('button', { type: 'button', 'data-part': 'release', 'aria-label': `Release ${scope(hold.scope)}`, text: 'Release' });
  release.addEventListener('click', async () => {
    release.disabled = true;
    try {
      await api.release(project, hold.scope);
    } catch (e) {
      setText(byId('news'), e.message);
      setText(part(release.closest('li'), 'reason'), e.message);
    }
    release.disabled = false;
  });
  return el(
    'li',
    { data: { scope: hold.scope } },
    el('div', { class: 'hold-what' }, el('b', { text: scope(hold.scope) }), el('span', { class: 'tag', data: { mood: 'stop' }, 'data-part': 'kind' }), el('span', { 'data-part': 'reason', class: 'hold-reason' })),
    el('div', { class: 'hold-time' }, el('b', { class: 'hold-left', 'data-part': 'left' }), el('span', { class: 'hint', 'data-part': 'since' })),
    el('span', { class: 'hold-bar', 'aria-hidden': 'true' }, el('i', { 'data-part': 'fill' })),
    release,
  );
}

/** The dialog, once. */
export function prepareHolds() {
  const dialog = byId('hold-dialog');
  byId('hold-open').addEventListener('click', () => {
    show(byId('hold-fault'), false);
    dialog.showModal();
    byId('hold-scope').focus();
  });
  byId('hold-close').addEventListener('click', () => dialog.close());
  byId('hold-form').addEventListener('submit', async (event) => {
    event.preventDefault();
    try {
      const length = byId('hold-for').value;
      await api.hold(project, {
        scope: byId('hold-scope').value,
        reason: byId('hold-reason').value.trim(),
        ...(length ? { for_ms: Number(length) } : {}),
      });
      byId('hold-reason').value = '';
      dialog.close();
    } catch (e) {
      setText(byId('hold-fault'), e.message);
      show(byId('hold-fault'), true);
    }
  });
  setInterval(tick, 250);
}
