-- A hold: a pause of a scope for the whole fleet, because the provider said so or an operator did.
--
-- It is one more in-flight limit of its scope: closed until its end, then one call, then twice as many after each success,
-- and gone once that is the scope's size. Whoever waits keeps the place. A rejection of a call that was granted before the hold
-- came belongs to the same event: it can make the hold longer, no more. One of a call let in since is a new one: closed again,
-- and the wait doubles where the provider states none.
--
-- Where calls in flight were too many and no wait is stated, time does not help, fewer calls do: it is open from the start, to as
-- many as run besides the rejected ones. A later rejection takes one off, or what is missing already, a quarter at most. One more
-- is tried after as many successes, twice as many after each try that failed, up to 64 times: so few are refused for trying, and
-- fewer each time. Where not even one may run it closes as others do.
--
-- Example: 20 run where the provider takes 8. It refuses 12, and 8 may run. Eight successes later a ninth is tried, and refused;
-- the next is tried after 16.
--
-- In {project}:levels `!holds` names the held scopes, a space between, and `><scope>` is a hold, MessagePack:
--     [until, opened, most, used, counts, step, good, size, kind, retryable, failures, note, since]
-- until = its end in us, EXACT = until somebody releases it; opened = when it began to let calls in again, 0 = closed; most =
-- calls that may be in flight now, used = how many are of those granted at `counts` or later; step = since when, good =
-- successes since; size = at which it is over; since = when it last closed. In {project}:times `><scope>` is its next instant: its
-- end, or when nothing more is to be learned from it.
local hold = { names = nil, by_scope = {}, changed = false }
local HOLDS_AT_MOST, LEAST_SIZE, LONGEST_TRIAL = 64, 16, 6
local SHORTEST_HOLD, LONGEST_BACKOFF, REOPENED = 1000000, 60000000, 600000000
local HOLD_PARTS = { 'till', 'opened', 'most', 'used', 'counts', 'step', 'good', 'size', 'kind', 'retryable', 'failures', 'note', 'since' }

-- The names of the held scopes.
function hold.all()
  if not hold.names then
    hold.names = {}
    for name in string.gmatch(redis.call('HGET', levels_key, '!holds') or '', '%S+') do
      hold.names[#hold.names + 1] = name
      hold.by_scope[name] = false
    end
  end
  return hold.names
end

-- Held no longer, in memory.
function hold.drop(name)
  for i, one in ipairs(hold.names) do
    if one == name then table.remove(hold.names, i) end
  end
  hold.by_scope[name], hold.changed = nil, true
end

-- The hold of a scope, or nil. Without its record it is none: nothing would ever end it.
function hold.of(name)
  hold.all()
  local h = hold.by_scope[name]
  if h == false then
    local read, parts = pcall(cmsgpack.unpack, redis.call('HGET', levels_key, '>' .. name) or '')
    if not read or type(parts) ~= 'table' or #parts ~= #HOLD_PARTS then return hold.drop(name) end
    h = { name = name, changed = false }
    for i, part in ipairs(HOLD_PARTS) do h[part] = parts[i] end
    hold.by_scope[name] = h
  end
  return h
end

-- All holds.
function hold.each()
  local list = {}
  for _, name in ipairs({ unpack(hold.all()) }) do list[#list + 1] = hold.of(name) end
  return list
end

local function rescheduled(h, at)
  h.changed, hold.changed = true, true
  if at < EXACT then
    redis.call('ZADD', times_key, at, '>' .. h.name)
  else
    redis.call('ZREM', times_key, '>' .. h.name)
  end
end

function hold.remove(h)
  hold.drop(h.name)
  h.gone = true
  redis.call('ZREM', times_key, '>' .. h.name)
  redis.call('HDEL', levels_key, '>' .. h.name)
end

-- Calls are let in again, a few at first.
function hold.open(h, s, now)
  h.opened, h.counts, h.step, h.good, h.used = now, now, now, 0, 0
  if h.kind == 'concurrency' then
    -- What counts is how many calls run, whenever they started.
    h.counts, h.used = 0, s.levels[2]
  else
    h.most = 1
  end
  rescheduled(h, now + REOPENED)
end

-- A scope's hold, as new: nil where there are too many.
local function begun(s, now)
  if #hold.all() >= HOLDS_AT_MOST then return nil end
  local h = { name = s.name, till = 0, opened = 0, most = 1, used = 0, counts = 0, step = 0, good = 0, failures = -1, since = now }
  h.size = s.slots >= 0 and s.slots or math.max(LEAST_SIZE, s.levels[2])
  hold.names[#hold.names + 1] = s.name
  hold.by_scope[s.name] = h
  return h
end

-- Too many in flight, for nobody knows how long: fewer may be from now on. False where that is not possible.
local function narrow(h, s, now, retryable, granted, note)
  local besides = s.levels[2] - 1
  if h.failures < 0 then
    if besides < 1 then return false end
    h.till, h.kind, h.retryable, h.note, h.failures = now, 'concurrency', retryable, note, 0
    hold.open(h, s, now)
    h.most = besides
  elseif h.kind ~= 'concurrency' or h.opened == 0 then
    return false
  elseif granted >= h.step then
    if h.most <= 1 then return false end
    h.most = math.max(math.min(h.most - 1, besides), floor(3 * h.most / 4))
    h.step, h.good, h.failures = now, 0, math.min(h.failures + 1, 16)
  elseif h.failures == 0 then
    -- Of the first event: each rejection tells more of how many run besides.
    h.most = math.max(1, math.min(h.most, besides))
  end
  rescheduled(h, now + REOPENED)
  return true
end

-- Puts a scope on hold, or makes its hold longer. `wait` us: -1 until released, -2 or 0 not stated; at most `clamp` us (-1 = any).
-- `granted`: when the rejected call was granted; 0 = an operator's hold. Nil: too many holds.
function hold.place(s, now, wait, clamp, kind, retryable, granted, note)
  local h, running = hold.of(s.name), s.levels[2]
  local anew = not h or h.opened > 0 and granted >= h.opened
  h = h or begun(s, now)
  if not h then return nil end
  if kind == 'concurrency' and wait == -2 and narrow(h, s, now, retryable, granted, note) then return h end
  if anew then h.failures = math.min(h.failures + 1, 16) end
  if wait == -1 then
    wait = clamp >= 0 and clamp or EXACT
  elseif wait <= 0 then
    -- Of the same event: what is there is enough.
    wait = anew and math.min(SHORTEST_HOLD * 2 ^ h.failures, LONGEST_BACKOFF) or 0
  elseif clamp >= 0 then
    wait = math.min(wait, clamp)
  end
  local till = math.min(now + wait, EXACT)
  if till > h.till or anew then
    if kind == 'concurrency' then h.most = math.max(1, floor(3 * math.max(running, 1) / 4)) end
    h.kind, h.retryable, h.note = kind, retryable, note
  end
  if till > now and (anew or till > h.till) then
    h.till, h.opened, h.since = math.max(h.till, till), 0, now
    rescheduled(h, h.till)
  end
  return h
end

-- Its instant has come: it opens, or nothing more is to be learned from it.
function hold.due(h, s, now)
  if h.opened > 0 or not s then
    hold.remove(h)
  elseif now >= h.till then
    hold.open(h, s, now)
  else
    rescheduled(h, h.till)
  end
end

-- The clock was set back: no hold lasts the longer for that, and what started since it opened counts as before.
function hold.set_back(now)
  for _, h in ipairs(hold.each()) do
    local ahead = math.max(h.since, h.step) - now
    if ahead > 0 then
      h.since = math.min(h.since, now)
      if h.till < EXACT then h.till = h.till - ahead end
      if h.opened > 0 then
        h.opened, h.step, h.counts = h.opened - ahead, h.step - ahead, math.max(0, h.counts - ahead)
      end
      rescheduled(h, h.opened > 0 and h.opened + REOPENED or h.till)
    end
  end
end

-- An operator's hold is over when its operator says so; the provider's opens as at its end.
function hold.release(h, s, now)
  if h.kind == 'operator' or not s then
    hold.remove(h)
  elseif h.opened == 0 then
    h.till = now
    hold.open(h, s, now)
  end
end

-- A call of the scope starts.
function hold.took(name)
  local h = hold.of(name)
  if h and h.opened > 0 then h.used, h.changed, hold.changed = h.used + 1, true, true end
end

-- A call that ran since `granted` no longer does.
function hold.left(name, granted)
  local h = hold.of(name)
  if h and h.opened > 0 and granted >= h.counts then
    h.used, h.changed, hold.changed = math.max(0, h.used - 1), true, true
  end
end

-- The provider served a call that was granted then. Whether more may start now.
function hold.served(name, granted, now)
  local h = hold.of(name)
  if not h or h.opened == 0 or granted < math.max(h.opened, h.step) then return false end
  h.good, h.changed, hold.changed = h.good + 1, true, true
  if h.kind ~= 'concurrency' then
    h.most, h.step, h.good = 2 * h.most, now, 0
  elseif h.good >= h.most * 2 ^ math.max(0, math.min(h.failures, LONGEST_TRIAL)) then
    h.most, h.good = h.most + 1, 0
  end
  if h.most >= h.size then hold.remove(h) end
  return true
end

-- How long a scope lets nobody in: us (0 = it is opening again and has no place free), or nil.
function hold.wait(name, now)
  local h = hold.of(name)
  if not h then return nil end
  if h.opened == 0 then return math.max(h.till - now, 1) end
  return h.used >= h.most and 0 or nil
end

-- How it stands, for replies.
function hold.told(h, now)
  local left = h.opened > 0 and 0 or h.till >= EXACT and -1 or math.max(h.till - now, 1)
  return { h.name, left, h.kind, h.retryable, h.note }
end

-- What changed, as fields of {project}:levels, added to `fields`.
function hold.save(fields)
  if not hold.changed then return end
  for _, name in ipairs(hold.names) do
    local h = hold.by_scope[name]
    if h and h.changed then
      local parts = {}
      for i, part in ipairs(HOLD_PARTS) do parts[i] = h[part] end
      fields[#fields + 1] = '>' .. name
      fields[#fields + 1] = cmsgpack.pack(parts)
    end
  end
  fields[#fields + 1] = '!holds'
  fields[#fields + 1] = table.concat(hold.names, ' ')
end
