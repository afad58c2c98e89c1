#!lua
-- acquire: gives one call everything it needs, or nothing.
--
-- KEYS  the eight keys of the project, in the order of README.md
-- ARGV  1 now      us since 1970; empty in production (Redis's clock), set by tests
--       2 stamp    version:epoch of the policy the call was resolved against
--       3 id       the caller's request id
--       4 nonce    makes the permit's name unguessable where the caller chose the id; may be empty. A grant that nobody has
--                  claimed yet goes by the nonce of who asks last
--       5 digest   of caller and body: the same id with another digest is a conflict
--       6 host     the process that renews the lease
--       7 lease    us, 1,000,000 to 900,000,000
--       8 memo     kept and given back, at most 256 bytes
--       9 flow     team|priority: whom the line is fair between
--      10 weight   of the flow, 1 to 1,000,000
--      11 agent    or -
--      12 names    what an operator can hold it by beside agent and flow: `e:<team>`, `r:<run>`, a space between; may be empty
--      13 wait     us the call may wait; 0 = a try, it never stands in line
--      14 ...      for each of its 1 to 16 scopes, p first, then its class: name, number n of its limits, n costs
--                  (integers >= 0) by position
--
-- Reply granted, nonce, lease, now, memo, again   the permit runs; again = 1 if it ran already. In shadow mode four more: what
--                                                 it would have waited for: wait (-1 = for ever), exact, scope, limit
--       waiting, wait, exact, scope, limit, position, next
--                                                 it stands in line: expected us, its own exact wait, the place in its flow,
--                                                 us until anybody can start (-1 = not known; 1 = work
--                                                 was left)
--       wait, wait, exact, scope, limit, position us until it may fit; it stands nowhere: a try, or exact > ARGV 13.
--                                                 exact = the part that is no estimate; 0 if only slots or the line
--                                                 are in its way
--       hold, wait, scope, kind, retryable, note  its scope is on hold for us longer than ARGV 13 (-1 = until it is
--                                                 released): of what kind, 1 = the same request can succeed later
--       full, waiting, most, what                 no room: in the line, for the agent (half of it), or of a template
--       never, scope, limit, cost, ceiling        larger than the limit will ever allow
--       closed, scope, limit                      the limit is 0
--       conflict                                  the id is in use by another caller or with another body
--       ended, state                              the id's permit has ended and is still remembered; withdrawn = its caller
--                                                 took back the wait under this very nonce
--       stale, stamp                              the policy moved on: resolve again against this one
--       lost, what                                part of the project's state is missing: install the policy again
--
-- Writes levels, permits, times on granted, waiters and lines on waiting. A refusal changes no level.
local _, levels_key, permits_key, waiters_key, lines_key, times_key, hosts_key = unpack(KEYS)
local given_now, stamp, id, nonce, digest, host, lease, memo, flow, weight, agent, names, may_wait = unpack(ARGV, 1, 13)
lease, weight, may_wait = tonumber(lease), tonumber(weight), tonumber(may_wait)
local COSTS_FROM, FIRST_SCOPE = 14, 13
--#include lib/bucket
--#include lib/record

if not lease or not (lease >= 1000000 and lease <= 900000000) then return redis.error_reply('BADARG lease') end
if not weight or not (weight >= 1 and weight <= 1000000) or weight % 1 ~= 0 then return redis.error_reply('BADARG weight') end
if not names or #names > 300 then return redis.error_reply('BADARG names') end
if not may_wait or not (may_wait >= 0 and may_wait < EXACT) then return redis.error_reply('BADARG wait') end

-- 1. What the call asks for, in the form its record will have; what the project holds.
local permit = { 'running', digest, nonce, memo, host, stamp, 0, lease, flow, weight, agent, names, nil, nil, nil, nil, nil, nil, nil }
local fields = { '!', '!due', nil, nil, nil, nil }
local count, wrong, counts = read_costs(permit, FIRST_SCOPE - 1, fields, COSTS_FROM, #ARGV + 1)
if not count then return redis.error_reply('BADARG ' .. wrong) end
if permit[FIRST_SCOPE] ~= 'p' then return redis.error_reply('BADARG scopes') end
local held = redis.call('HMGET', levels_key, unpack(fields))
local records = redis.call('HMGET', permits_key, id, '!')
local due = tonumber(held[2])
if not held[1] or not due then return { 'lost', 'levels' } end
if not records[2] then return { 'lost', 'permits' } end
if held[1] ~= stamp then return { 'stale', held[1] } end

-- 2. The uncontended path, all in one pass and in memory until everything fits: nothing is due, nobody waits (or `due`
-- would be 0), the id is new, no limit is short, no call is larger than a bucket, no gate's slot has ended. A level that
-- is no number fits nowhere, because no comparison with it is true. Whatever does not fit takes the longer path, which
-- starts from what is stored.
local now, fits, at = nil, not records[1] and not counts, FIRST_SCOPE
for f = 3, 2 * count + 1, 2 do
  local layout, record, n = held[f], held[f + 1], permit[at + 1]
  if not fits or not layout or not record or #layout < HEADER_BYTES + LIMIT_BYTES * n
    or #record ~= RECORD_HEAD_BYTES + LEVEL_BYTES * n then
    fits = false
    break
  end
  local doubles = n == 0 and '<dd' or string.sub(DOUBLES, 1, 3 + 3 * n)
  local levels, slots, head = { struct.unpack(doubles, record) }, struct.unpack('<d', layout), HEAD_FROM
  local last, used = levels[1], levels[2]
  now = now or time_now(given_now, last)
  fits = due > now and now >= last and used >= 0 and (slots == -1 or used < slots)
  fields[f - 2], at = permit[at], at + 2
  for k = 3, 3 * n, 3 do
    local active, rate, factor, tick, capacity, ceiling, width = struct.unpack(LIMIT_HEAD, layout, head)
    local units, level = permit[at], refilled(levels[k], capacity, rate, (now - now % tick - (last - last % tick)) / tick)
    if level >= capacity then levels[k + 2] = now end
    level = level - units * factor
    if not (active == 0 or level >= 0 and units <= ceiling and capacity > 0) then fits = false end
    if width > 0 then
      if now - last > now % width then fits = false end
      levels[k + 1] = levels[k + 1] + units
    end
    levels[k], at, head = level, at + 1, head + LIMIT_BYTES
  end
  levels[1], levels[2] = now, used + 1
  fields[f - 1] = struct.pack(doubles, unpack(levels))
end
if fits then
  permit[7] = now
  -- The first write is the one that can still fail on a damaged key.
  redis.call('ZADD', times_key, now + lease, id)
  redis.call('HSET', permits_key, id, cmsgpack.pack(unpack(permit)))
  local last = 2 * count
  if now + lease < due then
    fields[last + 1], fields[last + 2], last = '!due', now + lease, last + 2
  end
  redis.call('HSET', levels_key, unpack(fields, 1, last))
  return { 'granted', nonce, lease, now, memo, 0 }
end

-- 3. The longer path. A function, because functions are cheaper to define in one (README.md).
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
  local scopes, places = {}, {}
  at, now = FIRST_SCOPE, nil
  for i = 1, count do
    local name, n = permit[at], permit[at + 1]
    local s = read_scope(name, held[1 + 2 * i], held[2 + 2 * i])
    if s then
      now = now or time_now(given_now, s.levels[1])
      advance(s, now)
    elseif i > 1 and held[1 + 2 * i] and not held[2 + 2 * i] and layout_field(name) ~= '=' .. name then
      s = fresh_scope(name, held[1 + 2 * i], now)
    else
      return { 'lost', name }
    end
    if s.n ~= n then return redis.error_reply('BADARG limits') end
    scopes[i], places[i], book[name] = s, at + 1, s
    at = at + 2 + n
  end
  for _, name in ipairs(line.held_names(permit)) do
    count = count + 1
    scopes[count], places[count] = scope_of(name, now), line.add_scope(permit, name, now)
  end
  local settings = redis.call('HMGET', levels_key, '!mode', '!most')
  local shadow, most = settings[1] == 'shadow', tonumber(settings[2]) or 0
  if not line.load() then return { 'lost', 'waiters' } end
  if not redis.call('ZSCORE', times_key, '!') then return { 'lost', 'times' } end

  if may_wait > 0 or line.waiting > 0 then
    -- The line is ordered as text, which needs its separator to itself.
    for _, text in ipairs({ id, host, agent }) do
      if text == '' or string.find(text, '|', 1, true) then return redis.error_reply('BADARG id, host or agent') end
    end
    if not string.find(flow, '^[^|]+|[^|]+$') then return redis.error_reply('BADARG flow') end
  end

  -- Why it can never start: a reply, or nil.
  local function refusal()
    for i = 1, count do
      local how, limit, cost, ceiling = impossible(scopes[i], permit, places[i])
      if how then return { how, scopes[i].name, limit, cost, ceiling } end
    end
    return nil
  end

  local me = line.waiter(id, 0, 0, nil, permit)

  local function grant()
    permit[GRANTED] = now
    redis.call('ZADD', times_key, now + lease, id)
    write_permit(id, permit)
    take_all(permit, now, shadow)
    return { 'granted', nonce, lease, now, memo, 0 }
  end

  -- In shadow mode everybody starts at once; the reply tells what they would have met.
  local function shadow_grant()
    local no, exact, scope, limit, full = refusal(), obstacle(me, now)
    local reply = grant()
    if no then
      reply[7], reply[8], reply[9], reply[10] = -1, 0, no[2], no[3]
    elseif exact then
      reply[7], reply[8], reply[9], reply[10] = math.max(exact, full and 1000 or 1), exact, scope, limit
    else
      return reply
    end
    redis.call('HINCRBY', levels_key, '#shadowed', 1)
    return reply
  end

  -- Whether a scope that would be made for this call is one too many.
  local function too_many()
    for i = 1, count do
      local template = string.sub(scopes[i].name, 1, 2)
      local bound = scopes[i].fresh and redis.call('HMGET', levels_key, '+' .. template, '^' .. template, '!scan')
      if bound and bound[2] and (tonumber(bound[1]) or 0) >= tonumber(bound[2]) then
        local page = redis.call('HSCAN', levels_key, bound[3] or 0, 'MATCH', template .. '?*', 'COUNT', 100)
        redis.call('HSET', levels_key, '!scan', page[1])
        local swept = false
        for k = 1, #page[2], 2 do
          local record = page[2][k + 1]
          local idle = #record >= RECORD_HEAD_BYTES and select(2, struct.unpack('<dd', record)) == 0
          if not swept and idle and not book[page[2][k]] then swept = sweep(page[2][k], now) end
        end
        if not swept then return { 'full', tonumber(bound[1]), tonumber(bound[2]), template } end
      end
    end
    return nil
  end

  -- Expire first, then read the record again: a permit whose lease ended a moment ago must not look alive.
  expire(now)
  local earlier_permit = read_permit(redis.call('HGET', permits_key, id))
  local waits = not earlier_permit and line.read(id, redis.call('HGET', waiters_key, id)) or nil
  local reply, served = nil, false
  if earlier_permit and earlier_permit[STATE] == 'withdrawn' and earlier_permit[NONCE] ~= nonce then
    -- That wait is over; this is another one.
    forget(id)
    earlier_permit = nil
  end

  -- The longest way: into the line, and then whoever's turn it is starts.
  local function stand_in_line()
    -- Its own scopes are there from now on, or a thousand waiters could make a thousand of them past their bound.
    for i = 1, may_wait > 0 and count or 0 do
      made(scopes[i], now)
    end
    local before = waits
    local arrival, place = before and before.arrival, before and before.place
    if before and before.permit[STATE] == PLACE then
      line.places, before, place = line.places - 1, nil, nil
    end
    if not arrival then
      line.seq = line.seq + 1
      arrival = line.seq
    end
    line.changed = true
    permit[GRANTED] = before and before.permit[GRANTED] or now
    local w = line.waiter(id, arrival, now + may_wait + GRACE, place, permit)
    if before and (before.class ~= w.class or before.flow ~= w.flow) then w.place = nil end
    line.alive(host, now)
    if before then
      -- Counted twice for a moment: the line must not look empty between.
      line.count_in(w)
      if w.place == before.place then before.place = nil end
      line.leave(before, now, w.line == before.line)
      line.stand(w, now)
    else
      line.enter(w, now)
    end
    if may_wait == 0 and not before then trying = id end
    serve(stamp, now, id)
    served = true
    local granted = read_permit(redis.call('HGET', permits_key, id))
    if granted then
      return { 'granted', granted[NONCE], granted[LEASE], now, granted[MEMO], 0 }
    end
    local exact, scope, limit, full = obstacle(me, now)
    if not exact then
      exact, scope, limit, full = 0, 'c:' .. w.class, 'line', book.p
    end
    local wait, position = line.outlook(w, exact, full)
    if may_wait == 0 and not before then
      line.forget(w, now)
      -- What it was short on was closed for all others; it waits for nothing.
      serve(stamp, now, nil)
      return { 'wait', wait, exact, scope, limit, position }
    end
    return { 'waiting', wait, exact, scope, limit, position, -1 }
  end

  local function new_call()
    local no = refusal() or too_many()
    if no then
      if waits then line.forget(waits, now) end
      return no
    end
    local exact, scope, limit, short_of_slots = obstacle(me, now)
    local pause = limit == 'hold' and exact > may_wait and hold.of(scope)
    if pause then
      if waits then line.forget(waits, now) end
      local told = hold.told(pause, now)
      return { 'hold', told[2], scope, told[3], told[4], told[5] }
    end
    if line.waiting == 0 and not exact then
      if waits then line.forget(waits, now) end
      return grant()
    end
    local nobody = line.waiting == 0
    if (exact and exact > may_wait and may_wait > 0) or (nobody and may_wait == 0) then
      if waits then line.forget(waits, now) end
      local wait = exact
      if short_of_slots then wait = math.max(exact, line.slot_in(lease, short_of_slots), 1000) end
      return { 'wait', wait, exact, scope, limit, 0 }
    end
    if not waits and may_wait > 0 then
      if line.waiting >= most then return { 'full', line.waiting, most, 'line' } end
      local mine = agent ~= '-' and tonumber(redis.call('HGET', waiters_key, '%' .. agent) or 0) or 0
      local half = math.max(1, floor(most / 2))
      if mine >= half then return { 'full', mine, half, 'agent' } end
    end
    return stand_in_line()
  end

  if earlier_permit then
    if earlier_permit[DIGEST] ~= digest then
      reply = { 'conflict' }
    elseif earlier_permit[STATE] == 'granted' then
      claim(id, earlier_permit, now)
      -- The host it was granted to may be gone, or have given up: what it still undoes must not be this.
      earlier_permit[NONCE], earlier_permit[HOST] = nonce, host
      write_permit(id, earlier_permit)
      reply = { 'granted', earlier_permit[NONCE], earlier_permit[LEASE], now, earlier_permit[MEMO], 1 }
    elseif earlier_permit[STATE] == 'running' then
      if earlier_permit[HOST] ~= host then
        earlier_permit[HOST] = host
        write_permit(id, earlier_permit)
      end
      reply = { 'granted', earlier_permit[NONCE], earlier_permit[LEASE], now, earlier_permit[MEMO], 1 }
    else
      reply = { 'ended', earlier_permit[STATE] }
    end
  elseif waits and waits.permit[DIGEST] ~= digest and waits.permit[STATE] ~= PLACE then
    reply = { 'conflict' }
  else
    if waits and waits.permit[DIGEST] ~= digest then
      line.forget(waits, now)
      waits = nil
    end
    if shadow then
      if waits then line.forget(waits, now) end
      reply = shadow_grant()
    else
      reply = new_call()
    end
  end
  if not served then serve(stamp, now, nil) end
  local next_due = first_due()
  if reply[1] == 'waiting' then reply[7] = more and 1 or until_next(next_due, now) end
  line.save()
  save(reply, calm_until(next_due), due)
  announce()
  return reply
end
return longer()
