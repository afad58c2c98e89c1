-- Who starts next. Waiters are tried in order (lib/order.lua): one that lacks nothing starts; one that lacks something of its
-- own (an agent's, team's or run's scope) is parked; one that lacks something shared closes it for all later ones. So a full
-- class never delays another, an agent at its own cap never delays other agents, and nobody takes what an earlier one
-- is short on.
--
-- Firm. Two shared limits, each drained in turn by others, would keep a call that needs both waiting for ever. So the one a
-- class would start next becomes firm after its patience: one slot of each of its shared scopes is kept out of what others
-- may take, and once it has its slots, its tokens too.
local GRANTS, TRIES = 16, 64
local granted_to, starts_in, more, trying = {}, nil, false, nil

-- A waiter starts. `own`: its host is the one that asks right now, and needs no claim. `first`: of a lane that can be tried.
local function start(w, now, stamp, own, first)
  local permit, c = w.permit, line.class(w.class)
  local f, cost = line.flow(c, w.flow), line.cost(w.permit, SCOPES, now, version_of(w.permit))
  take_all(permit, now)
  permit[STATE], permit[GRANTED], permit[STAMP] = own and 'running' or 'granted', now, stamp
  redis.call('ZADD', times_key, now + (own and permit[LEASE] or CLAIM), w.id)
  write_permit(w.id, permit)
  line.clock, c.clock = math.max(line.clock, c.tag), math.max(c.clock, f.tag)
  local flow_tag, class_tag = f.tag + line.step(cost, permit[WEIGHT]), c.tag + line.step(cost, 1)
  if first then
    line.pass_on(w, f, flow_tag, class_tag)
  else
    line.quit(w, now)
    line.set_class_tag(c, class_tag)
    line.set_flow_tag(f, flow_tag)
  end
  f.granted, f.changed = f.granted + 1, true
  if c.last > 0 then c.gap = c.gap == 0 and now - c.last or floor((7 * c.gap + now - c.last) / 8) end
  c.last = now
  line.count_out(w)
  if own then
    redis.call('HDEL', waiters_key, w.id)
  else
    local host = permit[HOST]
    redis.call('ZADD', lines_key, 0, 'i|' .. host .. '|g|' .. w.id)
    granted_to[host] = granted_to[host] and granted_to[host] .. ' ' .. w.id or 'g ' .. w.id
  end
end

-- After a try: whoever is parked behind this one on a private scope that still has a slot comes next.
local function unpark_behind(w, now)
  for _, at in ipairs(w.scopes) do
    local s = at.private and scope_of(at.name, now)
    if s and (s.slots < 0 or s.levels[2] < s.slots) then line.unpark(at.name, now) end
  end
end

local function serve(stamp, now, own)
  if line.waiting == 0 then return end
  if line.stamp ~= stamp and line.unpark_some(stamp) then more = true end
  local version = string.match(stamp, '^%d+')
  local silent_hosts, kept, closed, closed_project, blocked = {}, {}, {}, nil, {}
  local grants, tries = 0, 0
  for _, name in ipairs(line.closed) do
    local limit = string.match(name, '^p|(.*)$')
    if limit then
      closed_project = closed_project or {}
      closed_project[tonumber(limit) or 'full'] = true
    else
      closed[name] = true
    end
  end

  local function silent(host)
    if silent_hosts[host] == nil then
      local last = tonumber(redis.call('ZSCORE', hosts_key, host))
      silent_hosts[host] = not last or now - last > SILENT
    end
    return silent_hosts[host]
  end

  -- 1. The firm ones, oldest first.
  local firm, firm_of, why = {}, {}, {}
  for _, one in ipairs(line.firm) do
    local w = line.read(one.id, redis.call('HGET', waiters_key, one.id))
    local waits = w and w.permit[STATE] == WAITING and w.class == one.class and w.permit[STAMP] == version
      and redis.call('ZSCORE', lines_key, 'w|' .. w.line .. ending(w))
      and not silent(w.permit[HOST]) and w.deadline > now
    if waits and not kept_out(w, now) then
      local shorts, full, exact = short_on(w, kept, now)
      if not shorts then
        start(w, now, stamp, own == w.id, false)
        grants = grants + 1
        unpark_behind(w, now)
      else
        keep_for(w, full, kept)
        firm[#firm + 1], firm_of[one.class], why[w.id] = one, true, { shorts, full, exact }
      end
    end
  end
  if #firm ~= #line.firm then line.changed = true end
  line.firm = firm

  local function next_class()
    local skip = 0
    while true do
      local found = redis.call('ZRANGEBYLEX', lines_key, '[c|', '(c}', 'LIMIT', skip, 8)
      for _, entry in ipairs(found) do
        local name = string.sub(entry, 20)
        if not closed['c:' .. name] then return line.class(name) end
      end
      if #found < 8 then return nil end
      skip = skip + 8
    end
  end

  local passed_over

  -- Of a class's lanes the first that is not closed: flow and workspace, one text.
  local function next_lane(c)
    local skip, from = 0, 38 + #c.name
    while true do
      local prefix = 'f|' .. c.name
      local found = redis.call('ZRANGEBYLEX', lines_key, '[' .. prefix .. '|', '(' .. prefix .. '}', 'LIMIT', skip, 8)
      for _, entry in ipairs(found) do
        local lane = string.sub(entry, from)
        local team, workspace = string.match(lane, '^([^|]*)|[^|]*|(.*)$')
        if not (closed['t:' .. team] or closed['t:' .. team .. '|' .. c.name]
          or closed['w:' .. workspace] or closed['w:' .. workspace .. '|' .. c.name]) then return lane end
        passed_over(c, lane)
      end
      if #found < 8 then return nil end
      skip = skip + 8
    end
  end

  -- Whether it needs something of the project that an earlier one is short on.
  local function needs_closed(w)
    if not closed_project then return false end
    if closed_project.full then return true end
    for i = 1, w.permit[SCOPES + 1] do
      if closed_project[i] and w.permit[SCOPES + 1 + i] > 0 then return true end
    end
    return false
  end

  -- The first of its class that cannot start: a candidate, and after its patience firm.
  local function first_blocked(w, c, shorts, full)
    -- A try does not wait: one that comes again and again must not start another's patience anew.
    if blocked[c.name] or w.id == trying then return end
    blocked[c.name] = true
    if c.candidate ~= w.id or c.since > now then
      c.candidate, c.since, c.changed = w.id, now, true
    elseif not firm_of[c.name] and now - c.since > patience(w, now) then
      if not shorts then shorts, full = short_on(w, kept, now) end
      keep_for(w, shorts and full, kept)
      firm_of[c.name], line.changed = true, true
      local at = #line.firm + 1
      while at > 1 and line.firm[at - 1].arrival > w.arrival do at = at - 1 end
      table.insert(line.firm, at, { id = w.id, class = c.name, arrival = w.arrival })
    end
  end

  -- A lane whose team or workspace another class's waiter is short on: its first waiter is blocked as if it had been tried.
  function passed_over(c, lane)
    if blocked[c.name] then return end
    local entry = first_of('r|' .. c.name .. '|' .. lane .. '|')
    local _, id = end_of(entry or '')
    local w = id and line.read(id, redis.call('HGET', waiters_key, id))
    if w and not silent(w.permit[HOST]) and w.deadline > now and w.permit[STAMP] == version and not kept_out(w, now) then
      first_blocked(w, c, nil, nil)
    end
  end

  local function close(shorts, c)
    for name, short in pairs(shorts) do
      if name == 'p' then
        closed_project = closed_project or {}
        closed_project.full = closed_project.full or short.full
        for i = 1, book.p.n do closed_project[i] = closed_project[i] or short[i] end
        closed['c:' .. c.name] = true
      else
        closed[name] = true
      end
    end
  end

  local function try(w, c)
    local permit = w.permit
    if silent(permit[HOST]) then
      line.make_unready(w)
      redis.call('ZADD', lines_key, 0, 's|' .. permit[HOST] .. ending(w))
      return line.unpark_all(w, now)
    end
    if w.deadline <= now then return line.forget(w, now) end
    if permit[STAMP] ~= version then
      line.quit(w, now)
      permit[STATE] = AGAIN
      line.write(w)
      redis.call('ZADD', lines_key, 0, 'i|' .. permit[HOST] .. '|s|' .. w.id)
      return
    end
    local names = line.held_names(permit)
    if names[1] then return line.stand_apart(w, names, now) end
    local out, wait, full = kept_out(w, now)
    if out then
      line.make_unready(w)
      redis.call('ZADD', lines_key, 0, 'k|' .. out.name .. ending(w))
      if full then
        -- Whoever frees a slot there wakes the next.
        redis.call('ZREM', times_key, '%' .. out.name)
      elseif wait then
        local first = first_of('k|' .. out.name .. '|') == 'k|' .. out.name .. ending(w)
        redis.call('ZADD', times_key, first and 'CH' or 'LT', now + wait, '%' .. out.name)
      end
      return
    end
    if needs_closed(w) then
      closed['c:' .. c.name] = true
      first_blocked(w, c, nil, nil)
      return unpark_behind(w, now)
    end
    local shorts, exact
    if why[w.id] then
      shorts, full, exact = unpack(why[w.id])
    else
      shorts, full, exact = short_on(w, kept, now)
    end
    if not shorts then
      start(w, now, stamp, own == w.id, true)
      grants = grants + 1
    else
      first_blocked(w, c, shorts, full)
      close(shorts, c)
      if not full and (not starts_in or exact < starts_in) then starts_in = exact end
    end
    unpark_behind(w, now)
  end

  -- 2. All others, in order.
  while true do
    local c = next_class()
    if not c then
      if #line.closed > 0 then line.closed, line.changed = {}, true end
      return
    end
    if grants >= GRANTS or tries >= TRIES then
      -- The next run goes on behind what this one found closed, or it would try the same ones again.
      more, line.closed, line.changed = true, {}, true
      for name in pairs(closed) do line.closed[#line.closed + 1] = name end
      for limit, shut in pairs(closed_project or {}) do
        if shut then line.closed[#line.closed + 1] = 'p|' .. limit end
      end
      return
    end
    local lane = next_lane(c)
    local entry = lane and first_of('r|' .. c.name .. '|' .. lane .. '|')
    if not entry then
      closed['c:' .. c.name] = true
    else
      tries = tries + 1
      local _, id = end_of(entry)
      local w = line.read(id, redis.call('HGET', waiters_key, id))
      if w then
        try(w, c)
      else
        redis.call('ZREM', lines_key, entry)
        redis.call('HINCRBY', levels_key, '#orphans', 1)
        local flow, workspace = string.match(lane, '^(.*)|([^|]*)$')
        line.refresh_lane({ class = c.name, flow = flow, workspace = workspace })
      end
    end
  end
end

-- Us until anybody can start or anything is due; -1 = not known.
local function until_next(due, now)
  local next_in = math.min(starts_in or math.huge, due - now)
  return next_in < EXACT and math.max(next_in, 1) or -1
end

-- Hints to hosts that something of theirs was granted. Last and by pcall: an ACL user without the channel must not make a
-- script fail half way.
local function announce()
  local prefix = string.sub(levels_key, 1, -7) .. 'h:'
  for host, message in pairs(granted_to) do redis.pcall('SPUBLISH', prefix .. host, message) end
end
