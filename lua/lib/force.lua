-- The amount in force: how much of its limits a scope may use now, where that is not all of it.
--
--   ramp      after a rest a class starts with a part of its amounts; each period it may use twice what it used in the last. So a
--             deploy never looks like the sharp rise that providers refuse. `slow` does the same where one refused a rise.
--   adaptive  nobody knows the amount: while it is used and nothing is refused it grows by a fixed step, and a rejection takes 3/10
--             of it (additive increase, multiplicative decrease: Chiu and Jain 1989).
--   adopt     the provider's header tells the amount: taken once three answers in a row agree.
--
-- The scope's layout always holds the numbers in force, so whoever grants need not know of this. In {project}:levels
-- `/<scope>` remembers the rest, MessagePack: [ramp, from, every, next, after, [limit or false, ...], slowed]
--     ramp = part of the refill limits' rates in force, in millionths; from = what it starts at and never goes below; every =
--     us between steps, 0 = once all of it is in force again this is forgotten; next = us of the next step; after = the part that
--     step sets, 0 = what was used decides; slowed = when a rise was last refused
--     limit: rate, capacity, ceiling, gate, minute are the policy's numbers; num / den of the amount is in force; finds: 1 adopt,
--     2 adaptive; step = what num grows by; changed = when it was last cut; seen = the provider's last statement of num, same =
--     how often in a row
-- and in {project}:times `^<scope>` is the next step.
local WHOLE, FIXED, ADOPT, ADAPTIVE = 1000000, 0, 1, 2
local FIND_EVERY, REST, AGREE, SLOW_AT_MOST = 10000000, 30000000, 3, 3600000000
-- Where a limit's layout has the numbers that change: rate, capacity, ceiling, gate, minute.
local SCALED = { 3, 6, 7, 9, 10 }
local force = {}

function force.read(raw)
  local read, v = pcall(cmsgpack.unpack, raw or '')
  if not read or type(v) ~= 'table' or type(v[6]) ~= 'table' then return nil end
  return { ramp = v[1], from = v[2], every = v[3], next = v[4], after = v[5], limits = v[6], slowed = v[7] or 0 }
end

function force.pack(f) return cmsgpack.pack({ f.ramp, f.from, f.every, f.next, f.after, f.limits, f.slowed }) end

-- What is remembered of a scope, or nil.
function force.of(name) return force.read(redis.call('HGET', levels_key, '/' .. name)) end

function force.is_whole(f)
  for _, limit in ipairs(f.limits) do
    if limit and limit.finds ~= FIXED then return false end
  end
  return f.ramp >= WHOLE and f.every == 0
end

function force.store(s, f)
  if force.is_whole(f) then
    redis.call('HDEL', levels_key, '/' .. s.name)
  else
    redis.call('HSET', levels_key, '/' .. s.name, force.pack(f))
  end
end

-- The five numbers of a limit that are in force.
function force.numbers(f, limit)
  local part = limit.num / limit.den
  local rate = floor(limit.rate * part * f.ramp / WHOLE)
  local capacity = floor(limit.capacity * part)
  if limit.rate > 0 then
    rate = math.max(1, rate)
    -- A bucket holds a whole number of ticks' refill, and goes on doing so.
    capacity = rate * floor(limit.capacity / limit.rate)
  end
  return rate, capacity, floor(limit.ceiling * part), floor(limit.gate * part), math.max(1, floor(limit.minute * part))
end

-- Puts them into the scope's layout. A level above its capacity is cut to it.
function force.apply(s, f)
  for i, limit in ipairs(f.limits) do
    local numbers = limit and { force.numbers(f, limit) } or {}
    for k, number in ipairs(numbers) do
      local from = HEADER_BYTES + LIMIT_BYTES * (i - 1) + 8 * (SCALED[k] - 1)
      s.layout = string.sub(s.layout, 1, from) .. struct.pack('<d', number) .. string.sub(s.layout, from + 9)
    end
    if limit then s.levels[3 * i] = math.min(s.levels[3 * i], numbers[2]) end
  end
  s.changed, s.layout_changed = true, true
end

function force.limit(numbers, start, finds)
  return {
    rate = numbers.rate, capacity = numbers.capacity, ceiling = numbers.ceiling, gate = numbers.gate, minute = numbers.minute,
    num = start, den = WHOLE, finds = finds, step = floor(start / 10), changed = 0, seen = -1, same = 0,
  }
end

-- Something with that name to remember by: as the policy has it.
function force.begin(s)
  local f = { ramp = WHOLE, from = WHOLE, every = 0, next = 0, after = 0, limits = {}, slowed = 0 }
  for i = 1, s.n do
    local _, active, rate, _, _, capacity, ceiling, _, gate, minute = limit_at(s, i)
    f.limits[i] = active == 1 and force.limit({ rate = rate, capacity = capacity, ceiling = ceiling, gate = gate, minute = minute }, WHOLE, FIXED)
  end
  return f
end

-- When its next step is due; infinity where there is none.
function force.next_step(f, now)
  local at = f.next > 0 and f.next or math.huge
  for _, limit in ipairs(f.limits) do
    if limit and limit.finds == ADAPTIVE then at = math.min(at, now + FIND_EVERY) end
  end
  return at
end

-- Remembers it until its next step.
function force.step_at(s, f, now)
  local at = force.next_step(f, now)
  force.store(s, f)
  if at < math.huge then
    redis.call('ZADD', times_key, at, '^' .. s.name)
  else
    redis.call('ZREM', times_key, '^' .. s.name)
  end
end

-- What part of limit i's amount in force was used in the last `us`; nil where nobody counts that.
function force.used_part(s, i, us)
  local _, active, rate, factor, tick, _, _, width = limit_at(s, i)
  if active == 0 or rate == 0 or width == 0 then return nil end
  local present, count, sum = floor(s.levels[1] / width), math.max(1, math.min(GATE_SLOTS, floor(us / width))), 0
  local slots = earlier(s, i)
  for k = 1, #slots, 2 do
    if slots[k] >= present - count and slots[k] < present then sum = sum + slots[k + 1] end
  end
  return sum * factor * tick / (rate * count * width)
end

-- Twice what was used in the last period of the limit that was used most, less what its bucket holds: that comes on top.
function force.next_ramp(s, f)
  local used, held = 0, 0
  for i = 1, s.n do
    local part = math.min(1, force.used_part(s, i, f.every) or 0)
    if part > used then
      local _, _, rate, _, tick = limit_at(s, i)
      used, held = part, math.max(0, s.levels[3 * i]) / rate * tick / f.every
    end
  end
  return floor(f.ramp * (2 * used - held))
end

function force.ramp_step(s, f, now)
  local ramp
  if f.after > 0 then
    ramp = f.after
  elseif f.every == 0 then
    ramp = 2 * f.ramp
  else
    ramp = force.next_ramp(s, f)
  end
  f.ramp, f.after = math.min(WHOLE, math.max(f.from, ramp)), 0
  f.next = (f.every > 0 or f.ramp < WHOLE) and now + (f.every > 0 and f.every or 60000000) or 0
end

function force.find_step(s, f, limit, i, now)
  local used = force.used_part(s, i, 60000000)
  if limit.num < limit.den and now - limit.changed >= REST and used and used >= 0.5 then
    limit.num = math.min(limit.den, limit.num + limit.step)
  end
end

-- The clock was set back: no step comes the later for that, and what was of one event before is.
function force.set_back(f, now)
  f.next, f.slowed = math.min(f.next, now + (f.every > 0 and f.every or 60000000)), math.min(f.slowed, now)
  for _, limit in ipairs(f.limits) do
    if limit then limit.changed = math.min(limit.changed, now) end
  end
end

-- All that is remembered; once, so it may look for it.
function force.set_all_back(now)
  for _, field in ipairs(redis.call('HKEYS', levels_key)) do
    local f = string.byte(field, 1) == 47 and force.of(string.sub(field, 2)) -- /
    if f then
      force.set_back(f, now)
      force.step_at({ name = string.sub(field, 2) }, f, now)
    end
  end
end

-- A step is due.
function force.due(s, f, now)
  if f.next > 0 and now >= f.next then force.ramp_step(s, f, now) end
  for i, limit in ipairs(f.limits) do
    if limit and limit.finds == ADAPTIVE then force.find_step(s, f, limit, i, now) end
  end
  force.apply(s, f)
  force.step_at(s, f, now)
end

-- The provider refused a rise: this part of the amounts for now, that part from `next_in` on, then twice as much each minute.
-- Parts of 0: half of what there was. Rejections of calls granted before the last one came are of the same event: it is one rise,
-- however many calls of it were refused. Returns whether it was a new one.
function force.slow(s, now, part, next_part, next_in, granted)
  local f = force.of(s.name) or force.begin(s)
  if granted < f.slowed then return false end
  f.slowed = now
  if part <= 0 then part = math.max(10000, floor(f.ramp / 2)) end
  f.ramp = math.min(f.ramp, part, WHOLE)
  if f.every == 0 then f.from = f.ramp end
  f.after = next_part > 0 and math.min(next_part, WHOLE) or 0
  f.next = now + (next_in > 0 and math.min(next_in, SLOW_AT_MOST) or 60000000)
  force.apply(s, f)
  force.step_at(s, f, now)
  return true
end

-- The provider refused for an amount that is being found: less of it. Rejections of calls granted before the last cut are of
-- the same event.
function force.less(s, i, granted, now)
  local f = force.of(s.name)
  local limit = f and f.limits[i]
  if not limit or limit.finds ~= ADAPTIVE or granted < limit.changed then return false end
  limit.num, limit.changed = math.max(1, floor(limit.num * 0.7)), now
  force.apply(s, f)
  force.step_at(s, f, now)
  return true
end

-- The provider states that num / den of the policy's amount is its limit. Whether it is taken over by this; of one that could not be
-- counted exactly as much as can.
function force.stated(s, i, num, den)
  local f = force.of(s.name)
  local limit = f and f.limits[i]
  if not limit or limit.finds ~= ADOPT or num <= 0 then return false end
  local _, _, _, factor = limit_at(s, i)
  local most = floor(WHOLE * EXACT / (math.max(limit.ceiling, limit.gate, limit.minute) * factor))
  if num / den > most / WHOLE then num, den = most, WHOLE end
  limit.same = limit.seen == num and limit.same + 1 or 1
  limit.seen = num
  local taken_over = limit.same >= AGREE and limit.num / limit.den ~= num / den
  if taken_over then
    limit.num, limit.den = num, den
    force.apply(s, f)
  end
  force.store(s, f)
  return taken_over
end

-- What a new version of the policy makes of it: nil where all of it is in force and stays so. `wanted`: the limits by place, as
-- the policy gives them, with `start` (millionths) and `finds`; `before`: what is remembered; `names`: of the limits then, by place.
function force.of_policy(wanted, ramp, every, before, names, fresh, now)
  local f = { ramp = WHOLE, from = WHOLE, every = every, next = 0, after = 0, limits = {}, slowed = before and before.slowed or 0 }
  local needed = false
  if every > 0 then
    f.from, f.next, needed = ramp, now + every, true
    if before then f.ramp = math.max(before.ramp, ramp) elseif fresh then f.ramp = ramp end
  elseif before and before.every == 0 and before.ramp < WHOLE then
    f.ramp, f.from, f.next, f.after, needed = before.ramp, before.from, before.next, before.after, true
  end
  for i, l in ipairs(wanted) do
    local limit = false
    if l.active == 1 then
      limit = force.limit(l, l.start, l.finds)
      for k, name in ipairs(names) do
        local old = before and before.limits[k]
        if old and name == l.name and old.finds == l.finds and l.finds ~= FIXED then
          limit.num, limit.den, limit.changed, limit.seen, limit.same = old.num, old.den, old.changed, old.seen, old.same
        end
      end
      needed = needed or l.finds ~= FIXED
    end
    f.limits[i] = limit
  end
  return needed and f or nil
end
