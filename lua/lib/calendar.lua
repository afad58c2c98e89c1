-- When a window of the calendar ends. Pure: a text and a time in, a time out.
--
-- A calendar is one text, `policy` is told it and keeps it: unit zone offset [from offset ...]
--     unit = minute, hour, day or month; zone = its name, for people; offset = seconds the zone's clocks are ahead of UTC
--     in 2000; then when they change, in seconds since 1970, and their offset from then on. The last one stays.
-- So no script needs to know a zone, and all hosts mean the same instants by "midnight".
--
-- The idea. The zone's clock runs with UTC, but for a jump now and then. A day or a month begins when the clock first
-- reads its first midnight or, where it jumps over that, jumps. So a day has 23, 24 or 25 hours, an hour that the clock reads
-- twice is in one day, and a midnight that it reads twice begins the day once. Hours and minutes begin each time the
-- clock reads them: an hour set back begins anew, as it does for whoever counts by the hour.
--
-- Worked example: `day America/Los_Angeles -28800 ... 1772964000 -25200`, on 2026-03-08 at 01:00 there. The next midnight
-- would be 23 hours later, but an hour from then the clock jumps from 02:00 to 03:00: it is 22 hours later.

local calendar = {}

-- The first day of the month after the one that `day` is in; both counted from 1970. Years begin in March here: then the
-- odd month is the last one, and a month's first day is a line through them (Howard Hinnant, chrono-compatible date
-- algorithms).
function calendar.next_month(day)
  local z = day + 719468
  local era = floor(z / 146097)
  local of_era = z - era * 146097
  local year = floor((of_era - floor(of_era / 1460) + floor(of_era / 36524) - floor(of_era / 146096)) / 365)
  local of_year = of_era - (365 * year + floor(year / 4) - floor(year / 100))
  local month = floor((5 * of_year + 2) / 153) + 1
  if month == 12 then year, month = year + 1, 0 end
  local leap_days = floor(year / 4) - floor(year / 100) + floor(year / 400)
  return era * 146097 + 365 * year + leap_days + floor((153 * month + 2) / 5) - 719468
end

calendar.UNITS = { minute = 60, hour = 3600, day = 86400, month = 86400 }

-- A calendar's numbers, or nil if the text is none: how many seconds its unit has (a month: a day), whether the unit is
-- a month, whether it begins but once, and the changes as a list: from, offset, from, offset, ..., the first from 0.
function calendar.read(text)
  local unit, rest = string.match(text or '', '^(%l+) %S+ (.*)$')
  if not calendar.UNITS[unit] then return nil end
  local changes, from = { 0 }, 0
  for word in string.gmatch(rest, '%S+') do
    local number = tonumber(word)
    if not number or number % 1 ~= 0 then return nil end
    if #changes % 2 == 0 then
      if number <= from or number > 1e10 then return nil end
      from = number
    elseif number < -86400 or number > 86400 then
      return nil
    end
    changes[#changes + 1] = number
  end
  if #changes % 2 == 1 then return nil end
  return calendar.UNITS[unit], unit == 'month', unit == 'month' or unit == 'day', changes
end

-- The first instant after `now` at which a unit of the calendar begins, both in us; nil if the text is no calendar.
function calendar.next_end(text, now)
  local unit, months, once, changes = calendar.read(text)
  if not unit then return nil end
  local second, at = floor(now / 1000000), 1
  -- The latest that the zone's clock has read. Where it is set back it is so before it reads the instant itself.
  local read = 0
  while changes[at + 2] and changes[at + 2] <= second do
    read = math.max(read, changes[at + 2] + changes[at + 1] - 1)
    at = at + 2
  end
  local offset = changes[at + 1]
  read = once and math.max(read, second + offset) or second + offset
  while true do
    local begins = (floor(read / unit) + 1) * unit
    if months then begins = calendar.next_month(floor(read / unit)) * unit end
    local change = changes[at + 2]
    if not change or begins - offset < change then return (begins - offset) * 1000000 end
    offset, at = changes[at + 3], at + 2
    local reads = change + offset
    if reads >= begins or (not once and reads % unit == 0) then return change * 1000000 end
    if not once then read = reads end
  end
end
