// Who looks at this page, and the way in where the server asks for a token.
import { api } from './api.js';
import { byId, setText, show } from './dom.js';

/** Who is logged in: `{name, role, projects, login}`; `null` if the server asks for a token first. Waits for a server that is down. */
export async function whoami() {
  for (;;) {
    try {
      return await api.me();
    } catch (e) {
      if (e.status === 401 || e.status === 403) {
        return null;
      }
      await new Promise((resolve) => setTimeout(resolve, 2000));
    }
  }
}

/** Shows the form until a token is taken. */
export function askForToken() {
  show(byId('login'), true);
  byId('token').focus();
  return new Promise((resolve) => {
    const form = byId('login-form');
    const submit = async (event) => {
      event.preventDefault();
      show(byId('login-fault'), false);
      try {
        await api.login(byId('token').value.trim());
      } catch (e) {
        setText(byId('login-fault'), e.status === 401 ? 'The server does not know this token.' : e.message);
        show(byId('login-fault'), true);
        byId('token').focus();
        return;
      }
      form.removeEventListener('submit', submit);
      byId('token').value = '';
      show(byId('login'), false);
      resolve();
    };
    form.addEventListener('submit', submit);
  });
}

/** Whether they may change things. */
export function isAdmin(me) {
  return me.role === 'admin';
}

/** Whether they may make projects. */
export function isRoot(me) {
  return isAdmin(me) && me.projects.includes('*');
}
