-- A permit's record and its instants.
--
-- In {project}:permits an id has one record, these values one after the other in MessagePack:
--     state, digest, nonce, memo, host, stamp, granted, lease, flow, weight, agent, scope, n, n costs, scope, n, n costs, ...
-- state: granted (from the line; holds a slot, must be claimed), running (holds a slot), expired (its lease ran out, its usage may still be booked), or how it ended: settled,
-- cancelled, throttled, booked (expired, and its usage came late). digest tells the same caller and body from another;
-- memo is what the caller wants back and means nothing here; stamp is the policy it was granted under; granted and lease
-- in us; flow and weight are its place in the line's order (lib/order.lua); costs by position. Of an ended permit only the
-- first four are kept. In {project}:times the id stands with its next instant: when it must be claimed, the end of its lease,
-- or when it is forgotten.
local STATE, DIGEST, NONCE, MEMO, HOST, STAMP, GRANTED, LEASE, FLOW, WEIGHT, AGENT, SCOPES = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12

local REMEMBER_ENDED, REMEMBER_EXPIRED = 600000000, 3600000000
-- Above this many records an ended id is remembered for 10 s only, so that a fast fleet cannot fill the memory.
local CROWDED, REMEMBER_CROWDED = 100000, 10000000
-- Ids are forgotten in steps of 5 s, many at a time: else nearly every call of a busy project would find one due. Within
-- the millisecond after a step they keep the order in which they came, so that a new one always goes to the end of its
-- step: among thousands of equal instants Redis would compare ids all over its memory to find the place.
local FORGET_STEP, FORGET_WITHIN = 5000000, 5000

local function forget_at(now, after)
  local into_step = (now + after) % FORGET_STEP
  return now + after - into_step + FORGET_STEP + floor(into_step / FORGET_WITHIN)
end

-- Nil if there is none, or something that is no record: one such must not stop what is done for all others.
local function sound(read, state, ...)
  if read and type(state) == 'string' then return { state, ... } end
  return nil
end

local function read_permit(raw)
  return sound(pcall(cmsgpack.unpack, raw))
end

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

-- Ends a permit for good: a small record stays so that repeats can be told from strangers. Returns when it is forgotten.
local function remember(id, permit, state, now)
  local after = REMEMBER_ENDED
  if redis.call('HLEN', permits_key) > CROWDED then
    after = REMEMBER_CROWDED
    redis.call('HINCRBY', levels_key, '#forgotten_early', 1)
  end
  local forgotten = forget_at(now, after)
  -- First what can still fail, on a damaged key.
  redis.call('ZADD', times_key, forgotten, id)
  redis.call('HSET', permits_key, id, cmsgpack.pack(state, permit[DIGEST], permit[NONCE], permit[MEMO]))
  return forgotten
end
