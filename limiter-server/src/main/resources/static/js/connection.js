// Says whether the figures are live, and since when not.
import { byId, setText, show } from './dom.js';
import { duration } from './words.js';

let state = { state: 'starting' };
let heardAt;

export function heard() {
  heardAt = Date.now();
}

export function setConnection(next) {
  state = next;
  draw();
}

function draw() {
  const words = { starting: 'Connecting', live: 'Live', lost: 'Connection lost', paused: 'Paused' };
  byId('connection').dataset.state = state.state;
  setText(byId('connection-text'), words[state.state]);
  const lost = state.state === 'lost';
  show(byId('lost'), lost);
  document.body.classList.toggle('stale', lost);
  if (lost) {
    const old = heardAt ? `The figures are ${duration(Date.now() - heardAt)} old. ` : '';
    const wait = Math.max(0, state.retryAt - Date.now());
    const told = state.problem?.status ? `${state.problem.message} ` : '';
    setText(byId('lost-text'), `Connection lost. ${told}${old}${wait > 0 ? `Trying again in ${duration(wait)}.` : 'Trying again.'}`);
  }
}

/** Once. `onNow`: somebody does not want to wait. */
export function prepareConnection(onNow) {
  byId('lost-now').addEventListener('click', onNow);
  setInterval(() => state.state === 'lost' && draw(), 500);
}
