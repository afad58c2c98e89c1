// Figures and names as people read them. Pure.

const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });
const PLAIN = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const MONEY = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD', trailingZeroDisplay: 'stripIfInteger' });
const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const DAY_AND_CLOCK = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });

/** 1234 → 1,234; 1234567 → 1.23M. `plain`: what is smaller is written out. */
export function count(n, plain = 100_000) {
  return Math.abs(n) < plain ? PLAIN.format(n) : COMPACT.format(n);
}

export function percent(share) {
  return `${Math.round(share * 100)} %`;
}

/** Dollars. */
export function money(usd) {
  return MONEY.format(usd);
}

export function times(n, one, many = `${one}s`) {
  return `${count(n)} ${n === 1 ? one : many}`;
}

/** How long: 0.4 s, 12 s, 4 min 12 s, 2 h 5 min, 3 d 4 h. */
export function duration(ms) {
  if (ms < 9_950) {
    return `${(ms / 1000).toFixed(1)} s`;
  }
  const s = Math.round(ms / 1000);
  if (s < 60) {
    return `${s} s`;
  }
  const [big, small, unit, sub] = s < 3600 ? [60, 1, 'min', 's'] : s < 86400 ? [3600, 60, 'h', 'min'] : [86400, 3600, 'd', 'h'];
  const parts = Math.floor(s / small);
  const rest = parts % (big / small);
  return `${Math.floor(s / big)} ${unit}${rest ? ` ${rest} ${sub}` : ''}`;
}

/** What is left, as a clock counts it down: 4:12, 1:02:03. Rounded up, so that 0:00 is the end. */
export function countdown(ms) {
  const s = Math.max(0, Math.ceil(ms / 1000));
  const two = (n) => String(n).padStart(2, '0');
  const h = Math.floor(s / 3600);
  return h ? `${h}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}` : `${Math.floor(s / 60)}:${two(s % 60)}`;
}

export function clock(at) {
  return CLOCK.format(at);
}

export function dayAndClock(at) {
  return DAY_AND_CLOCK.format(at);
}

const SCOPES = { c: 'class', t: 'team', w: 'workspace', a: 'agent', r: 'run', n: 'agents of' };

/** `c:sonnet` → class sonnet; `t:research|sonnet` → team research, class sonnet. */
export function scope(name) {
  if (!name || name === 'p') {
    return 'project';
  }
  const [whole, inner] = name.split('|');
  const at = whole.indexOf(':');
  const kind = SCOPES[whole.slice(0, at)];
  const text = kind ? `${kind} ${whole.slice(at + 1)}` : whole;
  return inner ? `${text}, class ${inner}` : text;
}

const LIMITS = {
  rpm: 'requests / min',
  itpm: 'input tokens / min',
  otpm: 'output tokens / min',
  tpm: 'tokens / min',
  rpd: 'requests / day',
  tpd: 'tokens / day',
  usd: 'money',
  concurrency: 'calls in flight',
  agents: 'active agents',
};

/** `itpm` → input tokens / min, of one: input token / min; a custom limit keeps its name. */
export function limit(name, n = 2) {
  const words = LIMITS[name] ?? name;
  return n === 1 && LIMITS[name] ? words.replace(/(call|agent|request|token)s/, '$1') : words;
}

/** What a call waits for: `itpm` of `c:sonnet`; `line`: only for others. */
export function obstacle(limitName, scopeName) {
  if (!limitName || limitName === 'line') {
    return 'its turn';
  }
  if (limitName === 'hold') {
    return `the hold of ${scope(scopeName)}`;
  }
  return `${limit(limitName)}, ${scope(scopeName)}`;
}

/** `plan_window` → plan window. */
export function spaced(word) {
  return String(word).replaceAll('_', ' ');
}
