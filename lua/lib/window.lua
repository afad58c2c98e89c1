-- Limits that count by windows: rate 0, factor and tick 1, and the capacity is a whole window. The level is what is left of it, in
-- units of cost.
--   calendar  the window ends at an instant of its calendar (lib/calendar.lua), kept where a gate has its present slot. Then the
--             level is whole again, and a debt is paid: the provider's day forgets it too. `full` is when the window began, so
--             what a permit of an earlier one did not use is not given back; what it used on top is booked in this one.
--   rolling   what was admitted is kept in slots like the gate's, `width` = 1/60 of the period; the present one and the 60
--             before it count, so never more than the amount is admitted in any period. The level is what these slots leave
--             of the capacity. A slot that leaves the span gives its units back, all at once: so a wait is exact.

-- What was admitted on limit i in the span that its slots are for, in units.
function window.admitted(s, i)
  local _, _, rate, _, _, _, _, width = limit_at(s, i)
  if width == 0 then return 0 end
  return s.levels[3 * i + 1] + window.sum(pruned(earlier(s, i), floor(s.levels[1] / width), rate))
end

window.calendar_ends = {}

-- When the present window of a calendar ends, by its number; one run has one present.
function window.calendar_end(number, now)
  if window.calendar_ends[number] == nil then
    window.calendar_ends[number] = calendar.next_end(redis.call('HGET', levels_key, '@' .. number), now) or false
  end
  return window.calendar_ends[number]
end

-- A window is over; or the clock was set back, perhaps to before this one: that gives nothing, and the next end comes sooner.
function window.turn(s, i, now, capacity, number)
  local ends = window.calendar_end(number, now)
  if ends and now >= s.levels[3 * i + 1] then s.levels[3 * i] = capacity end
  s.levels[3 * i + 1], s.turned = ends or now + IDLE_CHECK, true
end

-- When the first of the scope's windows ends, of limits that count or owe something; nil = it has none.
function window.ends(s)
  local first = nil
  for i = 1, s.n do
    local _, active, _, _, _, capacity, _, _, _, _, _, number = limit_at(s, i)
    if number > 0 and (active == 1 or s.levels[3 * i] < capacity) then
      first = math.min(first or math.huge, s.levels[3 * i + 1])
    end
  end
  return first
end

-- How long until a window has that many units more than now, in us.
function window.wait(s, i, now, missing)
  local _, _, rate, _, _, _, _, width, _, _, _, number = limit_at(s, i)
  if number > 0 then return s.levels[3 * i + 1] - now end
  local present, wait = floor(now / width), 0
  local slots = pruned(earlier(s, i), present, rate)
  slots[#slots + 1] = present
  slots[#slots + 1] = s.levels[3 * i + 1]
  for k = 1, #slots, 2 do
    if missing > 0 then wait = (slots[k] + window.ROLLING_SLOTS + 1) * width - now end
    missing = missing - slots[k + 1]
  end
  return wait
end

-- Until when limit i owes something at least, in us; nil = nothing: it is full, and nothing was admitted in its span.
function window.owes_until(s, i)
  local _, _, rate, _, _, capacity, _, width, _, _, _, number = limit_at(s, i)
  if s.levels[3 * i] >= capacity and window.admitted(s, i) == 0 then return nil end
  if number > 0 then return s.levels[3 * i + 1] end
  local now = s.levels[1]
  return now + (rate == 0 and width > 0 and window.wait(s, i, now, capacity - s.levels[3 * i]) or IDLE_CHECK)
end

-- Puts `back` units right in a rolling window: in the slot in which they were admitted, if that still counts. Else nothing is given
-- back, and what is to be taken is taken now. A slot never gives more than it has.
function window.correct(s, i, capacity, width, granted, back)
  local levels, slots, at = s.levels, earlier(s, i), nil
  local slot, present = floor(granted / width), floor(levels[1] / width)
  for k = 1, #slots, 2 do
    if slots[k] == slot and slot < present then at = k + 1 end
  end
  if at then
    back = math.min(back, slots[at])
    slots[at], s.ring_changed = slots[at] - back, true
  elseif slot >= present or back < 0 then
    back = math.min(back, levels[3 * i + 1])
    levels[3 * i + 1] = levels[3 * i + 1] - back
  else
    return
  end
  levels[3 * i] = math.min(capacity, math.max(levels[3 * i] + back, capacity - EXACT))
end
