#!lua flags=allow-oom
-- settle: ends one permit, once. Books what was used instead of the estimate and frees the slot.
--
-- KEYS  the eight keys of the project, in the order of README.md
-- ARGV  1 now      us since 1970; empty in production
--       2 id       of the permit
--       3 nonce    as acquire got it
--       4 how      settled, cancelled (nothing was sent: everything comes back) or throttled (the provider said no)
--       5 memo     kept instead of acquire's and given back to repeats, at most 256 bytes; empty = keep acquire's
--       6 ...      for each of its scopes: name, n, n numbers used, in acquire's order; none = the estimate stands
--
-- Reply ended, state, already, memo   state: settled, cancelled, throttled, expired or booked; already = 1: it had
--                                     ended before, and nothing changed, but for `booked`: its lease ran out, and its
--                                     usage is booked now, once
--       unknown                       no such permit, or forgotten
--       lost, what                    part of the project's state is missing: install the policy again
--
-- Writes levels, permits (kept 10 min), times. Never answers stale: a permit settles against what it took.
local levels_key, permits_key, times_key = KEYS[2], KEYS[3], KEYS[6]
local given_now, id, nonce, how, memo = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local USED_FROM = 6
--#include lib/bucket
--#include lib/scope
--#include lib/permit

if how ~= 'settled' and how ~= 'cancelled' and how ~= 'throttled' then return redis.error_reply('BADARG how') end
local used = {}
local count, wrong = read_costs(used, USED_FROM)
if not count then return redis.error_reply('BADARG ' .. wrong) end

-- What the permit took is replaced by what it used, in each of its scopes.
local function correct_all(permit, scope_by_name)
  local at, used_at = SCOPES, 1
  while permit[at] do
    local n = permit[at + 1]
    local s = scope_by_name(permit[at])
    if s then
      if how == 'cancelled' then
        local nothing = {}
        for i = 1, n do nothing[i] = 0 end
        correct(s, permit[VERSION], permit[GRANTED], permit, at + 1, n, nothing, 0)
      elseif used[used_at] == permit[at] and used[used_at + 1] == n then
        correct(s, permit[VERSION], permit[GRANTED], permit, at + 1, n, used, used_at + 1)
      end
      if s.bounded then redis.call('HINCRBY', levels_key, '#usage_bounded', 1) end
      if s.cut then redis.call('HINCRBY', levels_key, '#debt_cut', 1) end
    end
    if used[used_at] then used_at = used_at + 2 + used[used_at + 1] end
    at = at + 2 + n
  end
  if memo ~= '' then permit[MEMO] = memo end
end

-- 1. The uncontended path: nothing is due, so the record is what it says.
local known = redis.call('HMGET', permits_key, id, '!')
if not known[2] then return { 'lost', 'permits' } end
local permit = read_permit(known[1])
local fields, names, at = { '!', '!due', '=p', 'p' }, {}, SCOPES
while permit and permit[at] do
  names[#names + 1] = permit[at]
  fields[1 + 2 * #names], fields[2 + 2 * #names] = '=' .. permit[at], permit[at]
  at = at + 2 + permit[at + 1]
end
local held = redis.call('HMGET', levels_key, unpack(fields))
local project = read_scope('p', held[3], held[4])
local due = tonumber(held[2])
if not held[1] or not due or not project then return { 'lost', 'levels' } end
local now = time_now(given_now, project.levels[1])
advance(project, now)
local book = { p = project }

if due > now and permit and permit[STATE] == 'running' and permit[NONCE] == nonce then
  local freed = false
  for i, name in ipairs(names) do
    local s = project
    if i > 1 then
      s = read_scope(name, held[1 + 2 * i], held[2 + 2 * i])
      if s then advance(s, now) end
      book[name] = s
    end
    if s then
      freed = freed or s.levels[2] == s.slots
      s.levels[2] = s.levels[2] - 1
      s.changed = true
    end
  end
  correct_all(permit, function(name) return book[name] end)
  remember(id, permit, how, now)
  save(book, nil, due, due)
  if freed then announce('free') end
  return { 'ended', how, 0, permit[MEMO] }
end

-- 2. Expire first, then read the record: else a permit whose lease just ended would free its slot twice.
--#include lib/expire
if not redis.call('ZSCORE', times_key, '!') then return { 'lost', 'times' } end
local freed = expire(book, now)
local function any_scope(name) return scope_of(book, name, now) end
permit = read_permit(redis.call('HGET', permits_key, id))
local reply
if not permit or permit[NONCE] ~= nonce then
  redis.call('HINCRBY', levels_key, '#unknown', 1)
  reply = { 'unknown' }
elseif permit[STATE] == 'running' then
  freed = leave(book, permit, now) or freed
  correct_all(permit, any_scope)
  remember(id, permit, how, now)
  reply = { 'ended', how, 0, permit[MEMO] }
elseif permit[STATE] == 'expired' and how ~= 'cancelled' then
  correct_all(permit, any_scope)
  remember(id, permit, 'booked', now)
  reply = { 'ended', 'booked', 1, permit[MEMO] }
else
  reply = { 'ended', permit[STATE] == 'booked' and 'expired' or permit[STATE], 1, permit[MEMO] }
end
save(book, nil, first_due(), due)
if freed then announce('free') end
return reply
