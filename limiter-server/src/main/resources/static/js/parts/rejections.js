// What the provider refused, by kind: over the last day as the server keeps it, and all of it since the project was installed.
import { api } from '../api.js';
import { bars } from '../charts.js';
import { byId, el, setText } from '../dom.js';
import { count, dayAndClock, spaced, times } from '../words.js';
import { stacks } from './usage.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const REFRESH_MS = 60_000; // when nothing is refused only the hour moves on

const none = el('p', { class: 'empty' });
const chart = el('div');
const ever = el('p', { class: 'hint' });
byId('rejections').replaceChildren(none, chart, ever);
let draw;
let project;
let known = {}; // by kind, since the project was installed
let lately; // in the last day; not known yet

const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

/** How many there were in the last 24 hours; undefined while that is not known. */
export function rejectedLately() {
  return lately;
}

/** One look at the project: asks for the series again where there are more than at the last. */
export function showRejections(status, id) {
  const totals = Object.entries(status.rejections ?? {}).filter(([, n]) => n > 0).sort((a, b) => b[1] - a[1]);
  const all = sum(totals.map(([, n]) => n));
  setText(ever, all === 0 ? '' : `${times(all, 'rejection')} since the project was installed: ${totals.map(([kind, n]) => `${count(n)} ${spaced(kind)}`).join(', ')}.`);
  const more = id !== project || all !== sum(Object.values(known));
  if (id !== project) {
    lately = undefined;
    setText(none, '');
    chart.hidden = true;
  }
  project = id;
  known = Object.fromEntries(totals);
  if (more) {
    refreshRejections();
  }
}

async function refreshRejections() {
  const id = project;
  const to = Math.ceil((Date.now() + 1) / HOUR) * HOUR;
  let rows;
  try {
    ({ rows } = await api.usage(id, { from: new Date(to - DAY).toISOString(), to: new Date(to).toISOString(), step: 'hour', by: 'kind' }));
  } catch (e) {
    setText(none, e.kind === 'unreachable' ? '' : e.message);
    return;
  }
  if (id !== project) {
    return;
  }
  lately = sum(rows.map((row) => row.rejections));
  none.hidden = lately > 0;
  chart.hidden = lately === 0;
  setText(none, Object.keys(known).length === 0 ? 'None, ever. That is what the budget is for.' : 'None in the last 24 hours.');
  if (lately === 0) {
    return;
  }
  const byKind = new Map();
  rows.forEach((row) => byKind.set(row.name, (byKind.get(row.name) ?? 0) + row.rejections));
  const kinds = [...byKind].sort((a, b) => b[1] - a[1]).map(([kind]) => kind);
  draw ??= bars(chart, { height: 110, at: (x) => dayAndClock(x * 1000) });
  const { xs, series } = stacks(rows, kinds, to - DAY, to, HOUR, (row) => row.rejections);
  draw({ xs, series: series.map((s) => ({ ...s, label: spaced(s.name) })), format: count, tick: (x) => dayAndClock(x * 1000).slice(-5), span: 'in the last 24 hours' });
}

export function prepareRejections(mayAsk) {
  setInterval(() => project && mayAsk() && refreshRejections(), REFRESH_MS);
}
