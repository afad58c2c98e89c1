-- How `policy` writes a scope: laid open, its limits carried over to their new numbers, and packed again. Uses what policy.lua has read:
-- the calendars, the version, the time.

-- A scope laid open: its limits as tables, to be changed and packed again.
local function opened(s)
  local limits = {}
  local names = limit_names(s)
  for i = 1, s.n do
    local limit = {
      name = names[i], level = s.levels[3 * i], recent = s.levels[3 * i + 1], full = s.levels[3 * i + 2],
      ring = earlier(s, i),
    }
    local numbers = { limit_at(s, i) }
    limit.since, limit.was_active, limit.active = numbers[1], numbers[2], 0
    for k = 1, STORED do limit[PARTS[k]] = numbers[2 + k] end
    limit.text = limit.calendar > 0 and texts[limit.calendar]
    limits[i] = limit
  end
  return limits
end

local stored = 0

-- The calendars by their places; those that only removed limits still go by come last.
local calendars, place_of = {}, {}
local function place_of_calendar(text)
  if not place_of[text] then
    calendars[#calendars + 1] = text
    place_of[text] = #calendars
  end
  return place_of[text]
end
for i = 1, calendar_count do
  calendars[i] = ARGV[11 + i]
  place_of[calendars[i]] = i
end

-- When the present window of a limit ends.
local ends_of = {}
local function window_end(text)
  ends_of[text] = ends_of[text] or calendar.next_end(text, now)
  return ends_of[text]
end

-- By scope that is stored: when the first of its windows ends, or false.
local windows = {}

-- How a scope stands, in the form it is stored in; a template's own scopes have no layout.
local function store_record(name, used, limits)
  local record, ring = { struct.pack('<dd', now, used) }, {}
  windows[name] = false
  for i, l in ipairs(limits) do
    record[1 + i], ring[i] = struct.pack('<ddd', l.level, l.recent, l.full), l.ring
    if l.calendar > 0 and l.active == 1 then windows[name] = math.min(windows[name] or math.huge, l.recent) end
  end
  fields[#fields + 1] = name
  fields[#fields + 1] = table.concat(record)
  fields[#fields + 1] = '~' .. name
  fields[#fields + 1] = cmsgpack.pack(ring)
end

local function store(name, slots, used, limits)
  stored = stored + 1
  local layout, names = { struct.pack('<dd', slots, #limits) }, {}
  for i, l in ipairs(limits) do
    layout[1 + i] = struct.pack(LIMIT, l.since, l.active, l.rate, l.factor, l.tick, l.capacity, l.ceiling, l.width,
      l.gate, l.minute, l.unit, l.calendar > 0 and place_of_calendar(l.text) or 0)
    names[i] = l.name
  end
  fields[#fields + 1] = '=' .. name
  fields[#fields + 1] = table.concat(layout) .. table.concat(names, ' ')
  store_record(name, used, limits)
end

-- What was admitted in the span of a limit's slots.
local function admitted_of(limit)
  if limit.width == 0 then return 0 end
  return limit.recent + window.sum(pruned(limit.ring, floor(now / limit.width), limit.rate))
end

-- A limit that nobody has used, or that nobody knows of how much it was used.
local function begin(new, full)
  new.level, new.recent, new.full, new.ring = full and new.capacity or 0, 0, 0, {}
  if new.calendar > 0 then
    new.recent = window_end(new.text)
  elseif by_rolling(new) then
    new.recent = new.capacity - new.level
  end
end

-- A limit's level and slots carried over to its new numbers. From window to window: what was used, whatever the amount is now.
-- Else the level; where the units differ only whole ones count, so there is never more than there was. Where the slots
-- differ, what was admitted counts as admitted now.
local function carry_over(before, new)
  if by_windows(before) and by_windows(new) then
    local used = ceil((before.capacity - before.level) * new.unit / before.unit)
    new.level = math.max(new.capacity - used, new.capacity - EXACT)
  elseif before.factor == new.factor and before.unit == new.unit then
    new.level = math.min(before.level, new.capacity)
  else
    local level = before.level
    local units = level >= 0 and floor(level / before.factor) or -ceil(-level / before.factor)
    units = floor(units * new.unit / before.unit)
    new.level = units < 0 and taken(0, new.capacity, new.factor, -units)
      or refilled(0, new.capacity, new.factor, units)
  end
  new.recent, new.full, new.ring = before.recent, before.full, before.ring
  local same_slots = before.width == new.width and before.unit == new.unit and by_windows(before) == by_windows(new)
  if new.calendar > 0 then
    new.recent, new.ring = window_end(new.text), {}
  elseif by_rolling(new) and not (same_slots and by_rolling(before)) then
    new.recent, new.ring = new.capacity - new.level, {}
  elseif not same_slots then
    -- Without a gate so far: at least what has not refilled yet.
    new.recent = before.width > 0 and admitted_of(before) or ceil((before.capacity - before.level) / before.factor)
    new.recent = new.width > 0 and math.min(ceil(new.recent * new.unit / before.unit), EXACT) or 0
    new.ring = {}
  end
  -- Permits that took the old units cannot be corrected in the new ones: their estimate stands.
  new.since = before.unit == new.unit and before.since or version
end

-- Nothing to remember of a limit: it is full and nothing was admitted in its span.
local function owes_nothing(limit) return limit.level >= limit.capacity and admitted_of(limit) == 0 end
