// A project goes: its name is typed once more, and a reason is given.
import { api } from '../api.js';
import { byId, setText, show } from '../dom.js';

let project;
let onRemoved = () => {};

/** `may`: whether it may be removed by who looks. */
export function mayRemove(id, may, removed) {
  project = id;
  onRemoved = removed;
  show(byId('remove-open'), may);
}

function fault(message) {
  setText(byId('remove-fault'), message);
  show(byId('remove-fault'), message !== '');
}

/** The dialog, once. */
export function prepareRemove() {
  const dialog = byId('remove-dialog');
  byId('remove-open').addEventListener('click', () => {
    fault('');
    byId('remove-name').value = '';
    dialog.showModal();
    byId('remove-name').focus();
  });
  byId('remove-close').addEventListener('click', () => dialog.close());
  byId('remove-form').addEventListener('submit', async (event) => {
    event.preventDefault();
    if (byId('remove-name').value.trim() !== project) {
      fault(`That is not its name: it is ${project}.`);
      byId('remove-name').focus();
      return;
    }
    try {
      await api.remove(project, { drain: 'true', reason: byId('remove-reason').value.trim() });
      byId('remove-reason').value = '';
      dialog.close();
      setText(byId('news'), `${project} is being removed`);
      onRemoved();
    } catch (e) {
      fault(e.message);
    }
  });
}
