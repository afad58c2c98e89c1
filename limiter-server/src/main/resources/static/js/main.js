// Puts it together: who looks, at which project, in which view; and the streams that keep it alive.
import { api } from './api.js';
import { heard, prepareConnection, setConnection, setOutage } from './connection.js';
import { byId, options, setText, show } from './dom.js';
import { History } from './history.js';
import { key, taken } from './levels.js';
import { showAgents } from './parts/agents.js';
import { clearEvents, showEvent } from './parts/events.js';
import { prepareHolds, showHolds } from './parts/holds.js';
import { prepareLevels, showLevels } from './parts/level.js';
import { showLimits } from './parts/limits.js';
import { showLine } from './parts/line.js';
import { preparePlan, refreshPlan, showClasses } from './parts/plan.js';
import { openPolicy, preparePolicy } from './parts/policy.js';
import { showProvider } from './parts/provider.js';
import { prepareRejections, showRejections } from './parts/rejections.js';
import { prepareUsage, refreshUsage } from './parts/usage.js';
import { showVerdict } from './parts/verdict.js';
import { askForToken, isAdmin, isRoot, whoami } from './session.js';
import { Stream } from './stream.js';

const SILENT_MS = 5_000; // a status comes every second
const LIST_MS = 10_000;
const PAUSE_MS = 30_000; // hidden for so long, a page gives its two connections back
const NEW = 'new';

const app = { me: undefined, projects: [], project: undefined, history: undefined, streams: [], view: 'live', asked: false };

function route() {
  const [, project, view] = /^#\/([^/]*)\/?(\w*)$/.exec(location.hash) ?? [];
  const known = app.projects.map((p) => p.project);
  return { project: known.includes(project) || project === NEW ? project : known[0], view: view === 'policy' || project === NEW ? 'policy' : 'live' };
}

function go() {
  const { project, view } = route();
  const isNew = project === NEW;
  show(byId('none'), project === undefined);
  show(byId('project'), app.projects.length > 0);
  show(byId('views'), app.projects.length > 0 && !isNew);
  show(byId('live'), view === 'live' && project !== undefined);
  show(byId('policy'), view === 'policy' && project !== undefined);
  document.title = project && !isNew ? `${project} · Sluice` : 'Sluice';
  for (const link of document.querySelectorAll('#views a')) {
    link.href = `#/${project}/${link.dataset.view}`;
    link.toggleAttribute('aria-current', link.dataset.view === view);
    if (link.dataset.view === view) {
      link.setAttribute('aria-current', 'page');
    }
  }
  if (project === undefined) {
    setConnection({ state: 'live' });
    return;
  }
  if (!isNew && project !== app.project) {
    watch(project);
  }
  if (view === 'policy' && (app.view !== 'policy' || app.policyOf !== project)) {
    app.policyOf = project;
    edit(project, isNew);
  }
  app.view = view;
  byId('project').value = isNew ? '' : project;
}

function edit(project, isNew) {
  const entry = app.projects.find((p) => p.project === project);
  openPolicy({
    project,
    isNew,
    may: isNew ? isRoot(app.me) : isAdmin(app.me),
    file: entry?.managed_by_file,
    onRemoved: async () => {
      location.hash = `#/${project}/live`;
      await list();
      go();
    },
    onSaved: async (saved) => {
      await list();
      if (isNew && saved) {
        app.policyOf = saved;
        location.hash = `#/${saved}/policy`;
      }
    },
  });
}

/** Follows a project from now on. */
function watch(project) {
  unwatch();
  app.project = project;
  app.asked = false;
  app.history = new History(project);
  clearEvents();
  setConnection({ state: 'starting' });
  app.streams = [
    new Stream(api.statusPath(project), {
      silentMs: SILENT_MS,
      onState: (state) => {
        if (state.problem?.status === 401) {
          location.reload();
        } else {
          setConnection(state);
        }
      },
      onEvent: ({ type, data }) => {
        if (type === 'status') {
          see(JSON.parse(data));
        } else if (type === 'outage') {
          setOutage(JSON.parse(data));
        }
      },
    }),
    new Stream(api.eventsPath(project), { onEvent: showEvent, lastId: '0' }), // all that is kept,
  ];
}

function unwatch() {
  app.streams.forEach((stream) => stream.close());
  app.streams = [];
  app.history?.save();
}

/** One look at the project. */
function see(status) {
  const now = Date.now();
  heard();
  app.history.add(now, Object.fromEntries(status.limits.map((l) => [key(l), taken(l)])));
  setText(byId('version'), `v${status.version}`);
  setText(byId('mode'), status.mode);
  show(byId('mode'), status.mode !== 'enforce');
  showHolds(status, app.project, isAdmin(app.me));
  showRejections(status, app.project);
  showVerdict(status);
  showLimits(status, app.history, now);
  showLine(status);
  showAgents(status);
  showProvider(status);
  showLevels(status, app.project, isAdmin(app.me));
  showClasses(status);
  if (!app.asked) {
    app.asked = true;
    refreshPlan(app.project);
    refreshUsage(app.project);
  }
}

async function list() {
  try {
    app.projects = await api.projects();
  } catch {
    return; // the connection's own state tells that
  }
  options(byId('project'), app.projects.map(({ project }) => [project, project]));
  show(byId('none-new'), isRoot(app.me));
  byId('none-how').textContent = isRoot(app.me)
    ? 'Write it here, put a file into the directory of sluice.policies, or run ./sluice policy apply FILE.'
    : 'Ask somebody with an admin token to write it.';
}

function whenHidden() {
  let pause;
  document.addEventListener('visibilitychange', () => {
    clearTimeout(pause);
    if (document.hidden) {
      pause = setTimeout(() => {
        unwatch();
        setConnection({ state: 'paused' });
      }, PAUSE_MS);
    } else if (app.project && app.streams.length === 0) {
      watch(app.project);
    }
  });
}

async function start() {
  const mayAsk = () => !document.hidden && app.streams.some((stream) => stream.live) && !byId('live').hidden;
  prepareConnection(() => app.streams.forEach((stream) => stream.now()));
  prepareHolds();
  preparePlan(mayAsk);
  preparePolicy();
  prepareRejections(mayAsk);
  prepareUsage(mayAsk);
  prepareLevels();
  for (app.me = await whoami(); app.me === null; app.me = await whoami()) {
    await askForToken();
  }
  show(byId('logout'), app.me.login === true);
  byId('logout').title = `${app.me.name}, ${app.me.role}`;
  byId('logout').addEventListener('click', async () => {
    await api.logout();
    location.reload();
  });
  byId('none-new').addEventListener('click', () => (location.hash = `#/${NEW}`));
  byId('project').addEventListener('change', (event) => (location.hash = `#/${event.target.value}/${app.view}`));
  window.addEventListener('hashchange', go);
  // A browser may keep a page that was left, for the way back, with all that it has open; and it has six connections to a server.
  window.addEventListener('pagehide', unwatch);
  window.addEventListener('pageshow', (event) => event.persisted && app.project && watch(app.project));
  whenHidden();
  await list();
  go();
  setInterval(async () => {
    const before = app.projects.length;
    await list();
    if (before !== app.projects.length) {
      go();
    }
  }, app.projects.length === 0 ? 2000 : LIST_MS);
}

start();
