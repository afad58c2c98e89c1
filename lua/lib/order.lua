-- The line: who waits, where, and in which order.
--
-- In {project}:waiters
--     !                    how the line stands: [arrivals so far, waiting, clock, places kept, policy it was served under last,
--                          [what was closed where the last run had to stop], and of each firm waiter: id, class, arrival]
--     <id>                 arrival, deadline and place in the flow, then a record as a permit has it, one MessagePack value after
--                          the other; its state: w = waiting, a = again (its host was told to submit it again: another policy)
--                          or p = place (gave up at its deadline; only its arrival is kept). Of its stamp only the version: with
--                          another epoch there are no waiters
--     |<class>             [clock, tag, waiting, weights of the flows that wait, us between grants, last grant, lanes that can be
--                          tried, generation, candidate, since when]
--     |<class>|<flow>      [tag, weight, waiting, entered, granted, generation, workspace, arrival, workspace, arrival, ...]: of each
--                          lane the first arrival that can be tried
--     %<agent>             how many of an agent's calls wait
-- In {project}:lines, all scores 0, read in order of the text; numbers have 16 digits
--     w|<line>|<arrival>|<id>                    the waiters of a line. Line = host|class|flow|workspace|private scopes: first come,
--                                                first served
--     r|<class>|<flow>|<workspace>|<arrival>|<id>      a line's first waiter, if it can be tried
--     k|<scope>|<arrival>|<id>                   ... if it is parked: short on a private scope
--     s|<host>|<arrival>|<id>                    ... if it is set aside: its host is silent
--     f|<class>|<tag>|<arrival>|<flow>|<workspace>     lanes (flow x workspace) that can be tried, in their order
--     c|<tag>|<class>                            classes that have such lanes, in their order
--     i|<host>|g|<id>, i|<host>|s|<id>           news for a host: granted, claim it; submit it again
--     t|<class>, t|<class>|<flow>                which of these have state
-- flow = team|priority. Nothing here is read as a whole: every step finds the first of something.
local WAITING, AGAIN, PLACE = 'w', 'a', 'p'
local SILENT, CLAIM, GRACE = 600000, 500000, 1000000
local line, classes, flows = { changed = false }, {}, {}

local function digits(number) return string.format('%016.0f', number) end

-- The first entry that starts with `prefix`, which ends in '|'.
local function first_of(prefix)
  return redis.call('ZRANGEBYLEX', lines_key, '[' .. prefix, '(' .. string.sub(prefix, 1, -2) .. '}', 'LIMIT', 0, 1)[1]
end

-- Arrival (text) and id: how most entries end.
local function end_of(entry) return string.match(entry, '|(%d+)|([^|]*)$') end

-- Reads how the line stands; false if that is lost.
function line.load()
  local raw = redis.call('HGET', waiters_key, '!')
  if not raw or not redis.call('ZSCORE', lines_key, '!') or not redis.call('ZSCORE', hosts_key, '!') then return false end
  local read, fields = pcall(cmsgpack.unpack, raw)
  if not read or type(fields) ~= 'table' or type(fields[6]) ~= 'table' then return false end
  line.seq, line.waiting, line.clock, line.places, line.stamp = fields[1], fields[2], fields[3], fields[4], fields[5]
  line.closed, line.firm = fields[6], {}
  for k = 7, #fields, 3 do
    line.firm[#line.firm + 1] = { id = fields[k], class = fields[k + 1], arrival = fields[k + 2] }
  end
  return true
end

-- A list that was stored, or nil where there is none or a damaged one.
local function stored_list(raw, least)
  local read, list = pcall(cmsgpack.unpack, raw or '')
  return read and type(list) == 'table' and #list >= least and list or nil
end

function line.class(name)
  local c = classes[name]
  if not c then
    local raw = redis.call('HGET', waiters_key, '|' .. name)
    local f = stored_list(raw, 10) or { 0, 0, 0, 0, 0, 0, 0, 1, '', 0 }
    c = {
      name = name, clock = f[1], tag = f[2], waiting = f[3], weights = f[4], gap = f[5], last = f[6], ready = f[7],
      generation = f[8], candidate = f[9], since = f[10], stored = raw, changed = false,
    }
    classes[name] = c
  end
  return c
end

-- A class that was empty meanwhile has forgotten its flows: theirs is an earlier generation then.
function line.flow(c, name)
  local key = c.name .. '|' .. name
  local f = flows[key]
  if not f then
    local raw = redis.call('HGET', waiters_key, '|' .. key)
    f = { name = name, key = key, tag = 0, weight = 1, waiting = 0, entered = 0, granted = 0, lanes = {}, stored = raw, changed = false }
    local v = stored_list(raw, 6)
    if v and v[6] == c.generation then
      f.tag, f.weight, f.waiting, f.entered, f.granted = v[1], v[2], v[3], v[4], v[5]
      for k = 7, #v, 2 do f.lanes[v[k]] = v[k + 1] end
    end
    f.class = c
    flows[key] = f
  end
  return f
end

function line.lane_entry(f, workspace, arrival)
  return 'f|' .. f.class.name .. '|' .. digits(f.tag) .. '|' .. arrival .. '|' .. f.name .. '|' .. workspace
end

function line.class_entry(c) return 'c|' .. digits(c.tag) .. '|' .. c.name end

-- Puts a lane where its first arrival says (text; nil: nobody of it can be tried).
function line.set_lane(f, workspace, arrival)
  local before, c = f.lanes[workspace], f.class
  if before == arrival then return end
  if before then redis.call('ZREM', lines_key, line.lane_entry(f, workspace, before)) end
  if arrival then redis.call('ZADD', lines_key, 0, line.lane_entry(f, workspace, arrival)) end
  f.lanes[workspace], f.changed = arrival, true
  local ready = c.ready + (arrival and 1 or 0) - (before and 1 or 0)
  if c.ready == 0 and ready > 0 then redis.call('ZADD', lines_key, 0, line.class_entry(c)) end
  if c.ready > 0 and ready == 0 then redis.call('ZREM', lines_key, line.class_entry(c)) end
  c.ready, c.changed = ready, true
end

function line.lane_prefix(w) return 'r|' .. w.class .. '|' .. w.flow .. '|' .. w.workspace .. '|' end

function line.refresh_lane(w)
  local entry = first_of(line.lane_prefix(w))
  line.set_lane(line.flow(line.class(w.class), w.flow), w.workspace, entry and end_of(entry))
end

function line.set_flow_tag(f, tag)
  if tag == f.tag then return end
  for workspace, arrival in pairs(f.lanes) do redis.call('ZREM', lines_key, line.lane_entry(f, workspace, arrival)) end
  f.tag, f.changed = tag, true
  for workspace, arrival in pairs(f.lanes) do redis.call('ZADD', lines_key, 0, line.lane_entry(f, workspace, arrival)) end
end

function line.set_class_tag(c, tag)
  if tag == c.tag then return end
  if c.ready > 0 then redis.call('ZREM', lines_key, line.class_entry(c)) end
  c.tag, c.changed = tag, true
  if c.ready > 0 then redis.call('ZADD', lines_key, 0, line.class_entry(c)) end
end

function line.known_in(prefix)
  return redis.call('ZRANGEBYLEX', lines_key, '[' .. prefix, '(' .. string.sub(prefix, 1, -2) .. '}')
end

-- Nobody waits: no order to remember.
function line.forget_order()
  local known = line.known_in('t|')
  for k = 1, #known do known[k] = string.sub(known[k], 2) end
  for k = 1, #known, 60 do redis.call('HDEL', waiters_key, unpack(known, k, math.min(k + 59, #known))) end
  if #known > 0 then redis.call('ZREMRANGEBYLEX', lines_key, '[t|', '(t}') end
  for _, c in pairs(classes) do
    c.clock, c.tag, c.weights, c.gap, c.last, c.candidate, c.stored, c.changed = 0, 0, 0, 0, 0, '', nil, false
  end
  for _, f in pairs(flows) do
    f.tag, f.entered, f.granted, f.lanes, f.stored, f.changed = 0, 0, 0, {}, nil, false
  end
  line.clock, line.closed, line.firm, line.changed = 0, {}, {}, true
end

-- The share of a minute of its limits that a call takes, in billionths: what order goes by. Costs stand in `list` from `at` on,
-- by the places of that policy version; with the estimates they replace, no more counts than is booked (lib/scope.lua, correct).
function line.cost(list, at, now, version, estimates, estimates_at)
  local share = nil
  while list[at] do
    local name, n = list[at], list[at + 1]
    if name == 'p' or string.byte(name, 1) == 99 then
      local s = scope_of(name, now)
      for i = 1, s and math.min(n, s.n) or 0 do
        local since, active, rate, _, _, _, _, _, _, minute = limit_at(s, i)
        if active == 1 and rate > 0 and since <= version then
          local units = list[at + 1 + i]
          if estimates then units = math.min(units, math.max(4 * (tonumber(estimates[estimates_at + at + i]) or 0), minute)) end
          share = math.max(share or 1, floor(units / minute * 1e9))
        end
      end
    end
    at = at + 2 + n
  end
  return share or 1
end

function line.step(cost, weight) return math.max(1, floor(cost * 1000 / weight)) end

-- The class of a permit; empty where its scopes do not tell.
function line.class_of(permit)
  local class, at = '', SCOPES
  while permit[at] do
    if string.byte(permit[at], 1) == 99 then class = string.sub(permit[at], 3) end
    at = at + 2 + permit[at + 1]
  end
  return class
end

-- A permit ended other than estimated: its flow's place in the order moves by the difference, if it is still in line.
function line.move_tags(permit, before, after, now)
  local class = line.class_of(permit)
  local c = class ~= '' and line.class(class)
  if not c or c.waiting == 0 then return end
  local weight, f = permit[WEIGHT], line.flow(c, permit[FLOW])
  if f.waiting > 0 then
    line.set_flow_tag(f, math.max(c.clock, f.tag + (after and line.step(after, weight) or 0) - line.step(before, weight)))
  end
  line.set_class_tag(c, math.max(line.clock, c.tag + (after and line.step(after, 1) or 0) - line.step(before, 1)))
end

-- Tags grow without end and must stay exact: past 2^50 all of a clock go back by as much as it does.
local REBASE = 1125899906842624

function line.rebase()
  for _, c in pairs(classes) do
    if c.clock > REBASE then
      for _, entry in ipairs(line.known_in('t|' .. c.name .. '|')) do
        local f = line.flow(c, string.sub(entry, 4 + #c.name))
        line.set_flow_tag(f, math.max(0, f.tag - c.clock))
      end
      c.clock, c.changed = 0, true
    end
  end
  if line.clock > REBASE then
    for _, entry in ipairs(line.known_in('t|')) do
      local name = string.match(entry, '^t|([^|]*)$')
      if name then line.set_class_tag(line.class(name), math.max(0, line.class(name).tag - line.clock)) end
    end
    line.clock, line.changed = 0, true
  end
end

function line.save()
  if line.waiting > 0 then line.rebase() end
  if not line.changed then
    for _, c in pairs(classes) do line.changed = line.changed or c.changed end
    for _, f in pairs(flows) do line.changed = line.changed or f.changed end
    if not line.changed then return end
  end
  local fields = {}
  if line.waiting > 0 then
    for name, c in pairs(classes) do
      if c.changed then
        fields[#fields + 1] = '|' .. name
        fields[#fields + 1] = cmsgpack.pack({
          c.clock, c.tag, c.waiting, c.weights, c.gap, c.last, c.ready, c.generation, c.candidate, c.since,
        })
        if not c.stored then redis.call('ZADD', lines_key, 0, 't|' .. name) end
      end
    end
    for key, f in pairs(flows) do
      if f.changed then
        local v = { f.tag, f.weight, f.waiting, f.entered, f.granted, f.class.generation }
        for workspace, arrival in pairs(f.lanes) do
          v[#v + 1] = workspace
          v[#v + 1] = arrival
        end
        fields[#fields + 1] = '|' .. key
        fields[#fields + 1] = cmsgpack.pack(v)
        if not f.stored then redis.call('ZADD', lines_key, 0, 't|' .. key) end
      end
    end
  end
  local head = { line.seq, line.waiting, line.clock, line.places, line.stamp, line.closed }
  for _, firm in ipairs(line.firm) do
    head[#head + 1] = firm.id
    head[#head + 1] = firm.class
    head[#head + 1] = firm.arrival
  end
  fields[#fields + 1] = '!'
  fields[#fields + 1] = cmsgpack.pack(head)
  for k = 1, #fields, 60 do redis.call('HSET', waiters_key, unpack(fields, k, math.min(k + 59, #fields))) end
end
