// The policy editor: what is typed is checked as a dry run, and saved only over the version that was read.
import { api } from '../api.js';
import { byId, el, setText, show } from '../dom.js';
import { clearCheck, showChange, showProblems } from './check.js';
import { jump, mark, prepareLines } from './lines.js';
import { mayRemove, prepareRemove } from './remove.js';
import { showVersions } from './versions.js';

const PAUSE_MS = 500;
const FIRST = `project: acme-prod
provider: anthropic
classes:
  - name: sonnet
    models: ["claude-sonnet-*"]
    limits: {rpm: 4000, itpm: 2000000, otpm: 400000, concurrency: 64}
limits: {concurrency: 200}
`;

const text = byId('document');
let at = { project: undefined, version: 0, read: '', isNew: false, file: undefined, may: false, onSaved: () => {} };
let pause;
let checking;

const changed = () => text.value !== at.read;

/** Whether it has a comment: the text comes back without, as it is kept by its content. Pure. */
export function hasComments(yaml) {
  return yaml.split('\n').some((line) => /(^|\s)#/.test(line.replace(/"(\\.|[^"\\])*"|'[^']*'/g, '')));
}

/** The project a new policy is for: what it says itself. */
function target() {
  return at.isNew ? (/^project:\s*["']?([a-z0-9][a-z0-9._-]{0,62})["']?\s*$/m.exec(text.value)?.[1] ?? '') : at.project;
}

/** Opens the policy in force of a project, or a first one. `may`: whether it may be changed; `file` owns it then, if any. */
export async function openPolicy({ project, isNew, may, file, onSaved, onRemoved }) {
  mayRemove(project, may && !isNew && !file, onRemoved);
  at = { project, version: 0, read: isNew ? '' : text.value, isNew, file, may: may && !file, onSaved };
  setText(byId('policy-title'), isNew ? 'New policy' : `Policy of ${project}`);
  if (isNew) {
    fill(FIRST, 0, '');
    check();
    return;
  }
  await load();
}

async function load() {
  const asked = at;
  try {
    const { text: yaml, etag } = await api.policy(at.project);
    if (asked === at) {
      fill(yaml, etag, yaml);
    }
  } catch (e) {
    note(e.message);
  }
  showVersions(at, async (to) => {
    await api.rollback(at.project, to);
    await load();
    at.onSaved();
  });
}

function fill(yaml, version, read) {
  text.value = yaml;
  at.version = version;
  at.read = read;
  text.readOnly = !at.may;
  clearTimeout(pause);
  checking?.abort();
  clearCheck();
  show(byId('comments'), false);
  setText(byId('policy-version'), version ? `version ${version} is in force` : 'not saved yet');
  note(at.file ? `This project is set by the file ${at.file} on the server. Change that file; this page only shows it.` : at.may ? '' : 'You may read this policy, not change it.');
  mark(text, []);
  buttons(false);
}

function note(message, ...actions) {
  const place = byId('policy-note');
  place.replaceChildren(message, ...actions);
  show(place, message !== '');
}

function buttons(valid) {
  byId('save').disabled = !(at.may && valid && changed());
  byId('check').disabled = !at.may;
  byId('revert').disabled = !changed();
  setText(byId('save'), at.version ? `Save as version ${at.version + 1}` : 'Save');
}

async function check() {
  show(byId('comments'), at.may && changed() && hasComments(text.value));
  clearTimeout(pause);
  checking?.abort();
  checking = new AbortController();
  const { signal } = checking;
  try {
    const change = await api.install(target() || 'new', text.value, { dryRun: true, signal });
    mark(text, []);
    showChange(change, changed());
    buttons(!change.same);
  } catch (e) {
    if (e.name !== 'AbortError') {
      refuse(e);
    }
  }
}

async function save() {
  if (!at.may || !changed()) {
    return;
  }
  const project = target();
  clearTimeout(pause);
  checking?.abort();
  try {
    const { version } = await api.install(project, text.value, { ifMatch: at.version });
    setText(byId('news'), `Version ${version} is in force`);
    const { onSaved } = at;
    at = { ...at, project, isNew: false };
    await load();
    setText(byId('check-said'), `Saved: version ${version} is in force from every host's next call on.`);
    onSaved(project);
  } catch (e) {
    if (e.status === 412) {
      conflict();
    } else {
      refuse(e);
    }
  }
}

/** Somebody saved another version meanwhile: theirs, or ours over it. */
async function conflict() {
  const { etag } = await api.policy(target());
  const load_ = el('button', { type: 'button', text: `Load version ${etag}`, on: { click: load } });
  const over = el('button', { type: 'button', text: 'Save mine over it', on: { click: () => { at.version = etag; note(''); save(); } } });
  note(`Version ${etag} was saved since you began. Nothing of yours is saved yet. `, load_, over);
  load_.focus();
}

function refuse(e) {
  const problems = e.body?.problems ?? [];
  showProblems(problems, e.message, (problem) => jump(text, problem.line));
  mark(text, problems.map((problem) => problem.line));
  buttons(false);
}

/** The listeners, once. */
export function preparePolicy() {
  prepareLines(text);
  prepareRemove();
  text.addEventListener('input', () => {
    buttons(false);
    clearTimeout(pause);
    pause = setTimeout(check, PAUSE_MS);
  });
  text.addEventListener('keydown', (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === 's') {
      event.preventDefault();
      save();
    }
  });
  byId('save').addEventListener('click', save);
  byId('check').addEventListener('click', check);
  byId('revert').addEventListener('click', () => fill(at.isNew ? FIRST : at.read, at.version, at.read));
  window.addEventListener('beforeunload', (event) => {
    if (!byId('policy').hidden && at.may && changed() && !at.isNew) {
      event.preventDefault();
    }
  });
}
