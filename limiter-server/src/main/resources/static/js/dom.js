// Elements made and kept up to date. Text goes in as text, never as markup: a name may hold anything.

/** An element: `el('td', {class: 'number', text: 7}, ...children)`. `on` holds listeners, `data` the data-* attributes. */
export function el(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) {
      continue;
    }
    if (name === 'text') {
      element.textContent = value;
    } else if (name === 'on') {
      Object.entries(value).forEach(([type, listener]) => element.addEventListener(type, listener));
    } else if (name === 'data') {
      Object.assign(element.dataset, value);
    } else {
      element.setAttribute(name, value === true ? '' : value);
    }
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export function byId(id) {
  return document.getElementById(id);
}

/** Writes only what differs, so that a selection and a screen reader are left in peace. */
export function setText(element, text) {
  const wanted = String(text);
  if (element.textContent !== wanted) {
    element.textContent = wanted;
  }
}

export function show(element, shown) {
  element.hidden = !shown;
}

/** Makes the children of `parent` match `items`: those with a known key stay the same elements, and keep the focus. */
export function keyed(parent, items, keyOf, make, update = () => {}) {
  const old = new Map([...parent.children].map((child) => [child.dataset.key, child]));
  let at = parent.firstElementChild;
  for (const item of items) {
    const key = String(keyOf(item));
    let child = old.get(key);
    old.delete(key);
    if (!child) {
      child = make(item);
      child.dataset.key = key;
    }
    if (child === at) {
      at = at.nextElementSibling;
    } else {
      parent.insertBefore(child, at);
    }
    update(child, item);
  }
  old.forEach((child) => child.remove());
}

/** The element with this name inside a part: `<span data-part="share">`. */
export function part(element, name) {
  return element.querySelector(`[data-part="${name}"]`);
}

/** Fills a select, keeping what is chosen where it is still there. */
export function options(select, choices) {
  const chosen = select.value;
  const same =
    select.options.length === choices.length && choices.every(([value, text], i) => select.options[i].value === value && select.options[i].text === text);
  if (same) {
    return;
  }
  select.replaceChildren(...choices.map(([value, text]) => el('option', { value, text })));
  if (choices.some(([value]) => value === chosen)) {
    select.value = chosen;
  }
}
