#!lua flags=allow-oom
-- beat: one host's sign of life. Renews its leases in one call and expires what is due.
--
-- KEYS  the eight keys of the project, in the order of README.md
-- ARGV  1 now      us since 1970; empty in production
--       2 host     who beats
--       3 permits  how many follow, 0 to 500
--       then for each permit: its id and its nonce
--
-- Reply beat, stamp, now, hosts, more, renewed, ...   stamp = version:epoch of the policy in force; hosts = hosts that
--                                          beat in the last 60 s; more = 1: work is left, beat again at once; renewed =
--                                          1 or 0 for each permit in order. 0 = lost: its slot belongs to others now
--       lost, what                         part of the project's state is missing: install the policy again
--
-- Writes times (leases), hosts, and what expiring writes. A lease that is gone is not brought back.
local levels_key, permits_key, times_key, hosts_key = KEYS[2], KEYS[3], KEYS[6], KEYS[7]
local given_now, host, count = ARGV[1], ARGV[2], tonumber(ARGV[3])
local HOST_SILENT = 60000000
--#include lib/bucket
--#include lib/record
--#include lib/scope
--#include lib/permit
--#include lib/expire

if not count or not (count >= 0 and count <= 500) or #ARGV ~= 3 + 2 * count then return redis.error_reply('BADARG permits') end

local held = redis.call('HMGET', levels_key, '!', '!due', '=p', 'p')
local project = read_scope('p', held[3], held[4])
local due = tonumber(held[2])
if not held[1] or not due or not project then return { 'lost', 'levels' } end
if not redis.call('HGET', permits_key, '!') then return { 'lost', 'permits' } end
if not redis.call('ZSCORE', times_key, '!') then return { 'lost', 'times' } end
if not redis.call('ZSCORE', hosts_key, '!') then return { 'lost', 'hosts' } end
local now = time_now(given_now, project.levels[1])
advance(project, now)

redis.call('ZADD', hosts_key, now, host)
redis.call('ZREMRANGEBYSCORE', hosts_key, '-inf', now - HOST_SILENT)
local book = { p = project }
local freed = expire(book, now)
local reply = { 'beat', held[1], now, redis.call('ZCARD', hosts_key) - 1, 0 }
for k = 1, count do
  local id, nonce = ARGV[2 + 2 * k], ARGV[3 + 2 * k]
  local permit = read_permit(redis.call('HGET', permits_key, id))
  if permit and permit[STATE] == 'running' and permit[NONCE] == nonce then
    redis.call('ZADD', times_key, now + permit[LEASE], id)
    reply[5 + k] = 1
  else
    reply[5 + k] = 0
  end
end
local next_due = first_due()
if next_due <= now then reply[5] = 1 end
save(book, nil, next_due, due)
if freed then announce('free') end
return reply
