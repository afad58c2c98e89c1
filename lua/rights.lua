#!lua flags=no-writes
-- rights: what the Redis user that asks may not do of what the other scripts do. A script is refused by Redis where it calls
-- what its user may not, which may be after its first writes; so this is asked before the first of them. It does nothing:
-- Redis looks at the user's rights before it sees that a script without writes wants to write.
--
-- KEYS  the eight keys of the project, in the order of README.md; of tally those that tally.lua has
-- ARGV  1 role     agent (acquire, settle, beat, observe and what a client inspects), install (policy), inspect (and status) or tally
--       2 channel  a channel of the project; empty = not asked about
--
-- Reply rights, [lack, ...]   each as `HSET {project}:levels`; none = all that is needed
local role, channel = ARGV[1], ARGV[2]

local NEEDS = {
  agent = {
    policy = 'HGET',
    levels = 'HDEL HGET HGETALL HINCRBY HKEYS HMGET HSCAN HSET',
    permits = 'HDEL HEXISTS HGET HLEN HMGET HSCAN HSET',
    waiters = 'HDEL HEXISTS HGET HINCRBY HSCAN HSET',
    lines = 'ZADD ZRANGEBYLEX ZREM ZREMRANGEBYLEX ZSCORE',
    times = 'ZADD ZRANGE ZRANGEBYSCORE ZREM ZSCORE',
    hosts = 'ZADD ZCOUNT ZRANGEBYSCORE ZREMRANGEBYSCORE ZSCORE',
    learn = 'HDEL HEXISTS HGET HGETALL HINCRBY HKEYS HMGET HSET',
  },
  install = {
    policy = 'DEL HDEL HGET HMGET HSET TYPE',
    levels = 'DEL HDEL HGET HGETALL HINCRBY HKEYS HMGET HSET TYPE',
    permits = 'DEL HDEL HGET HGETALL HLEN HSET TYPE',
    waiters = 'DEL HGET HSET TYPE',
    lines = 'DEL TYPE ZADD ZSCORE',
    times = 'DEL TYPE ZADD ZRANGE ZREM ZSCORE',
    hosts = 'DEL TYPE ZADD ZSCORE',
    learn = 'DEL HGET HSET TYPE',
  },
  inspect = {
    policy = 'HGET',
    levels = 'HGET HGETALL HMGET',
    permits = 'HEXISTS HGET HLEN HMGET HSCAN',
    waiters = 'HGET HSCAN',
    lines = 'ZRANGEBYLEX ZSCORE',
    times = 'ZCOUNT ZRANGEBYSCORE ZSCORE',
    hosts = 'ZCOUNT ZRANGEBYSCORE ZSCORE',
    learn = 'HEXISTS HGET HGETALL HKEYS HMGET',
  },
  tally = {
    levels = 'HMGET',
    counters = 'HDEL HEXISTS HINCRBY HLEN HMGET HSCAN HSET',
    hour = 'EXPIRE HGET HINCRBY HSET',
    day = 'EXPIRE HGET HINCRBY HSET',
    events = 'XADD XLEN',
  },
}
local ORDER = { 'policy', 'levels', 'permits', 'waiters', 'lines', 'times', 'hosts', 'learn' }
if role == 'tally' then ORDER = { 'levels', 'counters', 'hour', 'day', 'events' } end

-- What a command needs after its key to be one, and to read as little as can be.
local REST = {
  HDEL = { '!' }, HEXISTS = { '!' }, HGET = { '!' }, HINCRBY = { '!', 0 }, HMGET = { '!' }, HSCAN = { 0, 'COUNT', 1 },
  HSET = { '!', '!' }, ZADD = { 0, '!' }, ZCOUNT = { 1, 0 }, ZRANGE = { 1, 0 }, ZRANGEBYLEX = { '[b', '[a' },
  ZRANGEBYSCORE = { 1, 0 }, ZREM = { '!' }, ZREMRANGEBYLEX = { '[b', '[a' }, ZREMRANGEBYSCORE = { 1, 0 }, ZSCORE = { '!' },
  EXPIRE = { 1 }, XADD = { '*', '!', '!' },
}

local lacks = {}
local function ask(...)
  local reply = redis.pcall(...)
  local refused = type(reply) == 'table' and reply.err
  if refused and (string.find(refused, 'The user executing', 1, true) or string.find(refused, 'NOPERM', 1, true)) then
    local command, key = ...
    lacks[#lacks + 1] = key and command .. ' ' .. key or command
  end
end

for k, name in ipairs(ORDER) do
  for command in string.gmatch(NEEDS[role][name] or '', '%S+') do ask(command, KEYS[k], unpack(REST[command] or {})) end
end
ask('TIME')
if channel ~= '' then ask('SPUBLISH', channel, '') end
return { 'rights', lacks }
