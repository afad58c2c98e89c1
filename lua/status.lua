#!lua flags=no-writes
-- status: how a project stands, for pages that are read every second: so each part of it is bounded. Changes nothing.
--
-- KEYS  the eight keys of the project, in the order of README.md
-- ARGV  1 now     us since 1970; empty in production
--       2 what    scopes, waiters or running
--       then      scopes: their names, 1 to 1,000. waiters: a cursor, 0 to start. running: how many instants to pass over, 0 to start
--
-- Reply scopes, stamp, now, mode, waiting, hosts, due, [scope, ...]   hosts = that beat in the last 60 s. due = instants that are over
--                     and that no script has attended to: what is told is as it was before them. Each scope that is there:
--                     [name, slots, used, [limit, ...]], a limit in force: [name, level, capacity, unit, reset], the first two in
--                     1/unit of its amount, rounded down; reset = us until it is full if nothing more is taken, -1 = never
--       waiters, cursor, [waiter, ...]   about 200; cursor 0 = the last. A waiter: [id, host, class, flow, agent, since, wait, exact,
--                     scope, limit, position, arrival]: what `beat` tells of a look, and its number among all that arrived
--       running, next, [permit, ...]   those among the next 1,000 instants to come that hold a slot: [agent, flow, class, granted];
--                     next 0 = there are no more
--       lost, what
local policy_key, levels_key, permits_key, waiters_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local lines_key, times_key, hosts_key = KEYS[5], KEYS[6], KEYS[7]
local given_now, what, from = ARGV[1], ARGV[2], ARGV[3]
local PAGE, INSTANTS, HOST_COUNTS = 200, 1000, 60000000
--#include lib/bucket
--#include lib/record
--#include lib/hold
--#include lib/calendar
--#include lib/scope
--#include lib/window
--#include lib/permit
--#include lib/order
--#include lib/line
--#include lib/expire
--#include lib/short

if not redis.call('HGET', policy_key, 'version') then return { 'lost', 'policy' } end
local held = redis.call('HMGET', levels_key, '!', '!mode', '=p', 'p')
local project = read_scope('p', held[3], held[4])
if not held[1] or not project then return { 'lost', 'levels' } end
if not line.load() then return { 'lost', 'waiters' } end
local now = time_now(given_now, project.levels[1])
advance(project, now)
book.p = project

-- When a limit is full again if nothing more is taken.
local function reset_of(s, i)
  local _, _, rate, _, tick, capacity, _, width, _, _, _, number = limit_at(s, i)
  local missing = capacity - s.levels[3 * i]
  if missing <= 0 then return 0 end
  if rate == 0 and (number > 0 or width > 0) then return math.max(1, window.wait(s, i, now, missing)) end
  if rate == 0 then return -1 end
  return math.max(1, (floor(now / tick) + ceil(missing / rate)) * tick - now)
end

if what == 'scopes' then
  local scopes = {}
  for k = 3, math.min(#ARGV, 1002) do
    local s = scope_of(ARGV[k], now)
    if s then
      local limits, names = {}, limit_names(s)
      for i = 1, s.n do
        local _, active, _, factor, _, capacity, _, _, _, _, unit = limit_at(s, i)
        if active == 1 then
          limits[#limits + 1] = { names[i], floor(s.levels[3 * i] / factor), floor(capacity / factor), unit, reset_of(s, i) }
        end
      end
      scopes[#scopes + 1] = { s.name, s.slots, s.levels[2], limits }
    end
  end
  local hosts = redis.call('ZCOUNT', hosts_key, now - HOST_COUNTS, '(inf')
  local due = redis.call('ZCOUNT', times_key, '-inf', now)
  return { 'scopes', held[1], now, held[2] or 'enforce', line.waiting, hosts, due, scopes }
end

if what == 'waiters' then
  local page, list = redis.call('HSCAN', waiters_key, from, 'COUNT', PAGE), {}
  for k = 1, #page[2], 2 do
    local w = string.find(page[2][k], '^[^!|%%]') and line.read(page[2][k], page[2][k + 1])
    local waits = w and w.permit[STATE] ~= PLACE and redis.call('HEXISTS', permits_key, w.id) == 0
    if waits then
      local exact, scope, limit, full = obstacle(w, now)
      if not exact then
        exact, scope, limit, full = 0, 'c:' .. w.class, 'line', project
      end
      local wait, position = line.outlook(w, exact, full)
      list[#list + 1] = {
        w.id, w.permit[HOST], w.class, w.flow, w.permit[AGENT], w.permit[GRANTED], wait, exact, scope, limit, position, w.arrival,
      }
    end
  end
  return { 'waiters', page[1], list }
end

if what == 'running' then
  local ids, list = {}, {}
  local due = redis.call('ZRANGEBYSCORE', times_key, string.format('(%.0f', now), '(inf', 'LIMIT', from, INSTANTS)
  for _, member in ipairs(due) do
    if not string.find(member, '^[%%*#&>^$]') then ids[#ids + 1] = member end
  end
  for k = 1, #ids, 100 do
    for _, raw in ipairs(redis.call('HMGET', permits_key, unpack(ids, k, math.min(k + 99, #ids)))) do
      local permit = read_permit(raw or nil)
      if permit and (permit[STATE] == 'running' or permit[STATE] == 'granted') then
        list[#list + 1] = { permit[AGENT], permit[FLOW], line.class_of(permit), permit[GRANTED] }
      end
    end
  end
  return { 'running', #due == INSTANTS and tonumber(from) + INSTANTS or 0, list }
end
return redis.error_reply('BADARG what')
