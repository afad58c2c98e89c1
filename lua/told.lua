#!lua flags=no-writes
-- told: what all hosts together told of what they did (tally.lua). Changes nothing.
--
-- KEYS  {project}:levels, {project}:counters, {project}:events and, of usage, the key of an hour or a day
-- ARGV  1 what    counters, usage or events
--       then      counters: classes whose expired leases are asked for, up to 1,000. usage: the kind (t, a, m, r, k as in tally.lua).
--                 events: the id after which (empty = from the oldest, $ = the newest alone), and how many at most, 1 to 1,000
--
-- Reply counters, now, [field, count, ...], [rare event, count, ...], [leases of each class that ran out, ...]
--       usage, now, [row, ...]    a row: [name, last added to, team, eight numbers as in tally.lua, us active]
--       events, now, [event, ...]  an event: [id, type, data]
--       lost, what
local levels_key, counters_key, events_key, usage_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local what, asked, most = ARGV[1], ARGV[2], ARGV[3]
local RARE = {
  'clock_steps', 'usage_bounded', 'debt_cut', 'forgotten_early', 'orphans', 'unknown', 'dropped', 'shadowed', 'expired',
}
if redis.call('HEXISTS', levels_key, '!') == 0 then return { 'lost', 'levels' } end
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]

if what == 'counters' then
  local kept, list, rare, expired = redis.call('HGETALL', counters_key), {}, {}, {}
  for k = 1, #kept, 2 do
    if string.find(kept[k], '^%l|') then
      list[#list + 1] = kept[k]
      list[#list + 1] = tonumber(kept[k + 1])
    end
  end
  for k, name in ipairs(RARE) do
    rare[2 * k - 1], rare[2 * k] = name, tonumber(redis.call('HGET', levels_key, '#' .. name) or 0)
  end
  for k = 2, math.min(#ARGV, 1001) do
    expired[k - 1] = tonumber(redis.call('HGET', levels_key, '#expired|' .. ARGV[k]) or 0)
  end
  return { 'counters', now, list, rare, expired }
end
if what == 'usage' then
  local kept, list = redis.call('HGETALL', usage_key), {}
  for k = 1, #kept, 2 do
    local kind, name = string.match(kept[k], '^(%l)|(.*)$')
    if kind == asked then
      local read, row = pcall(cmsgpack.unpack, kept[k + 1])
      if read and type(row) == 'table' and #row == 11 then
        list[#list + 1] = { name, row[9], row[10], row[1], row[2], row[3], row[4], row[5], row[6], row[7], row[8], row[11] }
      end
    end
  end
  return { 'usage', now, list }
end
if what == 'events' then
  local found, list = nil, {}
  if asked == '$' then
    found = redis.call('XREVRANGE', events_key, '+', '-', 'COUNT', 1)
  else
    found = redis.call('XRANGE', events_key, asked == '' and '-' or '(' .. asked, '+', 'COUNT', most)
  end
  for k, entry in ipairs(found) do list[k] = { entry[1], entry[2][2], entry[2][4] } end
  return { 'events', now, list }
end
return redis.error_reply('BADARG what')
