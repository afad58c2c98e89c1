#!lua
-- tally: adds what one host did to what all did: counters, who used how much in this hour and day, what happened. Once, however often it
-- is told.
--
-- KEYS  {project}:levels, {project}:counters, {project}:usage:h:<hour>, {project}:usage:d:<day>, {project}:events
-- ARGV  1 now      us since 1970; empty in production
--       2 teller   a name of its own for each life of a host, 1 to 64 bytes
--       3 seq      of this tally among the teller's, from 1; each is told until it is answered, then the next
--       4 hour, 5 day   of KEYS: whole hours and days since 1970, UTC
--       6 counters, 7 rows, 8 events   how many follow: 0 to 1,000, 0 to 400, 0 to 200
--       then for each counter its field (lua/README.md) and what to add; for each row its kind (t, a, m, r, k: team, agent, model, run, kind of rejection), its
--       name, the team of an agent, and eight numbers: requests, input, cache_read, cache_write, output, micro_usd, wait_ms, rejections;
--       for each event its type and data (JSON of at most 1,024 bytes)
--
-- Reply told, now    all of it counts
--       known, now   that number of this teller was told before: nothing is added
--       hour, now    another hour has begun: tell it again with its keys; nothing is added
--       lost, what   the project is not installed, or damaged; nothing is added
--
-- Names, counters and tellers are bounded. Of each hour and day 1,000 names of a kind are kept (256 models), what goes beyond is under
-- `other`. A row also tells for how long its name was active: from each time it was told of until the next, or a minute of more than five.
-- Hours go after 35 days, days after 400. A teller is forgotten an hour after its last word: who was not answered for so long must
-- not tell it again.
local levels_key, counters_key, hour_key, day_key, events_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local given_now, teller, seq, hour, day = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local counters, rows, events = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local EXACT, HOUR, DAY = 9007199254740991, 3600000000, 86400000000
local KEEP_HOURS, KEEP_DAYS, TELLER_KEPT = 35 * 86400, 400 * 86400, 3600000000
local NAMES, OTHER = { t = 1000, a = 1000, m = 256, r = 1000, k = 32 }, 'other'
local COUNTERS_AT_MOST, EVENTS_KEPT, NUMBERS = 20000, 1000, 8
local MINUTE, ACTIVE_WITHIN = 60000000, 300000000

-- 1. Everything is read and checked before anything is written.
local function whole(number, most) return number and number >= 0 and number <= most and number % 1 == 0 end
local function wrong(what) return redis.error_reply('BADARG ' .. what) end
if teller == '' or #teller > 64 then return wrong('teller') end
if not whole(seq, EXACT) or seq == 0 then return wrong('seq') end
if not whole(hour, EXACT) then return wrong('hour') end
if not whole(day, EXACT) then return wrong('day') end
if not whole(counters, 1000) then return wrong('counters') end
if not whole(rows, 400) then return wrong('rows') end
if not whole(events, 200) then return wrong('events') end
local rows_from = 9 + 2 * counters
local events_from = rows_from + rows * (3 + NUMBERS)
if #ARGV ~= events_from + 2 * events - 1 then return wrong('count') end
for at = 9, rows_from - 1, 2 do
  if not string.find(ARGV[at], '^%l|') or #ARGV[at] > 320 then return wrong('counter') end
  if not whole(tonumber(ARGV[at + 1]), EXACT) then return wrong('add') end
end
for at = rows_from, events_from - 1, 3 + NUMBERS do
  if not NAMES[ARGV[at]] then return wrong('kind') end
  if ARGV[at + 1] == '' or #ARGV[at + 1] > 256 or #ARGV[at + 2] > 256 then return wrong('name') end
  for k = at + 3, at + 2 + NUMBERS do
    if not whole(tonumber(ARGV[k]), EXACT) then return wrong('number') end
  end
end
for at = events_from, #ARGV, 2 do
  if not string.find(ARGV[at], '^%l+$') or #ARGV[at] > 16 then return wrong('type') end
  if #ARGV[at + 1] > 1024 then return wrong('data') end
end

local now = tonumber(given_now)
if not now then
  local t = redis.call('TIME')
  now = t[1] * 1000000 + t[2]
end
-- Of each key one read: what cannot be used fails before the first write.
local state = redis.call('HMGET', levels_key, '!', '#expired')
if not state[1] then return { 'lost', 'levels' } end
local known = redis.call('HMGET', counters_key, '>' .. teller, '!expired', '!scan')
local has_hour, has_day = redis.call('HGET', hour_key, '!'), redis.call('HGET', day_key, '!')
redis.call('XLEN', events_key)
local told = tonumber(string.match(known[1] or '0', '^%d+'))
if seq <= told then return { 'known', now } end
if math.floor(now / HOUR) ~= hour or math.floor(now / DAY) ~= day then return { 'hour', now } end

-- 2. Counters. New ones only while there is room for them.
local room = redis.call('HLEN', counters_key) + counters <= COUNTERS_AT_MOST
for at = 9, rows_from - 1, 2 do
  if room or redis.call('HEXISTS', counters_key, ARGV[at]) == 1 then
    redis.call('HINCRBY', counters_key, ARGV[at], ARGV[at + 1])
  else
    redis.call('HINCRBY', counters_key, '!beyond', 1)
  end
end

-- 3. Who used what. A row: its numbers, when it was last added to, an agent's team, for how many us it was active.
local function add(key, at)
  local kind, name, team = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  local field = kind .. '|' .. name
  local raw = redis.call('HGET', key, field)
  if not raw then
    local names = tonumber(redis.call('HGET', key, '#' .. kind) or 0)
    if names >= NAMES[kind] then
      name, team = OTHER, ''
      field = kind .. '|' .. OTHER
      raw = redis.call('HGET', key, field)
    else
      redis.call('HINCRBY', key, '#' .. kind, 1)
    end
  end
  local read, row = pcall(cmsgpack.unpack, raw or '')
  if not read or type(row) ~= 'table' or #row ~= NUMBERS + 3 then row = { 0, 0, 0, 0, 0, 0, 0, 0, 0, '', 0 } end
  for k = 1, NUMBERS do row[k] = math.min(EXACT, row[k] + tonumber(ARGV[at + 2 + k])) end
  local silent = row[NUMBERS + 1] > 0 and math.max(0, now - row[NUMBERS + 1]) or 0
  row[NUMBERS + 3] = row[NUMBERS + 3] + (silent <= ACTIVE_WITHIN and silent or MINUTE)
  row[NUMBERS + 1], row[NUMBERS + 2] = now, team
  redis.call('HSET', key, field, cmsgpack.pack(row))
end
if rows > 0 and not has_hour then
  redis.call('HSET', hour_key, '!', 1)
  redis.call('EXPIRE', hour_key, KEEP_HOURS)
end
if rows > 0 and not has_day then
  redis.call('HSET', day_key, '!', 1)
  redis.call('EXPIRE', day_key, KEEP_DAYS)
end
for at = rows_from, events_from - 1, 3 + NUMBERS do
  add(hour_key, at)
  add(day_key, at)
end

-- 4. What happened; and leases that ran out since somebody told of those, which Redis alone saw.
local function happened(type_of_it, data)
  redis.call('XADD', events_key, 'MAXLEN', '~', EVENTS_KEPT, '*', 'type', type_of_it, 'data', data)
end
for at = events_from, #ARGV, 2 do happened(ARGV[at], ARGV[at + 1]) end
local expired, expired_told = tonumber(state[2] or 0), tonumber(known[2] or 0)
if expired ~= expired_told then
  if expired > expired_told then happened('lost', string.format('{"leases_ran_out":%.0f}', expired - expired_told)) end
  redis.call('HSET', counters_key, '!expired', expired)
end

-- 5. That it was told; with each new teller some that are silent for long go.
if not known[1] then
  local page = redis.call('HSCAN', counters_key, known[3] or 0, 'MATCH', '>*', 'COUNT', 100)
  for k = 1, #page[2], 2 do
    local last = tonumber(string.match(page[2][k + 1], '%d+$')) or 0
    if now - last > TELLER_KEPT then redis.call('HDEL', counters_key, page[2][k]) end
  end
  redis.call('HSET', counters_key, '!scan', page[1])
end
redis.call('HSET', counters_key, '>' .. teller, string.format('%.0f %.0f', seq, now))
return { 'told', now }
