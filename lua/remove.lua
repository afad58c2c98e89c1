#!lua flags=allow-oom
-- remove: a project goes with all that is kept of it, unless permits are live.
--
-- KEYS  the eight keys of the project, in the order of README.md, {project}:counters, {project}:events, and every key of an hour and of
--       a day that can be there
-- ARGV  1 epoch    of the project that is meant; empty = whichever is there
--       2 version  that must be in force; empty = any
--
-- Reply removed      nothing of it is left
--       live, count  permits hold slots: nothing was changed. Who asks expires what is due first (beat.lua)
--       other        it is another by now
--       mismatch, stamp   another version is in force: nothing was changed
--       none         there is no such project; what is left of one is gone
local levels_key, epoch, version = KEYS[2], ARGV[1], ARGV[2]
--#include lib/record
local held = redis.call('HMGET', levels_key, '!', 'p')
if epoch ~= '' and held[1] and string.match(held[1], '[^:]*$') ~= epoch then return { 'other' } end
if version ~= '' and held[1] and string.match(held[1], '^[^:]*') ~= version then return { 'mismatch', held[1] } end
local used = held[2] and #held[2] >= RECORD_HEAD_BYTES and select(2, struct.unpack('<dd', held[2])) or 0
if used > 0 then return { 'live', used } end
for k = 1, #KEYS, 60 do redis.call('DEL', unpack(KEYS, k, math.min(k + 59, #KEYS))) end
return { held[1] and 'removed' or 'none' }
