#!lua flags=allow-oom
-- settle: ends one permit, once. Books what was used instead of the estimate and frees the slot.
--
-- KEYS  the eight keys of the project, in the order of README.md
-- ARGV  1 now      us since 1970; empty in production
--       2 id       of the permit
--       3 nonce    as acquire got it
--       4 how      settled, cancelled (nothing was sent: everything comes back), throttled (the provider said no),
--                  undone (nobody ever got the permit: everything comes back, and its id is free again) or refused
--                  (a waiter gives up at its deadline). cancelled and undone end a waiter as well. withdrawn: ends a waiter and
--                  nothing else, whichever host it waits at; that host is told. spent: it was given and
--                  has ended while Redis was out; what it used is charged, into debt if need be, once
--       5 memo     kept instead of acquire's and given back to repeats, at most 256 bytes; empty = keep acquire's.
--                  For refused: how long the waiter's place is kept, us. For undone: the host that undoes it; a permit that
--                  another host has heard of since is not undone. Empty = whoever has heard of it
--       6 stamp    for spent only: version:epoch of the policy its costs stand by. Of another epoch nothing is charged: levels
--                  started empty then
--       6 ...      (7 for spent) for each of its scopes: name, n, n numbers used, in acquire's order; none = the estimate stands
--
-- Reply ended, state, already, memo   state: settled, cancelled, throttled, undone, refused, withdrawn, expired or booked; already = 1: it
--                                     had ended before, and nothing changed, but for `booked`: its lease ran out, and
--                                     its usage is booked now, once
--       unknown                       no such permit, or forgotten
--       lost, what                    part of the project's state is missing: install the policy again
--
-- Writes levels, permits (kept 10 min), times, and where calls wait whoever's turn it is then. Never answers stale: a permit
-- settles against what it took.
local _, levels_key, permits_key, waiters_key, lines_key, times_key, hosts_key = unpack(KEYS)
local given_now, id, nonce, how, memo = unpack(ARGV, 1, 5)
local USED_FROM = how == 'spent' and 7 or 6
--#include lib/bucket
--#include lib/record
--#include lib/permit

local nothing_sent = how == 'cancelled' or how == 'undone' or how == 'withdrawn'
if how ~= 'settled' and how ~= 'throttled' and how ~= 'refused' and how ~= 'spent' and not nothing_sent then return redis.error_reply('BADARG how') end
local used, fields = { nil, nil, nil, nil, nil, nil, nil }, { '!', '!due', nil, nil, nil, nil }
local count, wrong, counts = read_costs(used, 0, fields, USED_FROM, #ARGV + 1)
if not count then return redis.error_reply('BADARG ' .. wrong) end
local told = used[1] == 'p'
if not told then fields = { '!', '!due', '=p', 'p' } end

-- 1. The permit, and what its scopes hold.
local permit = read_permit(redis.call('HGET', permits_key, id))
if not permit and redis.call('HEXISTS', permits_key, '!') == 0 then return { 'lost', 'permits' } end
local held = redis.call('HMGET', levels_key, unpack(fields))
local due = tonumber(held[2])
if not held[1] or not due then return { 'lost', 'levels' } end

-- 2. The uncontended path, in one pass and in memory until all of it is plain: nothing is due, so the record is what it
-- says; nobody waits; the policy is the one it was granted under; usage is told and not above its estimate; every gate's
-- slot is still the one the permit was granted in. Everything else takes the longer path, which starts from what is
-- stored.
local plain = told and not counts and permit and permit[STATE] == 'running' and permit[NONCE] == nonce
  and permit[STAMP] == held[1] and (how == 'settled' or how == 'throttled')
local now, at, used_at = nil, SCOPES, 1
for f = 3, plain and 2 * count + 1 or 0, 2 do
  local layout, record, name, n = held[f], held[f + 1], permit[at], permit[at + 1]
  if used[used_at] ~= name or used[used_at + 1] ~= n or not layout or not record
    or #layout < HEADER_BYTES + LIMIT_BYTES * n or #record ~= RECORD_HEAD_BYTES + LEVEL_BYTES * n then
    plain = false
    break
  end
  local doubles = n == 0 and '<dd' or string.sub(DOUBLES, 1, 3 + 3 * n)
  local levels, granted, head = { struct.unpack(doubles, record) }, permit[GRANTED], HEAD_FROM
  local last = levels[1]
  now = now or time_now(given_now, last)
  if not (due > now and now >= last) then
    plain = false
    break
  end
  at, used_at = at + 2, used_at + 2
  for k = 3, 3 * n, 3 do
    local _, rate, factor, tick, capacity, _, width = struct.unpack(LIMIT_HEAD, layout, head)
    local back, level = permit[at] - used[used_at], refilled(levels[k], capacity, rate, (now - now % tick - (last - last % tick)) / tick)
    if back < 0 or level ~= level then plain = false end
    if width > 0 then
      local into_slot = now % width
      if now - last > into_slot or now - granted > into_slot then plain = false end
      if rate == 0 and levels[k + 1] < back then plain = false end
      levels[k + 1] = levels[k + 1] - back
    end
    if level >= capacity then levels[k + 2] = now end
    if levels[k + 2] <= granted then level = refilled(level, capacity, factor, back) end
    levels[k], at, used_at, head = level, at + 1, used_at + 1, head + LIMIT_BYTES
  end
  levels[1], levels[2] = now, levels[2] - 1
  fields[f - 2], fields[f - 1] = name, struct.pack(doubles, unpack(levels))
end
if plain and not permit[at] then
  if memo ~= '' then permit[MEMO] = memo end
  local forgotten, last = remember(id, permit, how, now), 2 * count
  if forgotten < due then
    fields[last + 1], fields[last + 2], last = '!due', forgotten, last + 2
  end
  redis.call('HSET', levels_key, unpack(fields, 1, last))
  return { 'ended', how, 0, permit[MEMO] }
end

-- 3. The longer path. A function, because functions are cheaper to define in one (README.md).
local function longer()
--#include lib/hold
--#include lib/calendar
--#include lib/scope
--#include lib/window
--#include lib/force
--#include lib/order
--#include lib/line
--#include lib/expire
--#include lib/short
--#include lib/serve
  local project = read_scope('p', held[3], held[4])
  if not project then return { 'lost', 'levels' } end
  now = now or time_now(given_now, project.levels[1])
  advance(project, now)
  book.p = project
  if not line.load() then return { 'lost', 'waiters' } end
  if not redis.call('ZSCORE', times_key, '!') then return { 'lost', 'times' } end
  local shadow = redis.call('HGET', levels_key, '!mode') == 'shadow'

  -- Expire first, then read the record again: else a permit whose lease just ended would free its slot twice.
  expire(now)
  permit = read_permit(redis.call('HGET', permits_key, id))
  local waits = not permit and line.read(id, redis.call('HGET', waiters_key, id)) or nil

  -- Books what was used and moves its flow's place in the order.
  local function book_usage()
    local version = version_of(permit)
    local before = line.cost(permit, SCOPES, now, version)
    local after = told and line.cost(used, 1, now, version, permit, SCOPES) or nil
    if nothing_sent then
      correct_all(permit, nil, now)
      line.move_tags(permit, before, nil, now)
    else
      correct_all(permit, used, now, shadow)
      if told then line.move_tags(permit, before, after, now) end
    end
    if memo ~= '' then permit[MEMO] = memo end
  end

  -- A waiter gave up at its deadline: its arrival is kept for a while, so that asking again does not mean starting anew.
  local function keep_place(w)
    local keep = how == 'refused' and tonumber(memo) or 0
    local most = tonumber(redis.call('HGET', levels_key, '!most')) or 0
    if keep > 0 and keep < EXACT and line.places < most then
      line.places, line.changed = line.places + 1, true
      w.permit = { PLACE, w.permit[DIGEST], nonce, '', w.permit[HOST], '', now, 0, w.flow, 1, '-' }
      line.write(w)
      redis.call('ZADD', times_key, now + keep, id)
    end
  end

  local function end_waiter()
    if how ~= 'refused' and not nothing_sent then return { 'unknown' } end
    if waits.permit[STATE] ~= PLACE then
      line.forget(waits, now)
      keep_place(waits)
    elseif nothing_sent then
      line.forget(waits, now)
    end
    return { 'ended', how, 0, memo }
  end

  -- Its caller took back the wait, perhaps not where it waits: there it is asked for again, and hears of it.
  local WITHDRAWN_KNOWN = 10000000
  local function tell_withdrawn(it, host)
    redis.call('ZADD', times_key, now + WITHDRAWN_KNOWN, id)
    redis.call('HSET', permits_key, id, cmsgpack.pack('withdrawn', it[DIGEST], nonce, ''))
    granted_to[host] = granted_to[host] and granted_to[host] .. ' ' .. id or 'g ' .. id
  end

  -- It ran without Redis knowing of it.
  local function charge_spent()
    local unknown = { 'booked', '', nonce, memo, '', ARGV[6], now, 0, '', 1, '-', '' }
    for k, value in ipairs(used) do unknown[SCOPES - 1 + k] = value end
    charge_all(unknown, now)
    remember(id, unknown, 'booked', now)
    return { 'ended', 'booked', 0, memo }
  end

  local reply
  if how == 'spent' then
    reply = permit and { 'ended', 'booked', 1, permit[MEMO] } or charge_spent()
  elseif waits and waits.permit[NONCE] == nonce then
    reply = end_waiter()
    if how == 'withdrawn' then tell_withdrawn(waits.permit, waits.permit[HOST]) end
  elseif not permit or permit[NONCE] ~= nonce then
    if how ~= 'undone' and how ~= 'refused' and how ~= 'withdrawn' then redis.call('HINCRBY', levels_key, '#unknown', 1) end
    reply = { 'unknown' }
  elseif permit[STATE] == 'granted' and (nothing_sent or how == 'refused') then
    -- Granted from the line and never claimed: as if it had never been.
    local w = line.read(id, redis.call('HGET', waiters_key, id))
    undo(id, permit, now)
    if w then keep_place(w) end
    if how == 'withdrawn' then tell_withdrawn(permit, permit[HOST]) end
    reply = { 'ended', how, 0, permit[MEMO] }
  elseif how == 'undone' and (permit[STATE] == 'running' or permit[STATE] == 'expired') and (memo == '' or memo == permit[HOST]) then
    undo(id, permit, now)
    reply = { 'ended', how, 0, permit[MEMO] }
  elseif how == 'refused' or how == 'withdrawn' or (how == 'undone' and permit[STATE] == 'running') then
    reply = { 'unknown' }
  elseif permit[STATE] == 'running' or permit[STATE] == 'granted' then
    if permit[STATE] == 'granted' then claim(id, permit, now) end
    leave(permit, now)
    if how == 'settled' then served(permit, now) end
    book_usage()
    remember(id, permit, how, now)
    reply = { 'ended', how, 0, permit[MEMO] }
  elseif permit[STATE] == 'expired' and not nothing_sent then
    book_usage()
    remember(id, permit, 'booked', now)
    reply = { 'ended', 'booked', 1, permit[MEMO] }
  else
    reply = { 'ended', permit[STATE] == 'booked' and 'expired' or permit[STATE], 1, permit[MEMO] }
  end
  serve(held[1], now, nil)
  local next_due = first_due()
  line.save()
  save(nil, calm_until(next_due), due)
  announce()
  return reply
end
return longer()
