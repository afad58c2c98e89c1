-- One scope of a project (the project itself, a class, a team, ...) with everything that can happen to it: its limits, their
-- levels, its calls in flight, and the gate. Stored as lib/record.lua says.
--
-- The gate (for calls larger than the burst). Such a call is let in when the bucket is full and what was admitted in
-- the last span plus the call is at most the provider's limit. The span is cut into 12 slots of `width` us; the
-- present one and the 12 before it count, so the sum is rounded up, never down. A permit that ends below or above its
-- estimate corrects the slot it was granted in. Width 0: no call can be larger than the burst, nothing is kept.
local GATE_SLOTS = 12

-- Limits that count by windows (rate 0) are kept in the same form: a rolling one in slots like the gate's, one of the calendar with
-- the end of its window in the place of the present slot. What they do otherwise: lib/window.lua.
local window = { ROLLING_SLOTS = 60 }

-- How often is looked at what has no instant of its own: idle scopes of agents, teams and runs.
local IDLE_CHECK = 60000000

-- since, active, rate, factor, tick, capacity, ceiling, width, gate, minute, unit, calendar of limit i. See bucket.lua for
-- rate, factor and capacity; ceiling and gate in units of cost; minute bounds what is booked above an estimate; unit = how
-- many units one request or token of weight 1 is; calendar = which calendar's windows it counts by, 0 = none.
local function limit_at(s, i)
  return struct.unpack(LIMIT, s.layout, HEADER_BYTES + 1 + LIMIT_BYTES * (i - 1))
end

local function limit_names(s)
  local names = {}
  for name in string.gmatch(string.sub(s.layout, HEADER_BYTES + 1 + LIMIT_BYTES * s.n), '%S+') do
    names[#names + 1] = name
  end
  return names
end

-- What a scope's slots are called: calls in flight, or distinct agents.
local function slots_name(s)
  return string.byte(s.name, 1) == COUNT_SCOPE and 'agents' or 'concurrency'
end

-- A scope from its two fields, or nil if either is missing or damaged. levels[3i], [3i + 1] and [3i + 2] are limit
-- i's level, recent and full; [1] and [2] are last and used.
local function read_scope(name, layout, record)
  if not layout or not record or #layout < HEADER_BYTES then return nil end
  local slots, n = struct.unpack('<dd', layout)
  if not (n >= 0 and n <= 32) then return nil end
  if #layout < HEADER_BYTES + LIMIT_BYTES * n or #record ~= RECORD_HEAD_BYTES + LEVEL_BYTES * n then return nil end
  local levels = { struct.unpack(string.sub(DOUBLES, 1, 3 + 3 * n), record) }
  for i = 1, 2 + 3 * n do
    -- A level that is no number would compare as if it were enough: NaN > x and x > NaN are both false.
    if levels[i] ~= levels[i] then return nil end
  end
  return {
    layout = layout, slots = slots, n = n, levels = levels, name = name, ring = false, ring_changed = false,
    layout_changed = false, changed = false, bounded = false, cut = false, fresh = false, turned = false,
  }
end

local function packed_record(s)
  return struct.pack(string.sub(DOUBLES, 1, 3 + 3 * s.n), unpack(s.levels, 1, 2 + 3 * s.n))
end

-- The earlier slots of limit i.
local function earlier(s, i)
  if not s.ring then
    local stored = redis.call('HGET', levels_key, '~' .. s.name)
    s.ring = stored and cmsgpack.unpack(stored) or {}
  end
  for k = #s.ring + 1, i do s.ring[k] = {} end
  return s.ring[i]
end

-- Forgets slots that left the span, of a limit with that rate. A slot from the future (the clock was set back) counts as the present one.
local function pruned(slots, present, rate)
  local kept, oldest = {}, present - (rate == 0 and window.ROLLING_SLOTS or GATE_SLOTS)
  for k = 1, #slots, 2 do
    if slots[k] >= oldest then
      kept[#kept + 1] = slots[k] > present and present or slots[k]
      kept[#kept + 1] = slots[k + 1]
    end
  end
  return kept
end

function window.sum(slots)
  local sum = 0
  for k = 2, #slots, 2 do sum = sum + slots[k] end
  return sum
end

-- Brings every level to the time `now`, in memory.
local function advance(s, now)
  local levels = s.levels
  local last = levels[1]
  -- The clock was set back: this must be kept also if nothing else is, or no level refills before that time is back.
  if now < last then s.changed = true end
  for i = 1, s.n do
    local _, _, rate, _, tick, capacity, _, width, _, _, _, calendar = limit_at(s, i)
    levels[3 * i] = refilled(levels[3 * i], capacity, rate, floor(now / tick) - floor(last / tick))
    if calendar > 0 and (now >= levels[3 * i + 1] or now < last) then window.turn(s, i, now, capacity, calendar) end
    if width > 0 then
      local before, present = floor(last / width), floor(now / width)
      if before < present then
        local slots = earlier(s, i)
        slots[#slots + 1] = before
        slots[#slots + 1] = levels[3 * i + 1]
        slots = pruned(slots, present, rate)
        s.ring[i], levels[3 * i + 1], s.ring_changed = slots, 0, true
        if rate == 0 then levels[3 * i] = math.max(capacity - window.sum(slots), capacity - EXACT) end
      end
    end
    if levels[3 * i] >= capacity or levels[3 * i + 2] > now then levels[3 * i + 2] = now end
  end
  levels[1] = now
end

-- An agent's, team's or run's scope that is not there yet: full, nothing in flight. Written when something is taken.
local function fresh_scope(name, layout, now)
  local levels = { now, 0 }
  local slots, n = struct.unpack('<dd', layout)
  for i = 1, n do
    local _, _, _, _, _, capacity = struct.unpack(LIMIT, layout, HEADER_BYTES + 1 + LIMIT_BYTES * (i - 1))
    levels[3 * i], levels[3 * i + 1], levels[3 * i + 2] = capacity, 0, now
  end
  local s = {
    layout = layout, slots = slots, n = n, levels = levels, name = name, ring = {}, ring_changed = false,
    layout_changed = false, changed = false, bounded = false, cut = false, fresh = true, turned = false,
  }
  -- Its windows begin.
  advance(s, now)
  return s
end

-- How long until limit i lets in a call larger than the burst, in us; 0 = now.
local function oversize_wait(s, i, now, units)
  local _, _, rate, _, tick, capacity, _, width, gate = limit_at(s, i)
  local level, recent, wait = s.levels[3 * i], s.levels[3 * i + 1], 0
  if level < capacity then
    wait = (floor(now / tick) + ceil((capacity - level) / rate)) * tick - now
  end
  local present = floor(now / width)
  local slots = pruned(earlier(s, i), present, rate)
  local sum = recent + units + window.sum(slots)
  slots[#slots + 1] = present
  slots[#slots + 1] = recent
  local k = 1
  while sum > gate and k < #slots do
    sum = sum - slots[k + 1]
    wait = math.max(wait, (slots[k] + GATE_SLOTS + 1) * width - now)
    k = k + 2
  end
  return wait
end

-- Whether a call can never be let in by the scope; its costs stand in `list` after `at`. No: nil. Else 'closed' or 'never'
-- with the limit, the cost and the ceiling.
local function impossible(s, list, at)
  if s.slots == 0 then return 'closed', slots_name(s) end
  for i = 1, s.n do
    local _, active, _, _, _, capacity, ceiling = limit_at(s, i)
    if active == 1 then
      if capacity == 0 then return 'closed', limit_names(s)[i] end
      if list[at + i] > ceiling then return 'never', limit_names(s)[i], list[at + i], ceiling end
    end
  end
  return nil
end

-- What a call is short on in the scope now. Nothing: nil. Else `full`: a slot; `[i]` true: limit i; `wait`: us until its
-- limits have refilled and its hold ends, exact (0 if only slots are short); `why`: the limit that takes longest, `pause`: it is the
-- hold. `kept` is what is held back for
-- firm waiters, `slots` and level units by limit.
local function shortage(s, list, at, kept)
  local now, short, held = s.levels[1], nil, false
  local pause = hold.wait(s.name, now)
  if pause then
    short = { full = true, wait = pause, why = nil, pause = true }
  elseif s.slots >= 0 and s.levels[2] + (kept and kept.slots or 0) >= s.slots then
    short = { full = true, wait = 0, why = nil }
  end
  for i = 1, s.n do
    local _, active, rate, factor, tick, capacity, _, width, _, _, _, calendar = limit_at(s, i)
    if active == 1 then
      local needed, held_back, wait = list[at + i] * factor, kept and kept[i] or 0, 0
      local level = s.levels[3 * i] - held_back
      if rate == 0 and (calendar > 0 or width > 0) then
        if level < needed then wait = window.wait(s, i, now, needed - level) end
      elseif needed > capacity then
        wait = oversize_wait(s, i, now, list[at + i])
        -- It needs the whole bucket and a firm waiter has a part of it: nobody knows until when.
        if held_back > 0 then wait, held = math.max(wait, tick), true end
      elseif level < needed then
        wait = (floor(now / tick) + ceil((needed - level) / rate)) * tick - now
      end
      if wait > 0 then
        short = short or { full = false, wait = 0, why = nil }
        short[i] = true
        short.held = short.held or held
        if wait > short.wait then short.wait, short.why, short.pause = wait, i, false end
      end
    end
  end
  return short
end

-- The level after `units` of cost are taken, and whether the floor under the debt cut some of it off. `debt`: shadow mode's
-- own floor, in units. It charges what nobody was held back for; without a floor all would seem to wait for ever.
local function taken(level, capacity, factor, units, debt)
  local lowest = capacity - EXACT
  if debt then return math.max(level - units * factor, math.min(level, math.max(lowest, -debt * factor))), false end
  if units > floor((level - lowest) / factor) then return lowest, true end
  return level - units * factor, false
end

-- The name of what is short.
local function short_name(s, short)
  return short.pause and 'hold' or short.why and limit_names(s)[short.why] or slots_name(s)
end

-- Takes a slot and the costs that stand in `list` after `at`. Only after shortage() said nil, or in shadow mode.
local function take(s, list, at, shadow)
  local levels = s.levels
  levels[2] = levels[2] + 1
  for i = 1, s.n do
    local _, _, rate, factor, _, capacity, _, width, _, minute = limit_at(s, i)
    -- A rolling window needs no floor under its debt: no slot counts for longer than the period.
    local debt = shadow and not (rate == 0 and width > 0) and minute
    levels[3 * i] = taken(levels[3 * i], capacity, factor, list[at + i], debt)
    if width > 0 then levels[3 * i + 1] = levels[3 * i + 1] + list[at + i] end
  end
  s.changed = true
end

-- Takes `back` units out of the gate's slot in which they were admitted, if it still counts.
local function correct_gate(s, i, width, granted, back)
  local slot, present = floor(granted / width), floor(s.levels[1] / width)
  if slot >= present then
    s.levels[3 * i + 1] = s.levels[3 * i + 1] - back
    return
  end
  local slots = earlier(s, i)
  for k = 1, #slots, 2 do
    if slots[k] == slot then
      slots[k + 1] = slots[k + 1] - back
      s.ring_changed = true
      return -- after a step back of the clock two entries can share a slot
    end
  end
end

-- Replaces what a permit of that version took at `granted` (n costs in `list` after `at`) by what it used (in `used`
-- after `used_at`). What is booked above the estimate is bounded: max(4 x estimate, one minute of the limit).
local function correct(s, version, granted, list, at, n, used, used_at, shadow)
  local levels = s.levels
  s.changed = true
  for i = 1, math.min(n, s.n) do
    local since, _, rate, factor, _, capacity, _, width, _, minute = limit_at(s, i)
    if since <= version then
      local estimate, units = list[at + i], used[used_at + i]
      local bound = math.max(4 * estimate, minute)
      if units > bound then units, s.bounded = bound, true end
      local back = estimate - units
      if rate == 0 and width > 0 then
        window.correct(s, i, capacity, width, granted, back)
        back = 0
      elseif back > 0 then
        if levels[3 * i + 2] <= granted then
          levels[3 * i] = refilled(levels[3 * i], capacity, factor, back)
          -- Told now: who starts in this very run takes from it at once.
          if levels[3 * i] >= capacity then levels[3 * i + 2] = levels[1] end
        end
      elseif back < 0 then
        local cut
        levels[3 * i], cut = taken(levels[3 * i], capacity, factor, -back, shadow and minute)
        s.cut = s.cut or cut
      end
      if width > 0 and back ~= 0 then correct_gate(s, i, width, granted, back) end
    end
  end
end

-- The scopes this run has touched, by name; false = there is none.
local book = {}

local function scope_of(name, now)
  local s = book[name]
  if s == nil then
    local layout = layout_field(name)
    local fields = redis.call('HMGET', levels_key, layout, name)
    s = read_scope(name, fields[1], fields[2])
    if s then
      advance(s, now)
    elseif fields[1] and not fields[2] and layout ~= '=' .. name then
      s = fresh_scope(name, fields[1], now)
    end
    book[name] = s or false
  end
  return s
end

-- Writes the scopes that changed, and the next due instant if it moved, in one command. Gives `reply` back.
local function save(reply, due, due_before)
  local fields = {}
  -- With a hold the time at which it changed, or a clock set back a little would let calls start before it opened.
  if hold.changed and book.p then book.p.changed = true end
  for name, s in pairs(book) do
    if s and s.changed then
      fields[#fields + 1] = name
      fields[#fields + 1] = packed_record(s)
      if s.ring_changed then
        fields[#fields + 1] = '~' .. name
        fields[#fields + 1] = cmsgpack.pack(s.ring)
      end
      if s.layout_changed then
        fields[#fields + 1] = '=' .. name
        fields[#fields + 1] = s.layout
      end
    end
  end
  hold.save(fields)
  if due ~= due_before then
    fields[#fields + 1] = '!due'
    fields[#fields + 1] = due
  end
  for k = 1, #fields, 60 do redis.call('HSET', levels_key, unpack(fields, k, math.min(k + 59, #fields))) end
  if clock_stepped then redis.call('HINCRBY', levels_key, '#clock_steps', 1) end
  return reply
end
