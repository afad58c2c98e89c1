-- A permit's record and its instants.
--
-- In {project}:permits an id has one record, these values one after the other in MessagePack:
--     state, digest, nonce, memo, host, stamp, granted, lease, flow, weight, agent, names, scope, n, n costs, scope, n, n costs, ...
-- state: granted (from the line; holds a slot, must be claimed), running (holds a slot), expired (its lease ran out, its usage may still be booked), or how it ended: settled,
-- cancelled, throttled, booked (expired, and its usage came late). digest tells the same caller and body from another;
-- memo is what the caller wants back and means nothing here; stamp is the policy it was granted under; granted and lease
-- in us; flow and weight are its place in the line's order (lib/order.lua); names as acquire has them; costs by position. Of an ended permit only the
-- first four are kept. In {project}:times the id stands with its next instant: when it must be claimed, the end of its lease,
-- or when it is forgotten.
local STATE, DIGEST, NONCE, MEMO, HOST, STAMP, GRANTED, LEASE, FLOW, WEIGHT, AGENT, NAMES, SCOPES = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13

-- When an id is forgotten that is remembered for so long, else for 10 min. Ids are forgotten in steps of 5 s, many at a time: else
-- nearly every call of a busy project would find one due. Within the millisecond after a step (5 s / 5000) they keep the order in
-- which they came, so that a new one always goes to the end of its step: among thousands of equal instants Redis would compare ids
-- all over its memory to find the place.
local function forget_at(now, after)
  local at = now + (after or 600000000)
  local into_step = at % 5000000
  return at - into_step + 5000000 + (into_step - into_step % 5000) / 5000
end

-- Nil if there is none, or something that is no record: one such must not stop what is done for all others.
local function sound(read, state, ...)
  if read and type(state) == 'string' then return { state, ... } end
  return nil
end

local function read_permit(raw)
  return sound(pcall(cmsgpack.unpack, raw))
end

-- Ends a permit for good: a small record stays so that repeats can be told from strangers. Returns when it is forgotten. Takes no
-- names from outside, as layout_field() does not.
local function remember(id, permit, state, now)
  local levels_key, permits_key, times_key, after = KEYS[2], KEYS[3], KEYS[6], nil
  -- Above this many records for 10 s only, so that a fast fleet cannot fill the memory.
  if redis.call('HLEN', permits_key) > 100000 then
    after = 10000000
    redis.call('HINCRBY', levels_key, '#forgotten_early', 1)
  end
  local forgotten = forget_at(now, after)
  -- First what can still fail, on a damaged key.
  redis.call('ZADD', times_key, forgotten, id)
  redis.call('HSET', permits_key, id, cmsgpack.pack(state, unpack(permit, 2, 4)))
  return forgotten
end
