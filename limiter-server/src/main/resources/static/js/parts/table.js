// A table that is kept up to date row by row; on a phone each row becomes a small card (parts.css).
import { el, keyed, setText } from '../dom.js';

/**
 * A table in `holder`. `columns`: `{name, text(item), class?, title?(item)}`. The answer shows the items; more than `most` are
 * behind a button.
 */
export function table(holder, { caption, columns, keyOf, most, empty }) {
  const body = el('tbody');
  const head = el('tr', {}, ...columns.map((c) => el('th', { scope: 'col', class: c.class, text: c.name })));
  const whole = el('table', {}, el('caption', { class: 'unseen', text: caption }), el('thead', {}, head), body);
  const none = el('p', { class: 'empty', text: empty });
  const more = el('button', { type: 'button', class: 'quiet more', on: { click: () => { all = !all; draw(); } } });
  let all = false;
  let items = [];
  holder.replaceChildren(whole, none, more);

  const draw = () => {
    const shown = all ? items : items.slice(0, most);
    keyed(
      body,
      shown,
      keyOf,
      () => el('tr', {}, ...columns.map((c) => el('td', { class: c.class, data: { label: c.name } }))),
      (row, item) =>
        columns.forEach((c, i) => {
          setText(row.cells[i], c.text(item));
          const title = c.title?.(item);
          if (title) {
            row.cells[i].title = title;
          }
          if (c.mood) {
            row.cells[i].dataset.mood = c.mood(item);
          }
        }),
    );
    whole.hidden = items.length === 0;
    none.hidden = items.length > 0;
    more.hidden = items.length <= most;
    setText(more, all ? `Show the first ${most} only` : `Show all ${items.length}`);
  };
  return (next) => {
    items = next;
    draw();
  };
}
