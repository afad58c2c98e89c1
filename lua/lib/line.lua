-- Who waits: one waiter's record, how it joins its line and leaves it, and when a line's first can be tried. lib/order.lua tells the
-- layout of it all.

-- What one waiter is, from its record in the form of a permit.
function line.waiter(id, arrival, deadline, place, permit)
  local w = { id = id, arrival = arrival, deadline = deadline, place = place, permit = permit, class = '', workspace = '', flow = permit[FLOW] }
  local scopes, private = {}, {}
  local at = SCOPES
  while permit[at] do
    local name = permit[at]
    local kind = string.byte(name, 1)
    local s = { name = name, at = at + 1, private = false, counts = kind == COUNT_SCOPE }
    if kind == AGENT_SCOPE or kind == TEAM_SCOPE or kind == RUN_SCOPE or kind == COUNT_SCOPE then
      -- Who counts already passes an `n:` scope: it must not stand behind another agent there.
      s.private, private[#private + 1] = true, kind == COUNT_SCOPE and name .. '=' .. permit[AGENT] or name
    elseif kind == 99 then
      w.class = string.sub(name, 3)
    elseif kind == 119 then
      w.workspace = string.match(name, '^w:([^|]*)')
    end
    scopes[#scopes + 1] = s
    at = at + 2 + permit[at + 1]
  end
  w.scopes = scopes
  w.line = permit[HOST] .. '|' .. w.class .. '|' .. w.flow .. '|' .. w.workspace .. '|' .. table.concat(private, ',')
  return w
end

-- Of what operators may hold a call by (its agent, its team, its run), what is on hold and none of its scopes yet: the policy need not
-- have limits for them, and calls must not pay for that while nobody is held.
function line.held_names(permit)
  local found = {}
  if #hold.all() == 0 then return found end
  local own, at = {}, SCOPES
  while permit[at] do
    own[permit[at]] = true
    at = at + 2 + permit[at + 1]
  end
  local team = string.match(permit[FLOW], '^([^|]*)')
  local names = (permit[AGENT] ~= '-' and 'a:' .. permit[AGENT] or '') .. (team ~= 'other' and ' e:' .. team or '') .. ' ' .. permit[NAMES]
  for name in string.gmatch(names, '%S+') do
    if not own[name] and hold.of(name) then found[#found + 1] = name end
  end
  return found
end

-- A call draws on that as well from now on; it costs nothing there. Returns where its costs stand after.
function line.add_scope(permit, name, now)
  local s, at = scope_of(name, now), SCOPES
  while permit[at] do at = at + 2 + permit[at + 1] end
  permit[at], permit[at + 1] = name, s and s.n or 0
  for i = 1, permit[at + 1] do permit[at + 1 + i] = 0 end
  return at + 1
end

local function sound_waiter(read, arrival, deadline, place, state, ...)
  if not read or type(arrival) ~= 'number' or type(deadline) ~= 'number' or type(place) ~= 'number' then return nil end
  return type(state) == 'string' and { state, ... } or nil, arrival, deadline, place
end

function line.read(id, raw)
  if not raw then return nil end
  local permit, arrival, deadline, place = sound_waiter(pcall(cmsgpack.unpack, raw))
  return permit and permit[AGENT] and line.waiter(id, arrival, deadline, place, permit) or nil
end

function line.write(w)
  local permit = w.permit
  permit[STAMP] = string.match(permit[STAMP], '^%d*')
  redis.call('HSET', waiters_key, w.id, cmsgpack.pack(w.arrival, w.deadline, w.place, unpack(permit)))
end

local function ending(w) return '|' .. digits(w.arrival) .. '|' .. w.id end

-- A line's first waiter can be tried.
function line.make_ready(w)
  redis.call('ZADD', lines_key, 0, 'r|' .. w.class .. '|' .. w.flow .. '|' .. w.workspace .. ending(w))
  line.refresh_lane(w)
end

-- It can not, for now.
function line.make_unready(w)
  redis.call('ZREM', lines_key, 'r|' .. w.class .. '|' .. w.flow .. '|' .. w.workspace .. ending(w))
  line.refresh_lane(w)
end

function line.like(w, entry)
  local arrival, id = end_of(entry)
  return { id = id, arrival = tonumber(arrival), class = w.class, flow = w.flow, workspace = w.workspace, line = w.line, scopes = w.scopes, permit = w.permit }
end

-- A line's first waiter is no longer that: wherever it stood, it stands there no more.
function line.unindex(w)
  local ends = ending(w)
  local entries = { 's|' .. w.permit[HOST] .. ends }
  for _, s in ipairs(w.scopes) do
    if s.private then entries[#entries + 1] = 'k|' .. s.name .. ends end
  end
  redis.call('ZREM', lines_key, unpack(entries))
  line.make_unready(w)
end

function line.join(w)
  local prefix = 'w|' .. w.line .. '|'
  local entry, first = 'w|' .. w.line .. ending(w), first_of(prefix)
  redis.call('ZADD', lines_key, 0, entry)
  if not first or entry < first then
    if first then line.unindex(line.like(w, first)) end
    line.make_ready(w)
  end
end

-- The first parked line of a private scope may be tried again. If it gets no further, for reasons of its own, the next one may
-- soon after: a full class must not hold up an agent's calls of another.
local NEXT_PARKED = 100000

function line.unpark(scope, now)
  if line.waiting == 0 then return end
  local prefix = 'k|' .. scope
  local parked = redis.call('ZRANGEBYLEX', lines_key, '[' .. prefix .. '|', '(' .. prefix .. '}', 'LIMIT', 0, 2)
  if parked[1] then
    redis.call('ZREM', lines_key, parked[1])
    local _, id = end_of(parked[1])
    local w = line.read(id, redis.call('HGET', waiters_key, id))
    if w then line.make_ready(w) end
  end
  if parked[2] then redis.call('ZADD', times_key, 'LT', now + NEXT_PARKED, '%' .. scope) end
end

-- Under another policy, or once the clock was set back, nobody knows any more who must stay parked: all are tried again, a part
-- at a time.
function line.unpark_some(stamp)
  local parked = redis.call('ZRANGEBYLEX', lines_key, '[k|', '(k}', 'LIMIT', 0, 64)
  for _, entry in ipairs(parked) do
    redis.call('ZREM', lines_key, entry)
    local _, id = end_of(entry)
    local w = line.read(id, redis.call('HGET', waiters_key, id))
    if w then line.make_ready(w) end
  end
  if #parked < 64 then line.stamp, line.changed = stamp, true end
  return #parked == 64
end

-- One that could have been tried is gone: nobody else would wake those behind it.
function line.unpark_all(w, now)
  for _, s in ipairs(w.scopes) do
    if s.private then line.unpark(s.name, now) end
  end
end

function line.quit(w, now, again)
  local entry = 'w|' .. w.line .. ending(w)
  local was_first = first_of('w|' .. w.line .. '|') == entry
  redis.call('ZREM', lines_key, entry)
  if was_first then
    line.unindex(w)
    local first = first_of('w|' .. w.line .. '|')
    if first then line.make_ready(line.like(w, first)) end
    if not again then line.unpark_all(w, now) end
  end
end

-- The first waiter of the first line of a lane leaves because it starts: the next of its line comes up, and lane and class get
-- their new tags, in two commands.
function line.pass_on(w, f, flow_tag, class_tag)
  local c, ends, prefix = f.class, ending(w), line.lane_prefix(w)
  local next_in_line = redis.call('ZRANGEBYLEX', lines_key, '[w|' .. w.line .. '|', '(w|' .. w.line .. '}', 'LIMIT', 1, 1)[1]
  local next_in_lane = redis.call('ZRANGEBYLEX', lines_key, '[' .. prefix, '(' .. string.sub(prefix, 1, -2) .. '}', 'LIMIT', 1, 1)[1]
  local gone = { 'w|' .. w.line .. ends, string.sub(prefix, 1, -2) .. ends, line.class_entry(c) }
  local added, arrival = {}, next_in_lane and end_of(next_in_lane)
  if next_in_line then
    local next_arrival, id = end_of(next_in_line)
    added[1], added[2] = 0, prefix .. next_arrival .. '|' .. id
    if not arrival or next_arrival < arrival then arrival = next_arrival end
  end
  for workspace, first in pairs(f.lanes) do gone[#gone + 1] = line.lane_entry(f, workspace, first) end
  if not arrival then c.ready = c.ready - 1 end
  f.lanes[w.workspace], f.tag, f.changed, c.tag, c.changed = arrival, flow_tag, true, class_tag, true
  for workspace, first in pairs(f.lanes) do
    added[#added + 1] = 0
    added[#added + 1] = line.lane_entry(f, workspace, first)
  end
  if c.ready > 0 then
    added[#added + 1] = 0
    added[#added + 1] = line.class_entry(c)
  end
  redis.call('ZREM', lines_key, unpack(gone))
  if #added > 0 then redis.call('ZADD', lines_key, unpack(added)) end
end

-- What a waiter is held by now is a scope of its own from now on: it stands in a line of those, and holds up nobody else.
function line.stand_apart(w, names, now)
  line.quit(w, now)
  for _, name in ipairs(names) do line.add_scope(w.permit, name, now) end
  local apart = line.waiter(w.id, w.arrival, w.deadline, w.place, w.permit)
  line.write(apart)
  line.join(apart)
end

function line.count_in(w)
  local c = line.class(w.class)
  local f = line.flow(c, w.flow)
  if c.waiting == 0 then line.set_class_tag(c, math.max(line.clock, c.tag)) end
  if f.waiting == 0 then
    line.set_flow_tag(f, math.max(c.clock, f.tag))
    f.weight = w.permit[WEIGHT]
    c.weights = c.weights + f.weight
  end
  if not w.place then
    f.entered = f.entered + 1
    w.place = f.entered
  end
  f.waiting, f.changed = f.waiting + 1, true
  c.waiting, c.changed = c.waiting + 1, true
  line.waiting, line.changed = line.waiting + 1, true
  if w.permit[AGENT] ~= '-' then redis.call('HINCRBY', waiters_key, '%' .. w.permit[AGENT], 1) end
end

function line.count_out(w)
  local c = line.class(w.class)
  local f = line.flow(c, w.flow)
  f.waiting, f.changed = f.waiting - 1, true
  if f.waiting == 0 then
    -- Places start anew: whoever gave up would else count before all that come later.
    c.weights, f.entered, f.granted = c.weights - f.weight, 0, 0
  end
  c.waiting, c.changed = c.waiting - 1, true
  line.waiting, line.changed = line.waiting - 1, true
  local agent = w.permit[AGENT]
  if agent ~= '-' and redis.call('HINCRBY', waiters_key, '%' .. agent, -1) <= 0 then
    redis.call('HDEL', waiters_key, '%' .. agent)
  end
  if line.waiting == 0 then
    line.forget_order()
  elseif c.waiting == 0 then
    -- Nobody is left whose order could depend on them.
    c.clock, c.weights, c.candidate, c.generation = 0, 0, '', c.generation + 1
    for _, f in pairs(flows) do
      if f.class == c then f.tag, f.entered, f.granted, f.lanes = 0, 0, 0, {} end
    end
  end
end

function line.forget_place(w)
  line.places, line.changed = line.places - 1, true
  redis.call('HDEL', waiters_key, w.id)
  redis.call('ZREM', times_key, w.id)
end

-- Stands in line from now on: a new call, or one that was counted in already.
function line.stand(w, now)
  w.permit[STATE] = WAITING
  line.write(w)
  redis.call('ZADD', times_key, w.deadline, w.id)
  redis.call('ZADD', times_key, 'NX', now + w.permit[LEASE], '&' .. w.permit[HOST])
  line.join(w)
end

function line.enter(w, now)
  line.count_in(w)
  line.stand(w, now)
end

-- It waits no longer and nothing stays behind but what the caller writes in its stead. Nobody knows exactly who was behind
-- it: of most of them the place is right afterwards, and of all that come later. `again`: it comes back to the same line at once and
-- wakes nobody. Who keeps his place has none to give up here.
function line.leave(w, now, again)
  local f = line.flow(line.class(w.class), w.flow)
  if w.place and w.place ~= f.entered and 2 * (w.place - f.granted) <= f.waiting then
    f.granted = f.granted + 1
  elseif w.place then
    f.entered = f.entered - 1
  end
  if w.permit[STATE] == WAITING then
    line.quit(w, now, again)
  else
    redis.call('ZREM', lines_key, 'i|' .. w.permit[HOST] .. '|s|' .. w.id)
  end
  line.count_out(w)
end

function line.forget(w, now)
  if w.permit[STATE] == PLACE then return line.forget_place(w) end
  line.leave(w, now)
  redis.call('HDEL', waiters_key, w.id)
  redis.call('ZREM', times_key, w.id)
end

-- A host gives a sign of life: what was set aside while it was silent may be tried again, a bounded part at a time.
function line.alive(host, now)
  redis.call('ZADD', hosts_key, now, host)
  if line.waiting == 0 then return false end
  local prefix = 's|' .. host .. '|'
  local aside = redis.call('ZRANGEBYLEX', lines_key, '[' .. prefix, '(s|' .. host .. '}', 'LIMIT', 0, 64)
  for _, entry in ipairs(aside) do
    redis.call('ZREM', lines_key, entry)
    local _, id = end_of(entry)
    local w = line.read(id, redis.call('HGET', waiters_key, id))
    if w then line.make_ready(w) end
  end
  return #aside == 64
end

-- Until one has started from a line nobody knows how long calls hold their slots: as if each that runs in scope `full` held one for a lease.
-- While that is on hold, or opens after one, its slots say nothing.
function line.slot_in(lease, full)
  return hold.of(full.name) and 0 or ceil(lease / math.max(1, full.levels[2]))
end

-- Expected us until a waiter starts, and its place in its flow. `full`: the scope that lacks a slot for it, or where only others stand
-- before it; nil: it lacks neither.
function line.outlook(w, exact, full)
  local c = line.class(w.class)
  local f = line.flow(c, w.flow)
  local position = math.min(math.max(1, w.place - f.granted), math.max(1, f.waiting))
  if position == 1 and not full and exact > 0 then return exact, position end
  local gap = c.gap
  if gap == 0 and full then gap = line.slot_in(w.permit[LEASE], full) end
  local expected = ceil(position * gap * c.weights / f.weight)
  return math.max(expected, exact, 1000), position
end
