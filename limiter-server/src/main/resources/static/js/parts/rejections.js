// What the provider refused, by kind, over the minutes this page has watched; and all of it since the project was installed.
import { bars } from '../charts.js';
import { byId, el, setText } from '../dom.js';
import { clock, count, spaced, times } from '../words.js';

const MERGE = 2; // steps of the history to a bar

const none = el('p', { class: 'empty' });
const chart = el('div');
const ever = el('p', { class: 'hint' });
byId('rejections').replaceChildren(none, chart, ever);
let draw;

export function showRejections(status, history, now) {
  const totals = Object.entries(status.rejections ?? {}).filter(([, n]) => n > 0).sort((a, b) => b[1] - a[1]);
  const seen = new Map();
  history.steps.forEach((step) => Object.entries(step.rejections).forEach(([kind, n]) => seen.set(kind, (seen.get(kind) ?? 0) + n)));
  const kinds = [...seen].sort((a, b) => b[1] - a[1]).map(([kind]) => kind);
  none.hidden = kinds.length > 0;
  chart.hidden = kinds.length === 0;
  const all = totals.reduce((sum, [, n]) => sum + n, 0);
  setText(none, all === 0 ? 'None, ever. That is what the budget is for.' : 'None in the last 10 minutes.');
  setText(ever, all === 0 ? '' : `${times(all, 'rejection')} since the project was installed: ${totals.map(([kind, n]) => `${count(n)} ${spaced(kind)}`).join(', ')}.`);
  if (kinds.length === 0) {
    return;
  }
  draw ??= bars(chart, { height: 110, at: (x) => clock(x * 1000) });
  const xs = history.axis(now);
  const merged = (values) => values.filter((_, i) => i % MERGE === 0).map((_, i) => values.slice(MERGE * i, MERGE * (i + 1)).reduce((a, b) => a + (b ?? 0), 0));
  const top = kinds.slice(0, 5);
  const series = top.map((kind) => ({ name: kind, label: spaced(kind), values: merged(history.series(now, (step) => step.rejections[kind])) }));
  if (kinds.length > top.length) {
    const rest = kinds.slice(5);
    series.push({ name: 'others', values: merged(history.series(now, (step) => rest.reduce((sum, kind) => sum + (step.rejections[kind] ?? 0), 0))) });
  }
  draw({ xs: xs.filter((_, i) => i % MERGE === 0), series, format: count, tick: (x) => clock(x * 1000).slice(0, 5), span: 'in the last 10 minutes' });
}
