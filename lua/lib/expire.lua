-- How permits leave, and what is due: leases that ran out, grants nobody claimed, ids to forget, waiters past their deadline,
-- idle scopes. Bounded, so that ten thousand leases ending together cost each script a little and none of them much
-- (redisson/redisson#3526).
--
-- In {project}:times stand, beside ids:  %<scope> when to try the next of its parked lines; *<scope> when to see whether it is idle;
-- #<scope>|<agent> when an agent no longer counts; &<host> when to see whether it is silent for good; ><scope> a hold's next instant;
-- ^<scope> the next step of its amount in force; $<scope> when the first of its windows ends; <<n> instants are being set back, all
-- but the last n of them are still to be looked at.
local EXPIRE_AT_MOST, REMEMBER_EXPIRED = 32, 3600000000
local AGENT_COUNTS, DROP_AT_MOST = 300000000, 20

-- The policy version a permit's costs stand by.
local function version_of(permit) return tonumber(string.match(permit[STAMP], '^%d+')) or 0 end

local function write_permit(id, permit)
  redis.call('HSET', permits_key, id, cmsgpack.pack(unpack(permit)))
end

local function forget(id)
  -- First what can still fail, on a damaged key.
  redis.call('ZREM', times_key, id)
  redis.call('HDEL', permits_key, id)
end

local function agent_entry(scope, agent) return '#' .. scope .. '|' .. agent end

-- A permit's agent is active: it counts for 5 min more, if it still does.
local function touch_agents(permit, now)
  local at = SCOPES
  while permit[at] do
    if string.byte(permit[at], 1) == COUNT_SCOPE then
      redis.call('ZADD', times_key, 'XX', now + AGENT_COUNTS, agent_entry(permit[at], permit[AGENT]))
    end
    at = at + 2 + permit[at + 1]
  end
end

-- An agent counts from now on: its other lines are no longer parked for that.
local function unpark_agent(scope, agent)
  local parked = redis.call('ZRANGEBYLEX', lines_key, '[k|' .. scope .. '|', '(k|' .. scope .. '}', 'LIMIT', 0, 64)
  for _, entry in ipairs(parked) do
    local _, id = end_of(entry)
    local w = line.read(id, redis.call('HGET', waiters_key, id))
    if w and w.permit[AGENT] == agent then
      redis.call('ZREM', lines_key, entry)
      line.make_ready(w)
    end
  end
end

-- A scope of an agent, a team or a run is there from now on.
local function made(s, now)
  if s.fresh then
    s.fresh, s.changed, s.turned = false, true, true
    redis.call('HINCRBY', levels_key, '+' .. string.sub(s.name, 1, 2), 1)
    redis.call('ZADD', times_key, now + IDLE_CHECK, '*' .. s.name)
  end
end

-- Takes everything a call needs, in memory but for what is new.
local function take_all(permit, now, shadow)
  local at = SCOPES
  while permit[at] do
    local s = scope_of(permit[at], now)
    if string.byte(permit[at], 1) == COUNT_SCOPE then
      if redis.call('ZADD', times_key, now + AGENT_COUNTS, agent_entry(permit[at], permit[AGENT])) == 1 then
        -- A rate there is one of agents that begin.
        take(s, permit, at + 1, shadow)
        if line.waiting > 0 then unpark_agent(permit[at], permit[AGENT]) end
      end
    else
      take(s, permit, at + 1, shadow)
      made(s, now)
      hold.took(s.name)
    end
    at = at + 2 + permit[at + 1]
  end
end

-- Whether a scope is one agent's, team's or run's own.
local function private_kind(kind) return kind == AGENT_SCOPE or kind == TEAM_SCOPE or kind == RUN_SCOPE end

-- The provider served a call: a hold of one of its scopes may open further.
local function served(permit, now)
  if #hold.all() == 0 then return end
  local at = SCOPES
  while permit[at] do
    local more_may = hold.served(permit[at], permit[GRANTED], now)
    if more_may and private_kind(string.byte(permit[at], 1)) then line.unpark(permit[at], now) end
    at = at + 2 + permit[at + 1]
  end
end

-- A permit that holds a slot leaves: one back in each of its scopes.
local function leave(permit, now)
  touch_agents(permit, now)
  local at = SCOPES
  while permit[at] do
    local name = permit[at]
    local kind, s = string.byte(name, 1), scope_of(name, now)
    if s and kind ~= COUNT_SCOPE then
      s.levels[2], s.changed = s.levels[2] - 1, true
      hold.left(name, permit[GRANTED])
      if private_kind(kind) then line.unpark(name, now) end
    end
    at = at + 2 + permit[at + 1]
  end
end

-- What a permit took is replaced by what it used, in each of its scopes. `used` nil: nothing, all of it comes back; where
-- it does not tell of a scope the estimate stands.
local function correct_all(permit, used, now, shadow)
  local at, used_at, version = SCOPES, 1, version_of(permit)
  while permit[at] do
    local n = permit[at + 1]
    local s = string.byte(permit[at], 1) ~= COUNT_SCOPE and scope_of(permit[at], now)
    if s then
      made(s, now)
      if not used then
        local nothing = {}
        for i = 1, n do nothing[i] = 0 end
        correct(s, version, permit[GRANTED], permit, at + 1, n, nothing, 0)
      elseif used[used_at] == permit[at] and used[used_at + 1] == n then
        correct(s, version, permit[GRANTED], permit, at + 1, n, used, used_at + 1, shadow)
      end
      if s.bounded then redis.call('HINCRBY', levels_key, '#usage_bounded', 1) end
      if s.cut then redis.call('HINCRBY', levels_key, '#debt_cut', 1) end
      s.bounded, s.cut = false, false
    end
    if used and used[used_at] then used_at = used_at + 2 + used[used_at + 1] end
    at = at + 2 + n
  end
end

-- What a permit costs is charged, into debt if need be: Redis did not know of it. Of another epoch nothing is: levels started
-- empty then.
local function charge_all(permit, now)
  if string.match(permit[STAMP], '[^:]*$') ~= string.match(redis.call('HGET', levels_key, '!'), '[^:]*$') then return false end
  local nothing = {}
  for i = 1, 32 do nothing[i] = 0 end
  local at, version = SCOPES, version_of(permit)
  while permit[at] do
    local s = string.byte(permit[at], 1) ~= COUNT_SCOPE and scope_of(permit[at], now)
    if s then
      made(s, now)
      correct(s, version, now, nothing, 0, permit[at + 1], permit, at + 1)
    end
    at = at + 2 + permit[at + 1]
  end
  return true
end

-- A permit of which Redis lost what it knew, or that was given without it: it holds its slots again, even above a limit.
local function assert_again(id, permit, now)
  local kept, at = { unpack(permit, 1, SCOPES - 1) }, SCOPES
  -- What it took it takes now: a bucket that is full by now has not made it good.
  kept[GRANTED] = now
  while permit[at] do
    local n, s = permit[at + 1], scope_of(permit[at], now)
    if s and string.byte(permit[at], 1) == COUNT_SCOPE then
      if redis.call('ZADD', times_key, now + AGENT_COUNTS, agent_entry(s.name, permit[AGENT])) == 1 then
        s.levels[2], s.changed = s.levels[2] + 1, true
      end
    elseif s then
      made(s, now)
      s.levels[2], s.changed = s.levels[2] + 1, true
      hold.took(s.name)
    end
    if s then
      for k = at, at + 1 + n do kept[#kept + 1] = permit[k] end
    end
    at = at + 2 + n
  end
  -- At its end it gives back only what it took.
  if not charge_all(kept, now) then kept[STAMP] = '0:' end
  redis.call('ZADD', times_key, now + kept[LEASE], id)
  write_permit(id, kept)
end

-- A grant from the line reached its host: it runs.
local function claim(id, permit, now)
  permit[STATE] = 'running'
  redis.call('ZADD', times_key, now + permit[LEASE], id)
  write_permit(id, permit)
  redis.call('HDEL', waiters_key, id)
  redis.call('ZREM', lines_key, 'i|' .. permit[HOST] .. '|g|' .. id)
end

-- As if it had never been granted.
local function undo(id, permit, now)
  if permit[STATE] == 'granted' then claim(id, permit, now) end
  if permit[STATE] == 'running' then leave(permit, now) end
  correct_all(permit, nil, now)
  forget(id)
  line.move_tags(permit, line.cost(permit, SCOPES, now, version_of(permit)), nil, now)
end

-- Nobody claimed the grant: everything comes back, the call stands where it stood, its host counts as silent.
local function unclaimed(id, permit, now)
  local w = line.read(id, redis.call('HGET', waiters_key, id))
  redis.call('ZREM', lines_key, 'i|' .. permit[HOST] .. '|g|' .. id)
  if not w then return undo(id, permit, now) end
  redis.call('ZADD', hosts_key, 'LT', now - SILENT - 1, permit[HOST])
  leave(permit, now)
  correct_all(permit, nil, now)
  redis.call('HDEL', permits_key, id)
  line.enter(w, now)
  local f = line.flow(line.class(w.class), w.flow)
  f.granted, f.changed = math.max(0, f.granted - 1), true
  line.move_tags(permit, line.cost(permit, SCOPES, now, version_of(permit)), nil, now)
end

-- An agent's, team's or run's scope that owes nothing and holds nothing goes.
local function sweep(name, now)
  local s = scope_of(name, now)
  if not s or s.fresh then
    redis.call('ZREM', times_key, '*' .. name)
    return true
  end
  local idle, again = s.levels[2] == 0, now + IDLE_CHECK
  for i = 1, s.n do
    local owing = window.owes_until(s, i)
    if owing then idle, again = false, math.max(again, owing) end
  end
  if not idle then
    redis.call('ZADD', times_key, again, '*' .. name)
    return false
  end
  redis.call('ZREM', times_key, '*' .. name, '$' .. name)
  redis.call('HDEL', levels_key, name, '~' .. name)
  redis.call('HINCRBY', levels_key, '+' .. string.sub(name, 1, 2), -1)
  book[name] = nil
  return true
end

-- A host that waits and gave no sign of life for a lease: its waiters go, a part at a time.
local function drop_silent(host, now)
  local entry = first_of('w|' .. host .. '|') or first_of('i|' .. host .. '|s|')
  local id = entry and string.match(entry, '|([^|]*)$')
  local w = id and line.read(id, redis.call('HGET', waiters_key, id))
  if not w then
    if entry then redis.call('ZREM', lines_key, entry) end
    redis.call('ZREM', times_key, '&' .. host)
    return
  end
  local last = tonumber(redis.call('ZSCORE', hosts_key, host)) or 0
  local gone_at = last + w.permit[LEASE]
  if gone_at > now then
    redis.call('ZADD', times_key, gone_at, '&' .. host)
    return
  end
  for _ = 1, DROP_AT_MOST do
    if not w then break end
    line.forget(w, now)
    redis.call('HINCRBY', levels_key, '#dropped', 1)
    entry = first_of('w|' .. host .. '|') or first_of('i|' .. host .. '|s|')
    id = entry and string.match(entry, '|([^|]*)$')
    w = id and line.read(id, redis.call('HGET', waiters_key, id))
  end
  if not w then redis.call('ZREM', times_key, '&' .. host) end
end

-- One of a scope's windows ended: whoever has found the scope up to now took that from its record.
function window.due(name, now)
  local s = scope_of(name, now)
  if not s or s.fresh then
    redis.call('ZREM', times_key, '$' .. name)
    return
  end
  s.turned = true
end

-- When the windows of scopes that were turned in this run end next. That must be kept also if nothing else is, or the window would
-- end once more for whoever looks next; with it the project's own time, or it would if the clock is set back a little.
function window.schedule()
  for name, s in pairs(book) do
    if s and s.turned and not s.fresh then
      local ends = window.ends(s)
      if ends then
        s.changed, book.p.changed = true, true
        redis.call('ZADD', times_key, ends, '$' .. name)
      else
        redis.call('ZREM', times_key, '$' .. name)
      end
      s.turned = false
    end
  end
end

local function waiter_due(id, now)
  local w = line.read(id, redis.call('HGET', waiters_key, id))
  if not w then
    if redis.call('ZREM', times_key, id) == 1 then redis.call('HINCRBY', levels_key, '#orphans', 1) end
  else
    line.forget(w, now)
  end
end

local function permit_due(id, permit, now)
  if permit[STATE] == 'running' then
    leave(permit, now)
    permit[STATE] = 'expired'
    redis.call('HINCRBY', levels_key, '#expired', 1)
    redis.call('HINCRBY', levels_key, '#expired|' .. line.class_of(permit), 1)
    redis.call('ZADD', times_key, forget_at(now, REMEMBER_EXPIRED), id)
    write_permit(id, permit)
  elseif permit[STATE] == 'granted' then
    unclaimed(id, permit, now)
  else
    forget(id)
  end
end

-- The latest at which this can be due, were it made now; nil where it does not go by when it was made.
local function latest(member, now)
  local kind = string.sub(member, 1, 1)
  if kind == '%' or kind == '&' then return now end
  if kind == '*' then return now + IDLE_CHECK end
  if kind == '#' then return now + AGENT_COUNTS end
  local permit = string.find(member, '^[^!$^<>]') and read_permit(redis.call('HGET', permits_key, member))
  if not permit then return nil end
  if permit[STATE] == 'running' then return now + permit[LEASE] end
  if permit[STATE] == 'granted' then return now + CLAIM end
  return forget_at(now, permit[STATE] == 'expired' and REMEMBER_EXPIRED or nil)
end

-- The clock was set back: no lease, claim or memory of an end lasts longer for that than one that begins now, and no host has
-- beaten later than now. A part at a time, the last instants first; `done` of them were looked at and stay. Returns how many that
-- are then, nil when it is through.
local function set_instants_back(done, now)
  local ahead = redis.call('ZRANGEBYSCORE', hosts_key, string.format('(%.0f', now), '(inf', 'LIMIT', 0, EXPIRE_AT_MOST)
  for _, host in ipairs(ahead) do redis.call('ZADD', hosts_key, now, host) end
  local found = redis.call('ZRANGE', times_key, done, done + EXPIRE_AT_MOST - 1, 'REV', 'WITHSCORES')
  for k = 1, #found, 2 do
    local at = tonumber(found[k + 1])
    local due = at > now and latest(found[k], now)
    if due and at > due then
      redis.call('ZADD', times_key, due, found[k])
    else
      done = done + 1
    end
  end
  return (#ahead == EXPIRE_AT_MOST or (#found > 0 and tonumber(found[#found]) > now)) and done or nil
end

-- Writes permits, waiters, lines and times; the caller saves scopes and the line.
local function expire(now)
  -- Set back: what was to be tried at an instant is not to wait until that time is here again.
  if clock_stepped then
    line.stamp, line.changed = '', true
    hold.set_back(now)
    force.set_all_back(now)
    redis.call('ZADD', times_key, 0, '<0')
  end
  local due = redis.call('ZRANGEBYSCORE', times_key, '-inf', now, 'LIMIT', 0, EXPIRE_AT_MOST)
  local records = #due > 0 and redis.call('HMGET', permits_key, unpack(due))
  for k, member in ipairs(due) do
    local kind, rest = string.sub(member, 1, 1), string.sub(member, 2)
    if kind == '%' then
      redis.call('ZREM', times_key, member)
      line.unpark(rest, now)
    elseif kind == '*' then
      sweep(rest, now)
    elseif kind == '#' then
      redis.call('ZREM', times_key, member)
      local name = string.match(rest, '^(.*)|[^|]*$')
      local s = scope_of(name, now)
      if s then s.levels[2], s.changed = s.levels[2] - 1, true end
      line.unpark(name, now)
    elseif kind == '&' then
      drop_silent(rest, now)
    elseif kind == '<' then
      redis.call('ZREM', times_key, member)
      local done = set_instants_back(tonumber(rest), now)
      if done then redis.call('ZADD', times_key, 0, '<' .. done) end
    elseif kind == '^' then
      local f, s = force.of(rest), scope_of(rest, now)
      if f and s then
        force.due(s, f, now)
      else
        redis.call('ZREM', times_key, member)
      end
    elseif kind == '$' then
      window.due(rest, now)
    elseif kind == '>' then
      local h = hold.of(rest)
      if h then
        hold.due(h, scope_of(rest, now), now)
        line.unpark(rest, now)
      else
        redis.call('ZREM', times_key, member)
      end
    else
      local permit = read_permit(records[k])
      if permit then
        permit_due(member, permit, now)
      else
        waiter_due(member, now)
      end
    end
  end
end

-- The next instant at which anything is due: us, or infinity.
local function first_due()
  window.schedule()
  return tonumber(redis.call('ZRANGE', times_key, 0, 0, 'WITHSCORES')[2])
end

-- Until when the uncontended paths need look at nothing but limits: 0 while calls wait, places are kept, or a scope is on hold.
local function calm_until(next_due)
  return (line.waiting + line.places > 0 or #hold.all() > 0) and 0 or next_due
end
