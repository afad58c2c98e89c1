#!lua
-- observe: what the provider's answers taught one host.
--
-- KEYS  the eight keys of the project, in the order of README.md
-- ARGV  1 now     us since 1970; empty in production
--       2 host    who tells
--       3 count   how many observations follow, 0 to 64; each is its kind, then its values:
--       learn     what lib/learn.lua says
--
-- Reply observed, now, stamp, [observation, ...]   of each, in order, a list of what it did:
--           learn   {answers, output, tokens a byte, cached share} of the class, then the four of the agent
--       lost, what   part of the project's state is missing: install the policy again
local levels_key, learn_key = KEYS[2], KEYS[8]
local given_now, observations = ARGV[1], tonumber(ARGV[3])
--#include lib/bucket
--#include lib/record
--#include lib/scope
--#include lib/learn

if not observations or not (observations >= 0 and observations <= 64) or observations % 1 ~= 0 then return redis.error_reply('BADARG count') end
local all, at = {}, 4
for k = 1, observations do
  local kind, next_at, told = ARGV[at], nil, 'kind'
  if kind == 'learn' then next_at, told = learn.read(at + 1) end
  if not next_at then return redis.error_reply('BADARG ' .. told) end
  all[k], at = told, next_at
end
if ARGV[at] then return redis.error_reply('BADARG count') end

local held = redis.call('HMGET', levels_key, '!', '=p', 'p')
local project = read_scope('p', held[2], held[3])
if not held[1] or not project then return { 'lost', 'levels' } end
if redis.call('HEXISTS', learn_key, '!') == 0 then return { 'lost', 'learn' } end
local now = time_now(given_now, project.levels[1])
local done = {}
for k, told in ipairs(all) do done[k] = learn.note(told, now) end
return { 'observed', now, held[1], done }
