// What a check of the policy said: every fault with its path and line, or what would change for whom.
import { byId, el, setText } from '../dom.js';
import { times } from '../words.js';

export function clearCheck() {
  setText(byId('check-said'), 'Change something and this tells what that would do.');
  for (const id of ['problems', 'warnings', 'changes']) {
    byId(id).replaceChildren();
  }
}

function value(json) {
  return json === null || json === undefined ? '—' : typeof json === 'string' ? json : JSON.stringify(json);
}

/** What installing it would change. */
export function showChange(change, edited) {
  clearCheck();
  const { changes = [], warnings = [], same } = change;
  if (same || changes.length === 0) {
    setText(byId('check-said'), edited ? 'Valid, and it means the same as what is in force.' : 'Valid: this is what is in force.');
  } else {
    setText(byId('check-said'), `Valid. Saving makes ${times(changes.length, 'change')}:`);
  }
  byId('warnings').replaceChildren(...warnings.map((warning) => item(warning, 'busy', 'warning')));
  byId('changes').replaceChildren(
    el(
      'ul',
      { class: 'changes', 'aria-label': 'What would change' },
      ...changes.map((c) =>
        el(
          'li',
          {},
          el('code', { class: 'path', text: c.path }),
          el('span', { class: 'about', text: c.about ?? '' }),
          el('span', { class: 'from-to' }, el('del', { text: value(c.from) }), el('span', { 'aria-hidden': 'true', text: '→' }), el('ins', { text: value(c.to) })),
        ),
      ),
    ),
  );
}

/** Everything that is wrong; each leads to its line. */
export function showProblems(problems, message, onChoose) {
  clearCheck();
  setText(byId('check-said'), problems.length > 0 ? `Not valid: ${times(problems.length, 'problem')}. Nothing is saved.` : message);
  byId('problems').replaceChildren(...problems.map((problem) => item(problem, 'stop', 'fault', () => onChoose(problem))));
}

function item(problem, mood, word, onChoose) {
  const where = el('span', { class: 'where' }, el('code', { class: 'path', text: problem.path || '/' }), el('span', { class: 'hint', text: problem.line ? `line ${problem.line}` : '' }));
  const said = el('span', { text: problem.message });
  const tag = el('span', { class: 'tag', data: { mood }, text: word });
  return el('li', {}, onChoose && problem.line ? el('button', { type: 'button', class: 'problem', on: { click: onChoose } }, tag, where, said) : el('div', { class: 'problem' }, tag, where, said));
}
