// The numbers beside the editor's lines, and marks on those with a fault.
import { byId, el } from '../dom.js';

let faulty = new Set();

export function prepareLines(text) {
  const lines = byId('lines');
  text.addEventListener('input', () => number(text));
  text.addEventListener('scroll', () => (lines.scrollTop = text.scrollTop));
}

/** Marks these lines, from 1, and no others. */
export function mark(text, lines) {
  faulty = new Set(lines);
  number(text);
}

function number(text) {
  const n = text.value.split('\n').length;
  byId('lines').replaceChildren(
    ...Array.from({ length: n }, (_, i) => el('span', { class: faulty.has(i + 1) ? 'faulty' : undefined, text: i + 1 })),
  );
  byId('lines').scrollTop = text.scrollTop;
}

/** Selects a line and brings it into sight. */
export function jump(text, line) {
  if (!line) {
    text.focus();
    return;
  }
  const before = text.value.split('\n').slice(0, line - 1);
  const start = before.reduce((sum, l) => sum + l.length + 1, 0);
  const end = text.value.indexOf('\n', start);
  text.focus();
  text.setSelectionRange(start, end < 0 ? text.value.length : end);
  const height = parseFloat(getComputedStyle(text).lineHeight);
  text.scrollTop = Math.max(0, (line - 4) * height);
}
