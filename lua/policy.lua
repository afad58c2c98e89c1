#!lua
-- policy: installs a version of a project's policy, and mends a project whose state is damaged or gone.
--
-- KEYS  the eight keys of the project, in the order of README.md
-- ARGV  1 now        us since 1970; empty in production
--       2 epoch      a fresh random name for the state, taken if the project is new or mended
--       3 held       0 = a new version. Else: mend with the version the caller holds; changes nothing if the project is
--                    sound and its version is as high
--       4 expected   the version the caller has seen, 0 = none, or empty: refused if another is in force
--       5 digest     of the content: the same content keeps its version
--       6 document   the policy as text
--       7 note       who, kept with the version and the time
--       8 mode       enforce or shadow
--       9 max_waiters  calls that may wait at a time
--      10 scopes     how many there are, 1 to 1,000; the first is p
--      11 calendars  how many follow, 0 to 1,000: texts as lib/calendar.lua reads them
--       then for each scope: name, slots (-1 = unlimited), max (of the templates a:, e: and r: how many there may be; else
--       0), ramp (ppm of its amounts that are in force at the start; 0 = no ramp), every (us in which that doubles), number
--       n of limits (0 to 32), and n times thirteen values: name, rate, factor, tick, capacity, ceiling, width, gate, minute,
--       unit, calendar (which of the calendars, 0 = none), start (ppm of the amount that is in force at first), finds (0 = the
--       amount is known, 1 = the provider tells it, 2 = it is found by trying)
--
-- Reply installed, stamp    in force from now on; stamp = version:epoch
--       unchanged, stamp    the content is in force already, or a higher version is
--       mismatch, stamp     `expected` is not the version in force
--       full, scope         the scope's removed limits are not paid back yet and leave no room for the new ones
--
-- A new project starts with full buckets. Raising a limit that refills gives nothing at once, lowering one clamps the level;
-- units and debt carry over. Of a window what was used carries over: raised, it gives the rest of the day. A mended project
-- starts with empty buckets and windows: nobody knows what was used. Its slots are counted from the permits that are left.
local policy_key, levels_key, permits_key, waiters_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local lines_key, times_key, hosts_key, learn_key = KEYS[5], KEYS[6], KEYS[7], KEYS[8]
local given_now, epoch, held_version, expected = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local digest, document, note = ARGV[5], ARGV[6], ARGV[7]
local mode, most, scope_count, calendar_count = ARGV[8], tonumber(ARGV[9]), tonumber(ARGV[10]), tonumber(ARGV[11])
local VERSIONS_KEPT, LIMITS_AT_MOST, SCOPES_AT_MOST, CALENDARS_AT_MOST, CLAIM = 50, 32, 1000, 1000, 500000
--#include lib/bucket
--#include lib/record
--#include lib/hold
--#include lib/calendar
--#include lib/scope
--#include lib/window
--#include lib/force
--#include lib/permit

-- What is wanted, read as a whole before anything is touched.
local PARTS = {
  'rate', 'factor', 'tick', 'capacity', 'ceiling', 'width', 'gate', 'minute', 'unit', 'calendar', 'start', 'finds',
}
-- What is stored of them: how much of an amount is in force is kept elsewhere.
local STORED = 10
local LEAST = { factor = 1, tick = 1, minute = 1, unit = 1 }
local MOST = { start = WHOLE, finds = 2, calendar = calendar_count }

local function whole(text, least, most_of_it)
  local number = tonumber(text)
  return number and number >= least and number <= (most_of_it or EXACT) and number == floor(number) and number or nil
end

-- How a limit counts: by windows, and then by rolling ones (lib/scope.lua).
local function by_windows(l) return l.rate == 0 and (l.calendar > 0 or l.width > 0) end
local function by_rolling(l) return by_windows(l) and l.calendar == 0 end

local function read_wanted()
  if not held_version then return nil, 'held' end
  if mode ~= 'enforce' and mode ~= 'shadow' then return nil, 'mode' end
  if not whole(most, 0) then return nil, 'max_waiters' end
  if not scope_count or not (scope_count >= 1 and scope_count <= SCOPES_AT_MOST) then return nil, 'scopes' end
  if not whole(calendar_count, 0, CALENDARS_AT_MOST) then return nil, 'calendars' end
  for i = 1, calendar_count do
    if not calendar.read(ARGV[11 + i]) then return nil, 'calendars' end
  end
  local wanted, seen, at = {}, {}, 12 + calendar_count
  for i = 1, scope_count do
    local name, slots, max = ARGV[at], whole(ARGV[at + 1], -1), whole(ARGV[at + 2], 0)
    local ramp, every, count = whole(ARGV[at + 3], 0, WHOLE), whole(ARGV[at + 4], 0), whole(ARGV[at + 5], 0, LIMITS_AT_MOST)
    if not name or seen[name] or (i == 1 and name ~= 'p') or not string.find(name, '^[^!#=~+^%%&*@>/]') then return nil, 'scopes' end
    if not slots then return nil, 'slots' end
    if not max then return nil, 'max' end
    if not ramp then return nil, 'ramp' end
    if not every or (ramp > 0 and every == 0) then return nil, 'every' end
    if not count then return nil, 'limits' end
    at = at + 6
    local limits = {}
    for k = 1, count do
      limits[k] = { name = ARGV[at] }
      if not ARGV[at] or not string.find(ARGV[at], '^%S+$') then return nil, 'name' end
      for p, part in ipairs(PARTS) do
        limits[k][part] = whole(ARGV[at + p], LEAST[part] or 0, MOST[part])
        if not limits[k][part] then return nil, part end
      end
      local l = limits[k]
      if l.calendar > 0 and (l.rate > 0 or l.width > 0) then return nil, 'calendar' end
      if by_windows(l) and (l.factor ~= 1 or l.tick ~= 1) then return nil, 'factor' end
      l.text = l.calendar > 0 and ARGV[11 + l.calendar]
      at = at + 1 + #PARTS
    end
    wanted[i], seen[name] = { name = name, slots = slots, max = max, ramp = ramp, every = every, limits = limits }, true
  end
  return wanted
end

local wanted, wrong = read_wanted()
if not wanted then return redis.error_reply('BADARG ' .. wrong) end

-- 1. Is the project there, and whole? A key of a wrong type (an older version's, say) counts as damaged and goes.
local TYPES = { 'hash', 'hash', 'hash', 'hash', 'zset', 'zset', 'zset', 'hash' }
local present, sound = 0, true
for k = 1, 8 do
  local kind = redis.call('TYPE', KEYS[k]).ok
  if kind == TYPES[k] then
    present = present + 1
    if not redis.call(kind == 'hash' and 'HGET' or 'ZSCORE', KEYS[k], '!') then sound = false end
  else
    sound = false
    if kind ~= 'none' then
      present = present + 1
      redis.call('DEL', KEYS[k])
    end
  end
end
local fresh = present == 0 and held_version == 0
-- What was there: scopes with a layout of their own, and those that share the layout of their template.
local old, each, waiting, forces, texts = {}, {}, 0, {}, {}
local function template_of(name) return string.match(name, '^([aer]:).') end
local project_last = 0
if sound then
  local kept = redis.call('HGETALL', levels_key)
  local raw = {}
  for k = 1, #kept, 2 do raw[kept[k]] = kept[k + 1] end
  sound = raw['!'] and tonumber(raw['!due']) and true or false
  local found = 0
  for field, value in pairs(raw) do
    if string.sub(field, 1, 1) == '=' then
      found = found + 1
      local name = string.sub(field, 2)
      old[name], forces[name] = read_scope(name, value, raw[name]), force.read(raw['/' .. name])
      if not old[name] then sound = false end
    elseif string.byte(field, 1) == 64 then -- @
      texts[tonumber(string.sub(field, 2))] = value
    elseif template_of(field) then
      local template = template_of(field)
      each[#each + 1] = { name = field, template = template, scope = read_scope(field, raw['=' .. template], value) }
    end
  end
  if found ~= tonumber(raw['!scopes']) then sound = false end
  for _, s in pairs(old) do
    for i = 1, s and s.n or 0 do
      local number = select(12, limit_at(s, i))
      if number > 0 and not texts[number] then sound = false end
    end
  end
  for _, one in ipairs(each) do sound = sound and one.scope ~= nil end
  local read, line = pcall(cmsgpack.unpack, redis.call('HGET', waiters_key, '!'))
  if not read or type(line) ~= 'table' or type(line[6]) ~= 'table' then sound = false end
  waiting = sound and line[2] + line[4] or 0
  project_last = old.p and old.p.levels[1] or 0
end
local now = time_now(given_now, project_last)

local state = redis.call('HMGET', policy_key, 'version', 'digest')
local in_force = redis.call('HGET', levels_key, '!') or ''
local version = math.max(tonumber(state[1]) or 0, tonumber(string.match(in_force, '^%d+')) or 0)
if present == 0 and expected ~= '' and expected ~= '0' then return { 'mismatch', '0:' } end
if sound then
  if held_version > 0 and version >= held_version then return { 'unchanged', in_force } end
  if expected ~= '' and expected ~= state[1] then return { 'mismatch', in_force } end
  if held_version == 0 and state[2] == digest then return { 'unchanged', in_force } end
  epoch = string.match(in_force, '[^:]*$')
end
-- Who mends with an older version than the one that is stored must read that one first.
if held_version > 0 and version > held_version then return { 'mismatch', version .. ':lost' } end
if held_version > 0 then
  version = held_version
elseif state[2] ~= digest or version == 0 then
  version = version + 1
end

-- 2. A damaged project: every key again, its sentinel in it, slots counted from the permits that are left.
local used = {}
if not sound then
  old, each = {}, {}
  redis.call('DEL', levels_key, waiters_key, lines_key, times_key)
  for k = 1, 8 do
    if TYPES[k] == 'zset' then
      redis.call('ZADD', KEYS[k], KEYS[k] == lines_key and 0 or '+inf', '!')
    elseif KEYS[k] == waiters_key then
      redis.call('HSET', waiters_key, '!', cmsgpack.pack({ 0, 0, 0, 0, '', {} }))
    elseif KEYS[k] ~= levels_key then -- whose sentinel is the stamp, written last
      redis.call('HSET', KEYS[k], '!', 1)
    end
  end
  local permits = redis.call('HGETALL', permits_key)
  for k = 1, #permits, 2 do
    if permits[k] ~= '!' then
      local permit = read_permit(permits[k + 1])
      local ends = forget_at(now)
      if permit and (permit[STATE] == 'running' or permit[STATE] == 'granted') then
        local scope = SCOPES
        while permit[scope] do
          -- Which agents were active is forgotten.
          if string.byte(permit[scope], 1) ~= COUNT_SCOPE then used[permit[scope]] = (used[permit[scope]] or 0) + 1 end
          scope = scope + 2 + permit[scope + 1]
        end
        ends = now + (permit[STATE] == 'running' and permit[LEASE] or CLAIM)
      end
      if permit and permit[STAMP] then
        -- Its costs stand by places that may be others' now: whatever it used, no level of today took it.
        permit[STAMP] = '0:'
        redis.call('HSET', permits_key, permits[k], cmsgpack.pack(unpack(permit)))
      end
      if permit then
        redis.call('ZADD', times_key, ends, permits[k])
      else
        redis.call('HDEL', permits_key, permits[k])
      end
    end
  end
end

if clock_stepped then
  hold.set_back(now)
  -- Instants are set back by whoever looks what is due (lib/expire.lua).
  redis.call('ZADD', times_key, 0, '<0')
end

-- 3. The scopes of the new version, each limit at the place it had.
local fields, kept_scopes = {}, {}

--#include lib/layout

local living = {}
for _, one in ipairs(each) do living[one.template] = true end
-- And of what is held by name.
for _, name in ipairs(hold.all()) do
  if template_of(name) then living[template_of(name)] = true end
end
local templates = {}
for _, scope in ipairs(wanted) do
  local name, limits, in_flight, names = scope.name, {}, used[scope.name] or 0, {}
  if old[name] then
    advance(old[name], now)
    limits, in_flight, names = opened(old[name]), old[name].levels[2], limit_names(old[name])
  end
  for _, new in ipairs(scope.limits) do
    new.active, new.since = 1, version
    local place, free = nil, nil
    for i, limit in ipairs(limits) do
      if limit.name == new.name then place = i end
      -- A template's place may be another's debt.
      if limit.active == 0 and limit.was_active == 0 and not living[name] and owes_nothing(limit) then free = free or i end
    end
    if place then
      carry_over(limits[place], new)
    else
      place = free or #limits + 1
      if place > LIMITS_AT_MOST then return { 'full', name } end
      begin(new, fresh or sound)
    end
    limits[place] = new
  end
  if clock_stepped and forces[name] then force.set_back(forces[name], now) end
  local f = force.of_policy(limits, scope.ramp, scope.every, forces[name], names, fresh, now)
  if f then
    for i, limit in ipairs(limits) do
      if f.limits[i] then
        limit.rate, limit.capacity, limit.ceiling, limit.gate, limit.minute = force.numbers(f, f.limits[i])
        limit.level = math.min(limit.level, limit.capacity)
      end
    end
    force.step_at({ name = name }, f, now)
    forces[name] = nil
  end
  store(name, scope.slots, in_flight, limits)
  kept_scopes[name], templates[name] = true, limits
  if scope.max > 0 then
    fields[#fields + 1] = '^' .. name
    fields[#fields + 1] = scope.max
  end
end

-- Agents', teams' and runs' own: the numbers of their template, each at its place.
local function like_template(limits, template)
  for i, new in ipairs(template) do
    local before, numbers = limits[i], {}
    for k, v in pairs(new) do numbers[k] = v end
    if before then
      carry_over(before, numbers)
    else
      begin(numbers, fresh or sound)
    end
    limits[i] = numbers
  end
  return limits
end

-- 4. Scopes that the new version no longer has stay until they owe nothing and nothing of theirs is in flight.
local gone = {}
for name, s in pairs(old) do
  if s and not kept_scopes[name] then
    advance(s, now)
    local limits, idle = opened(s), s.levels[2] == 0
    for _, limit in ipairs(limits) do idle = idle and owes_nothing(limit) end
    if idle and not living[name] then
      gone[#gone + 1] = name
    else
      store(name, -1, s.levels[2], limits)
      templates[name] = limits
    end
  end
end
for _, one in ipairs(each) do
  if one.scope then
    advance(one.scope, now)
    store_record(one.name, one.scope.levels[2], like_template(opened(one.scope), templates[one.template]))
  end
end

-- In a damaged project nobody knows them, but for what is in flight there.
local made = {}
for name, in_flight in pairs(used) do
  local template = template_of(name)
  if template and not kept_scopes[template] then
    kept_scopes[template], templates[template] = true, {}
    store(template, -1, 0, {})
  end
  if template then
    store_record(name, in_flight, like_template({}, templates[template]))
    made[template] = (made[template] or 0) + 1
    redis.call('ZADD', times_key, now + IDLE_CHECK, '*' .. name)
  elseif not kept_scopes[name] then
    store(name, -1, in_flight, {})
  end
end
for template, count in pairs(made) do
  fields[#fields + 1] = '+' .. template
  fields[#fields + 1] = count
end

-- 5. All of it at once; lists go in pieces, because unpack has an end.
local stamp = string.format('%.0f:%s', version, epoch)
for i, text in ipairs(calendars) do
  fields[#fields + 1] = '@' .. i
  fields[#fields + 1] = text
end
for k = 1, #fields, 60 do redis.call('HSET', levels_key, unpack(fields, k, math.min(k + 59, #fields))) end
for i in pairs(texts) do
  if not calendars[i] then redis.call('HDEL', levels_key, '@' .. i) end
end
local had_calendars = next(texts)
for name, ends in pairs(windows) do
  if ends and #name ~= 2 then -- a template is no scope that calls draw on
    redis.call('ZADD', times_key, ends, '$' .. name)
  elseif had_calendars then
    redis.call('ZREM', times_key, '$' .. name)
  end
end
for _, name in ipairs(gone) do
  if hold.of(name) then hold.remove(hold.of(name)) end
  redis.call('ZREM', times_key, '$' .. name)
  redis.call('HDEL', levels_key, name, '=' .. name, '~' .. name, '^' .. name, '+' .. name)
end
fields = {}
hold.save(fields)
if #fields > 0 then redis.call('HSET', levels_key, unpack(fields)) end
for name in pairs(forces) do
  redis.call('HDEL', levels_key, '/' .. name)
  redis.call('ZREM', times_key, '^' .. name)
end
local due = redis.call('ZRANGE', times_key, 0, 0, 'WITHSCORES')[2]
redis.call('HSET', levels_key, '!', stamp, '!due', (waiting > 0 or #hold.all() > 0) and 0 or due, '!scopes', stored, '!mode', mode, '!most', most)
redis.call('HSET', policy_key, 'version', version, 'digest', digest, 'document', document, 'v:' .. version,
  cmsgpack.pack({ note, document, now, digest }))
redis.call('HDEL', policy_key, 'v:' .. (version - VERSIONS_KEPT))
return { 'installed', stamp }
