// The last versions of a policy: who, when, and the way back.
import { api } from '../api.js';
import { byId, el } from '../dom.js';
import { dayAndClock } from '../words.js';

const MOST = 12;

/** Lists them; `goBack(version)` installs the content of an earlier one anew. */
export async function showVersions(at, goBack) {
  const list = byId('versions');
  let versions;
  try {
    versions = await api.versions(at.project);
  } catch (e) {
    list.replaceChildren(el('li', { class: 'empty', text: e.message }));
    return;
  }
  const now = versions[0];
  list.replaceChildren(
    ...versions.slice(0, MOST).map((v) => {
      const current = v.version === now.version;
      const differs = v.digest !== now.digest;
      const back = el('button', { type: 'button', class: 'quiet', 'aria-label': `Go back to version ${v.version}`, text: 'Go back' });
      const fault = el('span', { class: 'fault' });
      back.addEventListener('click', async () => {
        if (back.dataset.sure === undefined) {
          back.dataset.sure = '';
          back.textContent = 'Sure? Go back';
          return;
        }
        back.disabled = true;
        try {
          await goBack(v.version);
        } catch (e) {
          fault.textContent = e.message;
          back.disabled = false;
        }
      });
      back.addEventListener('blur', () => {
        delete back.dataset.sure;
        back.textContent = 'Go back';
      });
      return el(
        'li',
        {},
        el('b', { text: `v${v.version}` }),
        el('span', {}, el('span', { text: v.who }), el('time', { class: 'hint', datetime: v.at, text: dayAndClock(Date.parse(v.at)) })),
        current ? el('span', { class: 'tag', data: { mood: 'calm' }, text: 'in force' }) : differs && at.may ? back : el('span', { class: 'hint', text: differs ? '' : 'the same' }),
        fault,
      );
    }),
  );
}
