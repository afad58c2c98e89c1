-- What keeps a waiter from starting: its own scopes (an agent's, team's or run's), the shared ones, and what is kept back for firm ones.

-- How long a call that would be the next of its class is passed over before it becomes firm.
local LEAST_PATIENCE = 1000000

local function patience(w, now)
  local longest = 0
  for _, at in ipairs(w.scopes) do
    local s = not at.private and scope_of(at.name, now)
    for i = 1, s and s.n or 0 do
      local _, active, rate, factor, tick = limit_at(s, i)
      if active == 1 and rate > 0 then
        longest = math.max(longest, floor(w.permit[at.at + i] * factor / rate) * tick)
      end
    end
  end
  return math.max(LEAST_PATIENCE, 2 * longest)
end

-- The private scope that keeps a waiter out, for how long if that is known, and whether for a slot.
local function kept_out(w, now)
  local held = line.held_names(w.permit)[1]
  if held then return scope_of(held, now), nil end
  for _, at in ipairs(w.scopes) do
    if at.private then
      local s = scope_of(at.name, now)
      local counts = at.counts and redis.call('ZSCORE', times_key, agent_entry(at.name, w.permit[AGENT]))
      if s and not counts then
        local short = shortage(s, w.permit, at.at)
        if short then return s, not short.full and short.wait or nil, short.full end
        local parked = first_of('k|' .. at.name .. '|')
        if parked and end_of(parked) < digits(w.arrival) then return s, nil end
      end
    end
  end
  return nil
end

-- What a waiter is short on in its shared scopes: by scope, or nil; and whether slots are among it.
local function short_on(w, kept, now)
  local shorts, full, wait = nil, false, 0
  for _, at in ipairs(w.scopes) do
    local s = not at.private and scope_of(at.name, now)
    local short = s and shortage(s, w.permit, at.at, kept[at.name])
    if short then
      shorts = shorts or {}
      shorts[at.name] = short
      full = full or short.full
      wait = math.max(wait, short.held and math.huge or short.wait)
    end
  end
  return shorts, full, wait
end

local function keep_for(w, full, kept)
  for _, at in ipairs(w.scopes) do
    local s = not at.private and book[at.name]
    if s then
      local keep = kept[at.name] or { slots = 0 }
      if s.slots >= 0 then keep.slots = keep.slots + 1 end
      for i = 1, not full and s.n or 0 do
        local _, active, _, factor, _, capacity = limit_at(s, i)
        if active == 1 then keep[i] = (keep[i] or 0) + math.min(w.permit[at.at + i] * factor, capacity) end
      end
      kept[at.name] = keep
    end
  end
end

-- What keeps a call from starting, the line ignored: exact wait, scope, limit, and the scope that lacks slots if one does. Nothing: nil.
local function obstacle(w, now)
  local exact, scope, limit, full, slots = 0, nil, nil, nil, nil
  for _, part in ipairs(w.scopes) do
    local s = scope_of(part.name, now)
    local counts = part.counts and redis.call('ZSCORE', times_key, agent_entry(part.name, w.permit[AGENT]))
    -- Under another policy its costs may stand by other places.
    local short = s and not counts and w.permit[part.at] == s.n and shortage(s, w.permit, part.at)
    if short then
      if short.wait > exact then exact, scope, limit = short.wait, s.name, short_name(s, short) end
      if short.full and not full then full, slots = s, short.pause and 'hold' or slots_name(s) end
    end
  end
  if not scope and not full then return nil end
  return exact, scope or full.name, limit or slots, full
end
