// An operator's correction of what is left of a limit: the one way to forgive a debt. Said once more before it is done.
import { api } from '../api.js';
import { byId, options, setText, show } from '../dom.js';
import { count, limit as limitName, scope } from '../words.js';
import { figure } from './limits.js';

let project;
let limits = new Map();

const chosen = () => limits.get(byId('level-which').value);
const asked = () => `${byId('level-which').value} ${byId('level-to').value}`;
let confirmed;

export function showLevels(status, id, may) {
  project = id;
  // Free slots are counted, not kept: there is nothing to correct.
  const those = status.limits.filter((l) => l.limit !== 'concurrency' && l.limit !== 'agents' && !/^[aer]:/.test(l.scope));
  limits = new Map(those.map((l) => [`${l.scope} ${l.limit}`, l]));
  show(byId('level-open'), may && limits.size > 0);
  options(byId('level-which'), [...limits].map(([key, l]) => [key, `${limitName(l.limit)}, ${scope(l.scope)}`]));
  tell();
}

function tell() {
  const limit = chosen();
  setText(byId('level-is'), limit ? `${figure(limit)}${limit.level < 0 ? ': a debt' : ''}.` : '');
  setText(byId('level-do'), confirmed === asked() ? 'Sure? Set it' : 'Set it');
}

/** The dialog, once. */
export function prepareLevels() {
  const dialog = byId('level-dialog');
  byId('level-open').addEventListener('click', () => {
    show(byId('level-fault'), false);
    confirmed = undefined;
    tell();
    dialog.showModal();
    byId('level-which').focus();
  });
  byId('level-close').addEventListener('click', () => dialog.close());
  byId('level-form').addEventListener('input', tell);
  byId('level-form').addEventListener('submit', async (event) => {
    event.preventDefault();
    if (confirmed !== asked()) {
      confirmed = asked();
      tell();
      return;
    }
    const limit = chosen();
    try {
      const done = await api.level(project, { scope: limit.scope, limit: limit.limit, to: Number(byId('level-to').value), reason: byId('level-reason').value.trim() });
      setText(byId('news'), `${limitName(limit.limit)} of ${scope(limit.scope)}: ${count(Number(done.from))} left before, ${count(Number(done.to))} now`);
      byId('level-reason').value = '';
      dialog.close();
    } catch (e) {
      setText(byId('level-fault'), e.message);
      show(byId('level-fault'), true);
    }
    confirmed = undefined;
    tell();
  });
}
