#!lua flags=allow-oom
-- observe: what a provider's answers taught a host, and what an operator orders: holds, tightened levels, amounts that were
-- stated or found, and what is learned of calls.
--
-- KEYS  the eight keys of the project, in the order of README.md
-- ARGV  1 now     us since 1970; empty in production
--       2 host    who saw it
--       3 count   of observations, 0 to 64; then each: what, and its values
--       hold scope wait most kind retryable granted note
--                 us the scope is on hold (-1 = until released, -2 = not stated: a backoff that the fleet shares); at most `most`
--                 (-1 = any); retryable 1 or 0; granted = when the rejected call was granted (0 = an operator's order)
--       release scope                      * = all of them
--       slow scope part next_part next_in granted
--                 a refused rise: millionths of the amounts now, and from next_in us on (an hour at most); 0 = half
--       less scope limit granted           a rejection for a limit whose amount is being found
--       level scope limit to               an operator's order: what is left of the limit, in millionths of a unit of its amount
--       left scope limit left step num den reset date age
--                 units of the limit that are left, rounded to `step` (-1 = not said); num / den of the policy's amount is
--                 the provider's (0 0 = not said); us until it is full again (-1 = not said); the answer's date in ms (-1 =
--                 not said); us since the answer came
--       learn class agent ...              lib/learn.lua
--
-- Reply observed, now, stamp, [reply, ...]   one for each:
--       hold            {us until calls are let in}: -1 = until released, 0 = they are: no such scope, or too many holds
--       release, slow, less   {1} done, {0} nothing to do
--       level           {1, what was left before}; {0, 0} no such limit
--       left            {tightened, drift, adopted}, each 1 or 0; all 0 for an older answer than one seen, or no such limit
--       learn           {answers, output, tokens a byte, cached share of the class, and these of the agent}; lib/learn.lua
--       lost, what      part of the project's state is missing: install the policy again
--
-- Never gives anybody more than the policy: levels are only lowered, but by an operator's order.
local levels_key, permits_key, waiters_key, lines_key, times_key, hosts_key, learn_key =
  KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8]
local given_now, host, how_many = ARGV[1], ARGV[2], tonumber(ARGV[3])
--#include lib/bucket
--#include lib/record

-- All the rest. A function, because functions are cheaper to define in one (README.md).
local function longer()
--#include lib/hold
--#include lib/calendar
--#include lib/scope
--#include lib/window
--#include lib/force
--#include lib/permit
--#include lib/order
--#include lib/line
--#include lib/expire
--#include lib/short
--#include lib/serve
--#include lib/learn

  -- 1. Everything is read and checked before anything is written.
  local function whole(text, least, most)
    local number = tonumber(text)
    return number and number >= least and number <= (most or EXACT) and number % 1 == 0 and number or nil
  end

  -- Of each value: what it is called, and its least and greatest; without these it is text of at most 256 bytes.
  local SHAPES = {
    hold = { { 'scope' }, { 'wait', -2 }, { 'most', -1 }, { 'kind' }, { 'retryable', 0, 1 }, { 'granted', 0 }, { 'note' } },
    release = { { 'scope' } },
    slow = { { 'scope' }, { 'part', 0, 1000000 }, { 'next_part', 0, 1000000 }, { 'next_in', 0 }, { 'granted', 0 } },
    less = { { 'scope' }, { 'limit' }, { 'granted', 0 } },
    level = { { 'scope' }, { 'limit' }, { 'to', -EXACT } },
    left = {
      { 'scope' }, { 'limit' }, { 'left', -1 }, { 'step', 1 }, { 'num', 0 }, { 'den', 0 }, { 'reset', -1 }, { 'date', -1 }, { 'age', 0 },
    },
  }

  -- Gives the place after them and the values, or nil and what is wrong.
  local function read_values(what, at)
    local values = {}
    for k, shape in ipairs(SHAPES[what]) do
      local text = ARGV[at + k - 1]
      local value = text
      if shape[2] then value = whole(text, shape[2], shape[3]) end
      if not value or #text > 256 then return nil, shape[1] end
      values[shape[1]] = value
    end
    return at + #SHAPES[what], values
  end

  local function read_observations()
    if not whole(how_many, 0, 64) then return nil, 'count' end
    local list, at = {}, 4
    for k = 1, how_many do
      local what = ARGV[at]
      local values, after
      if what == 'learn' then
        after, values = learn.read(at + 1)
      elseif SHAPES[what] then
        after, values = read_values(what, at + 1)
      else
        return nil, 'observation'
      end
      if not after then return nil, values end
      values.what = what
      list[k], at = values, after
    end
    if ARGV[at] then return nil, 'count' end
    return list
  end

  local observations, wrong = read_observations()
  if not observations then return redis.error_reply('BADARG ' .. wrong) end

  local held = redis.call('HMGET', levels_key, '!', '!due', '=p', 'p')
  local project = read_scope('p', held[3], held[4])
  local due = tonumber(held[2])
  if not held[1] or not due or not project then return { 'lost', 'levels' } end
  if not redis.call('HGET', permits_key, '!') then return { 'lost', 'permits' } end
  if not redis.call('ZSCORE', times_key, '!') then return { 'lost', 'times' } end
  if not redis.call('HGET', learn_key, '!') then return { 'lost', 'learn' } end
  if not line.load() then return { 'lost', 'waiters' } end
  local now = time_now(given_now, project.levels[1])
  advance(project, now)
  book.p = project
  expire(now)

  -- 2. One function a kind.
  local did = {}

  -- A scope that calls can draw on. Names are kept in lists with spaces between.
  local function drawn_on(name) return string.find(name, '^[%w._:/@|-]+$') and scope_of(name, now) or nil end

  -- An operator may hold any agent, team or run: where the policy has no limits for each, they are scopes without any.
  local function by_name(name)
    local template = string.match(name, '^([aer]:)[%w._:/@-]+$')
    if not template or #hold.all() >= HOLDS_AT_MOST or string.sub(name, 3) == '-' or redis.call('HGET', levels_key, '=' .. template) then return end
    redis.call('HSET', levels_key, '=' .. template, struct.pack('<dd', -1, 0), template, struct.pack('<dd', now, 0))
    redis.call('HINCRBY', levels_key, '!scopes', 1)
  end

  function did.hold(o)
    if o.granted == 0 then by_name(o.scope) end
    local s = drawn_on(o.scope)
    local h = s and hold.place(s, now, o.wait, o.most, o.kind, o.retryable, o.granted, o.note)
    return { h and hold.told(h, now)[2] or 0 }
  end

  function did.release(o)
    local names, released = { o.scope }, 0
    if o.scope == '*' then
      for k, name in ipairs(hold.all()) do names[k] = name end
    end
    for _, name in ipairs(names) do
      local h = hold.of(name)
      if h then hold.release(h, scope_of(name, now), now) end
      if h then released = 1 end
      line.unpark(name, now)
    end
    return { released }
  end

  -- A scope that the policy names. Of one agent's, team's or run's own no answer tells, and what is in force there its template says.
  local function named(name) return layout_field(name) == '=' .. name and scope_of(name, now) or nil end

  local function limit_of(o)
    local s = named(o.scope)
    for i, name in ipairs(s and limit_names(s) or {}) do
      if name == o.limit and select(2, limit_at(s, i)) == 1 then return s, i end
    end
    return nil
  end

  function did.slow(o)
    local s = named(o.scope)
    if not s then return { 0 } end
    return { force.slow(s, now, o.part, o.next_part, o.next_in, o.granted) and 1 or 0 }
  end

  -- The one way to forgive a debt, or to make one. Never above what the limit can hold.
  function did.level(o)
    local s, i = limit_of(o)
    if not s then return { 0, 0 } end
    local _, _, rate, factor, _, capacity, _, width, _, _, unit = limit_at(s, i)
    local before, parts = s.levels[3 * i], factor * unit / 1000000
    local level = math.max(math.min(capacity, floor(o.to * parts)), capacity - EXACT)
    s.levels[3 * i], s.changed = level, true
    -- Told now, or what permits from before that give back would come on top.
    if level > before then s.levels[3 * i + 2] = now end
    if rate == 0 and width > 0 then
      -- A rolling window's level is what its slots say: all of it counts as used now.
      local used = capacity - level
      earlier(s, i)
      s.levels[3 * i + 1], s.ring[i], s.ring_changed = used, {}, true
    end
    return { 1, floor(before / parts) }
  end

  function did.less(o)
    local s, i = limit_of(o)
    return { s and force.less(s, i, o.granted, now) and 1 or 0 }
  end

  -- A level above what the provider says is left is lowered to it, and what has refilled since. Never raised: `left` is late, rounded,
  -- and knows nothing of calls on their way.
  local function tighten(s, i, o)
    local _, _, rate, factor, tick, capacity, _, width = limit_at(s, i)
    local refilled_since = floor(o.age / tick) * rate
    local level = s.levels[3 * i]
    local most = (o.left + (o.step > 1 and o.step or 0)) * factor + refilled_since
    if most >= level then return 0 end
    s.levels[3 * i], s.changed = most, true
    -- A rolling window's level is what its slots say.
    if rate == 0 and width > 0 then s.levels[3 * i + 1] = s.levels[3 * i + 1] + level - most end
    return 1
  end

  -- For how long an older answer than the newest seen is one that comes late. After that whatever dated the newest (a proxy, a clock that
  -- was set back since) was wrong.
  local LATE = 300000000

  function did.left(o)
    local s, i = limit_of(o)
    if not s then return { 0, 0, 0 } end
    local field = 'r|' .. o.scope .. '|' .. o.limit
    local read, seen = pcall(cmsgpack.unpack, redis.call('HGET', learn_key, field) or '')
    seen = read and type(seen) == 'table' and seen or { -1, 0, 0, -1, -1, 0 }
    local at = now - o.age
    local older = (o.date >= 0 and o.date < seen[5]) or (o.date < 0 and at < seen[6])
    if older and now - seen[6] < LATE and now >= seen[6] then return { 0, 0, 0 } end
    local reset_at = o.reset >= 0 and at + o.reset or -1
    redis.call('HSET', learn_key, field, cmsgpack.pack({ o.left, o.num, o.den, reset_at, older and o.date or math.max(o.date, seen[5]), at }))
    local tightened = o.left >= 0 and tighten(s, i, o) or 0
    local drift, adopted = 0, 0
    if o.num > 0 and o.den > 0 then
      drift = o.num ~= o.den and 1 or 0
      adopted = force.stated(s, i, o.num, o.den) and 1 or 0
    end
    return { tightened, drift, adopted }
  end

  function did.learn(o) return learn.note(o, now) end

  local replies = {}
  for k, o in ipairs(observations) do replies[k] = did[o.what](o) end
  serve(held[1], now, nil)
  local next_due = first_due()
  line.save()
  save(nil, calm_until(next_due), due)
  announce()
  return { 'observed', now, held[1], replies }
end
return longer()
