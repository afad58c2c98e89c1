-- What a call asks for, what time it is, and how a scope is stored: all that the uncontended paths need.
--
-- Scopes: `p` the project, `c:` a class, `w:` a workspace, `t:` a team (and these two with `|class`), one layout each. `a:`,
-- `e:` and `r:` are one agent, team or run each: made when first used and swept when idle, they share the layout of their
-- template (`=a:`). `n:<scope>` counts distinct agents and is stored like a scope without limits.
--
-- In {project}:levels a scope has up to three fields, packed as doubles, which are exact for these integers and six
-- times cheaper to read than text:
--     =<scope>   layout, written by `policy` and scaled by lib/force.lua: slots (-1 = unlimited), n, then n times the twelve numbers named in
--                limit_at(), then the n names. A limit keeps its position: a removed one stays there, inactive, until
--                it is full, so that no policy change forgives a debt; `since` is the policy version that put it
--                there, and older permits never took it.
--     <scope>    record: last, used, then level, recent and full of each limit. last = time of the levels in us, used =
--                calls in flight, recent = units admitted in the present slot of the gate or of a rolling window, or when a
--                window of the calendar ends, full = when the bucket was
--                last seen full: what a permit from before that took has been made good and is not given back on top.
--     ~<scope>   the earlier slots of gates and rolling windows: MessagePack [[slot, units, slot, units, ...], ...], one list a limit,
--                oldest first.
local AGENT_SCOPE, TEAM_SCOPE, RUN_SCOPE, COUNT_SCOPE = 97, 101, 114, 110

-- The field of a scope's layout, and the scope's kind. Numbers, not the names above: what a function takes from outside costs
-- each time it is defined, and this one is on every call.
local function layout_field(name)
  local kind = string.byte(name, 1)
  if kind == 97 or kind == 101 or kind == 114 then return '=' .. string.sub(name, 1, 2), kind end
  return '=' .. name, kind
end

-- A call's scopes and costs lie flat in one list: name, n, n costs, name, n, n costs, ... Puts the ones that stand in
-- ARGV from `at` to before `till` into `list` after its first `last` values, as numbers, and into `fields` after its first two what
-- each scope is stored under. Returns how many scopes there were, or nil; what is wrong; and whether one of them counts agents.
-- The lists come with room (`nil, nil`) for what a call mostly has: a table that grows is copied again and again.
local function read_costs(list, last, fields, at, till)
  local args, scopes, field, counts = ARGV, 0, 2, false
  while at < till do
    local name, n = args[at], tonumber(args[at + 1])
    if not n or not (n >= 0 and n <= 32) or n % 1 ~= 0 then return nil, 'limits' end
    for k = 4, field, 2 do
      if fields[k] == name then return nil, 'scopes' end
    end
    local layout, kind = layout_field(name)
    counts, scopes = counts or kind == 110, scopes + 1
    fields[field + 1], fields[field + 2] = layout, name
    list[last + 1], list[last + 2] = name, n
    field, last, at = field + 2, last + 2, at + 2
    for i = 1, n do
      local cost = tonumber(args[at])
      if not cost or not (cost >= 0 and cost < EXACT) or cost % 1 ~= 0 then return nil, 'cost' end
      last, at = last + 1, at + 1
      list[last] = cost
    end
  end
  if at > till then return nil, 'limits' end
  if scopes > 16 then return nil, 'scopes' end
  return scopes, nil, counts
end

-- The time of this run in us: the given one (tests), else Redis's clock, read once. A step back of up to 1 s freezes
-- time at the project's last; a larger one is taken over, no level gets credit for it, and it is counted.
local clock_stepped = false
local function time_now(given, last)
  local now = given ~= '' and tonumber(given)
  if not now then
    local t = redis.call('TIME')
    now = t[1] * 1000000 + t[2]
  end
  if now >= last then return now end
  if last - now <= 1000000 then return last end
  clock_stepped = true
  return now
end

local LIMIT, LIMIT_BYTES, HEADER_BYTES = '<dddddddddddd', 96, 16
-- Of a limit the uncontended paths need the seven numbers after `since`, and where those of the first one stand.
local LIMIT_HEAD, HEAD_FROM = '<ddddddd', HEADER_BYTES + 9
-- A record: last and used, then three numbers a limit.
local RECORD_HEAD_BYTES, LEVEL_BYTES = 16, 24
-- As many as a record can have: 2 + 3 x 32. A constant, because string.rep on every call is not free.
local DOUBLES = '<dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd'

