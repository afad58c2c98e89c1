// Two charts on uPlot: a line as small as a word, and stacked bars with a legend that tells the numbers.
import uPlot from '../webjars/uplot/dist/uPlot.esm.js';
import { el, keyed, part, setText } from './dom.js';

const all = new Set();
let colours = new Map();

/** The value of a colour of base.css in the theme of the moment. */
function colour(name) {
  if (!colours.has(name)) {
    colours.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  }
  return colours.get(name);
}

function redraw() {
  colours = new Map();
  all.forEach((chart) => chart.redraw(false, true));
}

window.addEventListener('theme', redraw);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);

function fit(chart, holder, height) {
  all.add(chart);
  const observer = new ResizeObserver(() => {
    if (!all.has(chart)) {
      observer.disconnect();
    } else if (!holder.isConnected) {
      all.delete(chart);
      chart.destroy();
    } else if (holder.clientWidth > 0) {
      chart.setSize({ width: holder.clientWidth, height });
    }
  });
  observer.observe(holder);
}

/** A line of shares, 0 to 1, in `holder`; the answer sets its data. */
export function spark(holder) {
  const height = 26;
  const chart = new uPlot(
    {
      width: holder.clientWidth || 120,
      height,
      padding: [2, 0, 2, 0],
      legend: { show: false },
      cursor: { show: false },
      scales: { x: { time: false }, y: { range: [0, 1] } },
      axes: [{ show: false }, { show: false }],
      series: [
        {},
        {
          width: 1.25,
          points: { show: false },
          stroke: () => colour('--accent'),
          fill: () => colour('--accent-soft'),
        },
      ],
    },
    [[], []],
    holder,
  );
  fit(chart, holder, height);
  return (xs, ys) => chart.setData([xs, ys.map((y) => (y === null ? null : Math.min(1, Math.max(0, y))))]);
}

/** Half a bar more at both ends. */
function whole(chart, min, max) {
  const xs = chart.data[0];
  const half = xs.length > 1 ? (xs[1] - xs[0]) / 2 : 1;
  return [min - half, max + half];
}

const WHOLE = Array.from({ length: 13 }, (_, i) => [10 ** i, 2 * 10 ** i, 5 * 10 ** i]).flat();
const KINDS = ['--k1', '--k2', '--k3', '--k4', '--k5', '--k6'];

/**
 * Stacked bars of up to six series in `holder`. The answer takes `(xs, series, format)` with `series` of `{name, values}`, the
 * largest first; pointing at a bar shows its numbers in the legend instead of the sums.
 */
export function bars(holder, { height = 120, at }) {
  const canvas = el('div', { class: 'chart', 'aria-hidden': 'true' });
  const legend = el('ul', { class: 'legend' });
  const when = el('p', { class: 'hint chart-when' });
  holder.append(canvas, when, legend);
  let drawn = { xs: [], series: [], format: String };
  let chart;

  const tell = () => {
    const i = chart?.cursor.idx ?? null;
    setText(when, i === null ? drawn.span ?? '' : at(drawn.xs[i]));
    keyed(
      legend,
      drawn.series,
      (series) => series.name,
      () => el('li', {}, el('span', { class: 'swatch', 'data-part': 'swatch' }), el('span', { class: 'name', 'data-part': 'name' }), el('b', { 'data-part': 'sum' })),
      (item, series) => {
        part(item, 'swatch').dataset.k = drawn.series.indexOf(series) + 1;
        setText(part(item, 'name'), series.label ?? series.name);
        const value = i === null ? series.values.reduce((sum, v) => sum + (v ?? 0), 0) : series.values[i] ?? 0;
        setText(part(item, 'sum'), drawn.format(value));
      },
    );
  };

  const build = (n) => {
    const old = chart;
    const soft = () => colour('--soft');
    const grid = { stroke: () => colour('--line'), width: 1 };
    const axis = { stroke: soft, font: '11px ui-sans-serif, system-ui, sans-serif', ticks: { show: false } };
    chart = new uPlot(
      {
        width: canvas.clientWidth || 300,
        height,
        padding: [6, 4, 0, 0],
        legend: { show: false },
        cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
        scales: { x: { range: whole }, y: { range: (u, min, max) => [0, Math.max(1, max) * 1.05] } },
        axes: [
          { ...axis, grid: { show: false }, size: 22, values: (u, ticks) => ticks.map((tick) => drawn.tick(tick)), space: 60 },
          { ...axis, grid, size: 40, incrs: WHOLE, values: (u, ticks) => ticks.map((tick) => drawn.format(tick)), space: 28 },
        ],
        series: [
          {},
          ...Array.from({ length: n }, (_, i) => ({
            paths: uPlot.paths.bars({ size: [0.72, 40], radius: 0 }),
            fill: () => colour(KINDS[n - 1 - i]),
            width: 0,
            points: { show: false },
          })),
        ],
        hooks: { setCursor: [tell] },
      },
      [[], ...Array.from({ length: n }, () => [])],
      canvas,
    );
    fit(chart, canvas, height);
    if (old) {
      all.delete(old);
      old.destroy();
    }
  };

  return (next) => {
    if (!chart || next.series.length !== drawn.series.length) {
      drawn = next;
      build(next.series.length);
    }
    drawn = next;
    // Stacked: each series is drawn from 0 to the sum up to it, the highest first.
    const sums = next.xs.map(() => 0);
    const stacked = next.series.map(({ values }) => values.map((v, i) => (sums[i] += v ?? 0)));
    chart.setData([next.xs, ...stacked.reverse()]);
    tell();
  };
}
