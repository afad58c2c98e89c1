-- What is due: leases that ran out, ids to forget. Bounded, so that ten thousand leases ending together cost each
-- script a little and none of them much (redisson/redisson#3526).
local EXPIRE_AT_MOST = 32

-- The scopes this run has touched, by name. `book` may start with some already read.
local function scope_of(book, name, now)
  local s = book[name]
  if s == nil then
    local fields = redis.call('HMGET', levels_key, '=' .. name, name)
    s = read_scope(name, fields[1], fields[2]) or false
    if s then advance(s, now) end
    book[name] = s
  end
  return s
end

-- A running permit leaves: one slot back in each of its scopes. Returns whether somebody may be waiting for it.
local function leave(book, permit, now)
  local freed = false
  local at = SCOPES
  while permit[at] do
    local s = scope_of(book, permit[at], now)
    at = at + 2 + permit[at + 1]
    if s then
      freed = freed or s.levels[2] == s.slots
      s.levels[2] = s.levels[2] - 1
      s.changed = true
    end
  end
  return freed
end

-- Returns whether a slot was freed that somebody may be waiting for. Writes permits and times; the caller saves the book.
local function expire(book, now)
  local due = redis.call('ZRANGEBYSCORE', times_key, '-inf', now, 'LIMIT', 0, EXPIRE_AT_MOST)
  local freed = false
  if #due > 0 then
    local records = redis.call('HMGET', permits_key, unpack(due))
    for k, id in ipairs(due) do
      local permit = read_permit(records[k])
      if permit and permit[STATE] == 'running' then
        freed = leave(book, permit, now) or freed
        permit[STATE] = 'expired'
        write_permit(id, permit)
        redis.call('ZADD', times_key, forget_at(now, REMEMBER_EXPIRED), id)
      else
        if not permit then redis.call('HINCRBY', levels_key, '#orphans', 1) end
        forget(id)
      end
    end
  end
  return freed
end

-- The next instant at which anything is due: us, or infinity.
local function first_due()
  return tonumber(redis.call('ZRANGE', times_key, 0, 0, 'WITHSCORES')[2])
end
