#!lua flags=allow-oom
-- index: which projects there are, so that nobody has to search for keys. About no project of its own, so it has a slot of its own.
-- Also the question whether this Redis takes writes: it refuses a script that may write before that begins, where it is a replica,
-- cannot save, or its user may not. Not where it is full: endings and beats get through then.
--
-- KEYS  {sluice}:projects   hash: project -> version in force, or -<ms> where it was removed then: whoever still knows its policy must
--                           not take it for one that lost its state, and bring it back
-- ARGV  1 what      put, removed, or ask: nothing is read or written, the reply is all
--       2 project   put, removed
--       3 version   put: a lower one than there is changes nothing, but after a removal
--
-- Reply done
local projects_key, what, project, version = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3])
local CROWDED, REMEMBERED = 2000, 86400000

if what == 'ask' then return { 'done' } end
if what == 'put' then
  if not version or not (version > 0) then return redis.error_reply('BADARG version') end
  if version > (tonumber(redis.call('HGET', projects_key, project)) or 0) then
    redis.call('HSET', projects_key, project, version)
  end
  return { 'done' }
end
if what ~= 'removed' then return redis.error_reply('BADARG what') end
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
redis.call('HSET', projects_key, project, string.format('-%.0f', now))
if redis.call('HLEN', projects_key) > CROWDED then
  local kept = redis.call('HGETALL', projects_key)
  for k = 1, #kept, 2 do
    local at = tonumber(kept[k + 1]) or 0
    if at < 0 and now + at > REMEMBERED then redis.call('HDEL', projects_key, kept[k]) end
  end
end
return { 'done' }
