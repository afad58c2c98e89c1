#!lua flags=allow-oom
-- beat: one host's sign of life. Renews its leases, claims what was granted to it from the line, tells it how its waiters
-- stand, expires what is due and lets start whoever's turn it is.
--
-- KEYS  the eight keys of the project, in the order of README.md
-- ARGV  1 now      us since 1970; empty in production
--       2 host     who beats
--       3 permits, 4 claims, 5 looks, 6 asserts   how many follow: 0 to 500, 0 to 64, 0 to 64, 0 to 64
--       then for each permit to renew its id and its nonce, for each grant to claim its id, for each waiter to look after its id,
--       and for each permit that runs and that Redis does not know: id, nonce, digest, memo, stamp, lease (us), flow,
--       weight, agent, and how many values follow: scopes and costs as acquire has them
--
-- Reply beat, stamp, now, hosts, more, next, [renewed], [claim], [kind, id, ...], [look], [hold], [asserted]
--           stamp = version:epoch of the policy in force; hosts = hosts that beat in the last 60 s; more = 1: work is left, beat
--           again at once; next = us until anybody can start or anything is due, -1 = not known
--           renewed  1; 0 = lost: its slot belongs to others now; 2 = nothing is known of it: assert it, if its lease still runs
--           asserted 1 = it holds its slots again; 0 = its id is known: it ended, or its lease ran out
--           claim    {granted, nonce, lease, now, memo} it runs; {waiting} not granted, or no longer: its place is kept; {gone}
--           kind     news, 64 at most: g = granted, claim it; s = the policy moved on, submit it again
--           look     {waiting, wait, exact, scope, limit, position}; {granted} claim it; {again} submit it again; {gone}
--           hold     {scope, us until it lets calls in (-1 = once released, 0 = it does again), kind, retryable, note}
--       lost, what   part of the project's state is missing: install the policy again
--
-- Writes times (leases), hosts, and what claiming, expiring and serving write. A lease that ran out is not brought back.
local levels_key, permits_key, waiters_key, lines_key, times_key, hosts_key = KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local given_now, host = ARGV[1], ARGV[2]
local permits, claims, looks, asserts = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local LISTS_FROM = 7
local HOST_COUNTS, HOST_GONE = 60000000, 900000000
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

  local function counted(number, most) return number and number >= 0 and number <= most and number % 1 == 0 end
  if not counted(permits, 500) then return redis.error_reply('BADARG permits') end
  if not counted(claims, 64) then return redis.error_reply('BADARG claims') end
  if not counted(looks, 64) then return redis.error_reply('BADARG looks') end
  if not counted(asserts, 64) then return redis.error_reply('BADARG asserts') end

  -- The permits to assert, in the form of their records.
  local function read_asserts(at)
    local list = {}
    for k = 1, asserts do
      local lease, weight, values = tonumber(ARGV[at + 5]), tonumber(ARGV[at + 7]), tonumber(ARGV[at + 9])
      if not lease or not (lease >= 1000000 and lease <= 900000000) or not weight or not (weight >= 1)
        or not values or not (values >= 0 and values % 1 == 0) then return nil end
      local permit = {
        'running', ARGV[at + 2], ARGV[at + 1], ARGV[at + 3], host, ARGV[at + 4], 0, lease, ARGV[at + 6], weight, ARGV[at + 8], '',
      }
      if not read_costs(permit, SCOPES - 1, {}, at + 10, at + 10 + values) or permit[SCOPES] ~= 'p' then return nil end
      list[k] = { id = ARGV[at], permit = permit }
      at = at + 10 + values
    end
    return #ARGV == at - 1 and list
  end
  local to_assert = read_asserts(LISTS_FROM + 2 * permits + claims + looks)
  if not to_assert then return redis.error_reply('BADARG permits') end

  local held = redis.call('HMGET', levels_key, '!', '!due', '=p', 'p')
  local project = read_scope('p', held[3], held[4])
  local due = tonumber(held[2])
  if not held[1] or not due or not project then return { 'lost', 'levels' } end
  if not redis.call('HGET', permits_key, '!') then return { 'lost', 'permits' } end
  if not redis.call('ZSCORE', times_key, '!') then return { 'lost', 'times' } end
  if not redis.call('ZSCORE', hosts_key, '!') then return { 'lost', 'hosts' } end
  if not line.load() then return { 'lost', 'waiters' } end
  local now = time_now(given_now, project.levels[1])
  advance(project, now)
  book.p = project

  expire(now)
  -- After that: it may just have been found silent.
  more = line.alive(host, now)
  redis.call('ZREMRANGEBYSCORE', hosts_key, '-inf', now - HOST_GONE)

  local renewed, claimed, looked, asserted = {}, {}, {}, {}
  local at = LISTS_FROM - 1
  for k = 1, permits do
    local id, nonce = ARGV[at + 1], ARGV[at + 2]
    local permit = read_permit(redis.call('HGET', permits_key, id))
    renewed[k] = permit and 0 or 2
    if permit and permit[STATE] == 'running' and permit[NONCE] == nonce then
      redis.call('ZADD', times_key, now + permit[LEASE], id)
      touch_agents(permit, now)
      renewed[k] = 1
    end
    at = at + 2
  end
  for k, one in ipairs(to_assert) do
    local known = redis.call('HEXISTS', permits_key, one.id) == 1 or redis.call('HEXISTS', waiters_key, one.id) == 1
    if not known then assert_again(one.id, one.permit, now) end
    asserted[k] = known and 0 or 1
  end
  for k = 1, claims do
    local id = ARGV[at + k]
    local permit = read_permit(redis.call('HGET', permits_key, id))
    if permit and permit[STATE] == 'granted' then
      claim(id, permit, now)
    elseif permit and permit[STATE] == 'running' and permit[HOST] ~= host then
      -- Wanted here as well: only the last host that heard of it may undo it.
      permit[HOST] = host
      write_permit(id, permit)
    end
    if permit and permit[STATE] == 'running' then
      claimed[k] = { 'granted', permit[NONCE], permit[LEASE], now, permit[MEMO] }
    else
      local w = not permit and line.read(id, redis.call('HGET', waiters_key, id))
      claimed[k] = { w and w.permit[STATE] ~= PLACE and 'waiting' or 'gone' }
    end
  end
  at = at + claims
  serve(held[1], now, nil)

  for k = 1, looks do
    local id = ARGV[at + k]
    local w = line.read(id, redis.call('HGET', waiters_key, id))
    if not w or w.permit[STATE] == PLACE then
      looked[k] = { 'gone' }
    elseif w.permit[STATE] == AGAIN then
      looked[k] = { 'again' }
    elseif redis.call('HEXISTS', permits_key, id) == 1 then
      looked[k] = { 'granted' }
    else
      local exact, scope, limit, full = obstacle(w, now)
      if not exact then
        exact, scope, limit, full = 0, 'c:' .. w.class, 'line', project
      end
      local wait, position = line.outlook(w, exact, full)
      looked[k] = { 'waiting', wait, exact, scope, limit, position }
    end
  end

  local news = {}
  for _, entry in ipairs(redis.call('ZRANGEBYLEX', lines_key, '[i|' .. host .. '|', '(i|' .. host .. '}', 'LIMIT', 0, 64)) do
    local kind, id = string.match(entry, '|(%a)|([^|]*)$')
    news[#news + 1] = kind
    news[#news + 1] = id
  end
  local pauses = {}
  for k, h in ipairs(hold.each()) do pauses[k] = hold.told(h, now) end
  -- Its own it is told here.
  granted_to[host] = nil
  local next_due = first_due()
  if next_due <= now then more = true end
  line.save()
  save(nil, calm_until(next_due), due)
  announce()
  return {
    'beat', held[1], now, redis.call('ZCOUNT', hosts_key, now - HOST_COUNTS, '+inf') - 1, more and 1 or 0, until_next(next_due, now), renewed, claimed, news, looked, pauses, asserted,
  }
end
return longer()
