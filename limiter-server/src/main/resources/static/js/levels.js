// How much of a limit is taken, and how to say it. Pure.

/** The share taken, 0 to 1; above 1: debt. */
export function taken(limit) {
  const capacity = limit.capacity ?? limit.amount;
  if (limit.limit === 'concurrency') {
    return limit.amount > 0 ? limit.in_flight / limit.amount : 0;
  }
  return capacity > 0 ? (capacity - limit.level) / capacity : 0;
}

/** One word for it, and how bad that is: `calm`, `busy` or `stop`. */
export function state(limit) {
  if (limit.amount === 0) {
    return { word: 'closed', mood: 'stop' };
  }
  const share = taken(limit);
  if (limit.level < 0 && limit.limit !== 'concurrency') {
    return { word: 'in debt', mood: 'stop' };
  }
  if (share >= 0.995) {
    return { word: limit.limit === 'concurrency' ? 'full' : 'spent', mood: 'busy' };
  }
  return share >= 0.8 ? { word: 'tight', mood: 'busy' } : { word: 'free', mood: 'calm' };
}

export function key(limit) {
  return `${limit.scope} ${limit.limit}`;
}

/** Whether a scope is one of many of a kind: an agent, a team or a run under an `each` rule. */
export function isOneOfMany(scope) {
  return /^[ar]:/.test(scope);
}

/** Whether a hold lets nobody in; one that is over is told until it has opened in full. */
export function isClosed(hold) {
  return hold !== undefined && (hold.left_ms === null || hold.left_ms === undefined || hold.left_ms > 0);
}
