// Says whether the figures are live, and since when not.
import { byId, setText, show } from './dom.js';
import { duration } from './words.js';

let state = { state: 'starting' };
let heardAt;

/** The project's figures came. */
export function heard() {
  heardAt = Date.now();
  if (state.state === 'outage') {
    setConnection({ state: 'live' });
  }
}

/** The server answers, but cannot say how the project stands. */
export function setOutage(problem) {
  setConnection({ state: 'outage', problem });
}

export function setConnection(next) {
  state = next;
  draw();
}

function draw() {
  const words = { starting: 'Connecting', live: 'Live', lost: 'Connection lost', outage: 'No figures', paused: 'Paused' };
  byId('connection').dataset.state = state.state;
  setText(byId('connection-text'), words[state.state]);
  const lost = state.state === 'lost';
  const stale = lost || state.state === 'outage';
  show(byId('lost'), stale);
  show(byId('lost-now'), lost);
  document.body.classList.toggle('stale', stale);
  const old = heardAt ? `The figures are ${duration(Date.now() - heardAt)} old. ` : '';
  if (state.state === 'outage') {
    setText(byId('lost-text'), `${state.problem.detail}. ${old}`);
  }
  if (lost) {
    const wait = Math.max(0, state.retryAt - Date.now());
    const told = state.problem?.status ? `${state.problem.message} ` : '';
    setText(byId('lost-text'), `Connection lost. ${told}${old}${wait > 0 ? `Trying again in ${duration(wait)}.` : 'Trying again.'}`);
  }
}

/** Once. `onNow`: somebody does not want to wait. */
export function prepareConnection(onNow) {
  byId('lost-now').addEventListener('click', onNow);
  setInterval(() => ['lost', 'outage'].includes(state.state) && draw(), 500);
}
