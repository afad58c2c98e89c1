#!lua
-- acquire: gives one call everything it needs, or nothing.
--
-- KEYS  the eight keys of the project, in the order of README.md
-- ARGV  1 now      us since 1970; empty in production (Redis's clock), set by tests
--       2 stamp    version:epoch of the policy the call was resolved against
--       3 id       the caller's request id
--       4 nonce    makes the permit's name unguessable where the caller chose the id; may be empty
--       5 digest   of caller and body: the same id with another digest is a conflict
--       6 host     the process that renews the lease
--       7 lease    us, 1,000,000 to 900,000,000
--       8 memo     kept and given back, at most 256 bytes
--       9 ...      for each of its 1 to 8 scopes, p first: name, number n of its limits, n costs (integers >= 0) by
--                  position
--
-- Reply granted, nonce, lease, now, memo, again   the permit runs; again = 1 if it ran already
--       wait, wait, exact, scope, limit           us until it may fit; exact = the part that is no estimate: all of it
--                                                 unless slots are short too, 0 if only they are
--       never, scope, limit, cost, ceiling        larger than the limit will ever allow
--       closed, scope, limit                      the limit is 0
--       conflict                                  the id is in use by another caller or with another body
--       ended, state                              the id's permit has ended and is still remembered
--       stale, stamp                              the policy moved on: resolve again against this one
--       lost, what                                part of the project's state is missing: install the policy again
--
-- Writes on granted only: levels, permits (until 10 min after its end), times. A refusal changes no level.
local levels_key, permits_key, times_key = KEYS[2], KEYS[3], KEYS[6]
local given_now, stamp, id, nonce, digest = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local host, lease, memo = ARGV[6], tonumber(ARGV[7]), ARGV[8]
local COSTS_FROM = 9
--#include lib/bucket
--#include lib/record

if not lease or not (lease >= 1000000 and lease <= 900000000) then return redis.error_reply('BADARG lease') end

-- 1. What the call asks for, in the form its record will have; what the project holds.
local permit = { 'running', digest, nonce, memo, host, stamp, 0, lease, nil, nil, nil, nil, nil, nil, nil }
local fields = { '!', '!due', nil, nil, nil, nil }
local count, wrong = read_costs(permit, COSTS_FROM - 1, fields, COSTS_FROM)
if not count then return redis.error_reply('BADARG ' .. wrong) end
if permit[COSTS_FROM] ~= 'p' then return redis.error_reply('BADARG scopes') end
local held = redis.call('HMGET', levels_key, unpack(fields))
local known = redis.call('HGET', permits_key, id)
local due = tonumber(held[2])
if not held[1] or not due then return { 'lost', 'levels' } end
if redis.call('HEXISTS', permits_key, '!') == 0 then return { 'lost', 'permits' } end
if held[1] ~= stamp then return { 'stale', held[1] } end

-- 2. The uncontended path, all in one pass and in memory until everything fits: nothing is due, nobody waits (or `due`
-- would be 0), the id is new, no limit is short, no call is larger than a bucket, no gate's slot has ended. A level that
-- is no number fits nowhere, because no comparison with it is true. Whatever does not fit takes the longer path, which
-- starts from what is stored.
local now, fits, changed = nil, not known, { nil, nil, nil, nil, nil, nil }
local at = COSTS_FROM
for i = 1, count do
  local layout, record, n = held[1 + 2 * i], held[2 + 2 * i], permit[at + 1]
  if not fits or not layout or not record or #layout < HEADER_BYTES + LIMIT_BYTES * n
    or #record ~= RECORD_HEAD_BYTES + LEVEL_BYTES * n then
    fits = false
    break
  end
  local doubles = string.sub(DOUBLES, 1, 3 + 3 * n)
  local levels, slots = { struct.unpack(doubles, record) }, struct.unpack('<d', layout)
  now = now or time_now(given_now, levels[1])
  fits = due > now and now >= levels[1] and levels[2] >= 0 and (slots == -1 or levels[2] < slots)
  for k = 1, n do
    local _, active, rate, factor, tick, capacity, ceiling, width =
      struct.unpack(LIMIT_HEAD, layout, HEADER_BYTES + 1 + LIMIT_BYTES * (k - 1))
    local units = permit[at + 1 + k]
    local level = refilled(levels[3 * k], capacity, rate, floor(now / tick) - floor(levels[1] / tick))
    if level >= capacity then levels[3 * k + 2] = now end
    level = level - units * factor
    if not (active == 0 or level >= 0 and units <= ceiling and rate > 0) then fits = false end
    if width > 0 and now - levels[1] > now % width then fits = false end
    levels[3 * k] = level
    if width > 0 then levels[3 * k + 1] = levels[3 * k + 1] + units end
  end
  levels[1], levels[2] = now, levels[2] + 1
  changed[2 * i - 1], changed[2 * i] = permit[at], struct.pack(doubles, unpack(levels))
  at = at + 2 + n
end
if fits then
  permit[7] = now
  -- The first write is the one that can still fail on a damaged key.
  redis.call('ZADD', times_key, now + lease, id)
  redis.call('HSET', permits_key, id, cmsgpack.pack(unpack(permit)))
  if now + lease < due then
    changed[2 * count + 1], changed[2 * count + 2] = '!due', now + lease
  end
  redis.call('HSET', levels_key, unpack(changed))
  return { 'granted', nonce, lease, now, memo, 0 }
end

-- 3. The longer path.
--#include lib/scope
--#include lib/permit
--#include lib/expire
local scopes, places, book = {}, {}, {}
at, now = COSTS_FROM, nil
for i = 1, count do
  local name, n = permit[at], permit[at + 1]
  local s = read_scope(name, held[1 + 2 * i], held[2 + 2 * i])
  if not s then return { 'lost', name } end
  if s.n ~= n then return redis.error_reply('BADARG limits') end
  now = now or time_now(given_now, s.levels[1])
  advance(s, now)
  scopes[i], places[i], book[name] = s, at + 1, s
  at = at + 2 + n
end

-- Everything it needs is there: nil. Else the reply that says what is not.
local function refusal()
  local exact, scope, limit, full_scope = 0, nil, nil, nil
  for i = 1, count do
    local s = scopes[i]
    local short, name, detail, ceiling = shortage(s, now, permit, places[i])
    if short == 'closed' then return { 'closed', s.name, name } end
    if short == 'never' then return { 'never', s.name, name, detail, ceiling } end
    if short then
      if short > exact then exact, scope, limit = short, s.name, name end
      if detail then full_scope = full_scope or s.name end
    end
  end
  if full_scope then
    -- Slots have no exact time: the next instant at which anything is due here, a millisecond at least.
    local wait = math.max(exact, math.min(due - now, lease), 1000)
    return { 'wait', wait, exact, scope or full_scope, limit or 'concurrency' }
  end
  return scope and { 'wait', exact, exact, scope, limit }
end

-- Takes everything; the caller saves the levels.
local function grant()
  permit[7] = now
  redis.call('ZADD', times_key, now + lease, id)
  write_permit(id, permit)
  for i = 1, count do take(scopes[i], permit, places[i]) end
  return { 'granted', nonce, lease, now, memo, 0 }
end

-- Expire first, then read the record again: a permit whose lease ended a moment ago must not look alive. Mostly nothing
-- is due.
local freed, earlier_permit, next_due = false, read_permit(known), due
if due <= now then
  if not redis.call('ZSCORE', times_key, '!') then return { 'lost', 'times' } end
  freed = expire(book, now)
  earlier_permit = read_permit(redis.call('HGET', permits_key, id))
  next_due = first_due()
end
local reply
if not earlier_permit then
  reply = refusal()
  if not reply then
    reply = grant()
    next_due = math.min(next_due, now + lease)
  end
elseif earlier_permit[DIGEST] ~= digest then
  reply = { 'conflict' }
elseif earlier_permit[STATE] == 'running' then
  reply = { 'granted', earlier_permit[NONCE], earlier_permit[LEASE], now, earlier_permit[MEMO], 1 }
else
  reply = { 'ended', earlier_permit[STATE] }
end
save(book, reply, next_due, due)
if freed then announce('free') end
return reply
