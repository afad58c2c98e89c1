#!lua flags=no-writes
-- inspect: what a project holds, for people, status pages and tests. Changes nothing.
--
-- KEYS  the eight keys of the project, in the order of README.md
-- ARGV  1 now     us since 1970; empty in production
--       2 what    levels, policy, versions, version, permits, waiters, line, holds, provider, learned, hosts or call
--       3 cursor  permits and waiters: 0 to start, then the one of the last reply; learned: a class, none = all of them;
--                 hosts: the one that asks; version: which; call: an id
--       4 agent   learned: one in that class, none or - = all of it
--
-- Reply levels, stamp, now, due, waiters, permits, hosts, [name, count, ...], [scope, ...]
--                     permits = records, ended ones included; then the counters of rare events; then each scope:
--                     [name, slots, used, last, [limit, ...]], a limit: [name, active, level, capacity, factor, rate,
--                     units admitted in the gate's or the window's span, end of the calendar's window or 0], brought to now
--       policy, stamp, document, [scope, [name, ...], [active, ...]], ...   the limits of each scope by position
--       versions, [version, note, at, digest], ...   the last 50, the newest first
--       version, document   empty = it is not kept
--       permits, cursor, [permit, ...]   about 500; cursor 0 = the last. A permit: [id, state, host, version, granted,
--                     lease, memo, [scope, ...]]. Counting the running ones by scope must give each scope's `used`
--       waiters, cursor, [waiter, ...]   about 500: [id, state, host, class, flow, agent, arrival, since, deadline, [scope, ...]];
--                     state: waiting, again (to be submitted again) or place (kept for one that gave up)
--       line, clock, waiting, [class, ...], [flow, ...]   a class: [name, waiting, tag, clock, firm waiter or '']; a flow:
--                     [class, name, waiting, tag]; lib/order.lua tells what they mean
--       holds, [hold, ...]   [scope, end, opened or 0, most, used, counts, kind, retryable, failures, note, closed since]; lib/hold.lua
--       provider, [reading, ...]   what the provider said last: [scope, limit, units left, num, den of the policy's amount, full
--                     again at us, date of the answer in ms, seen at us]; -1 or 0 = not said
--       learned, [[class, agent, answers, output, tokens a byte, cached share], ...]   lib/learn.lua tells what they mean
--       call, permit, state, digest, nonce, memo, host, stamp, granted, lease, agent, scope, [cost, ...], scope, [cost, ...], ...
--                     the one of an id; of one that has ended the first four are known
--       call, waiter, digest, nonce, host   likewise one that stands in line
--       call, none    nobody goes by this id
--       hosts, count, rank   hosts that beat in the last 60 s, and the one that asks; how many of their ids sort before its own
--       lost, what
local policy_key, levels_key, permits_key, waiters_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local lines_key, times_key, hosts_key, learn_key = KEYS[5], KEYS[6], KEYS[7], KEYS[8]
local given_now, what, cursor, agent = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
--#include lib/bucket
--#include lib/record
--#include lib/hold
--#include lib/calendar
--#include lib/scope
--#include lib/window
--#include lib/permit
--#include lib/order
--#include lib/line
--#include lib/learn

if what == 'learned' then
  if redis.call('HEXISTS', learn_key, '!') == 0 then return { 'lost', 'learn' } end
  return { 'learned', cursor and { learn.known(cursor, agent or '-') } or learn.classes() }
end
-- A version's note, document, when it was installed, and digest; nil where it is not kept.
local function kept_version(number)
  local read, v = pcall(cmsgpack.unpack, redis.call('HGET', policy_key, 'v:' .. number) or '')
  if read and type(v) == 'table' and v[2] then return v end
  return nil
end
if what == 'version' then
  local v = kept_version(cursor)
  return { 'version', v and v[2] or '' }
end
if what == 'versions' then
  local reply, last = { 'versions' }, tonumber(redis.call('HGET', policy_key, 'version') or 0)
  for number = last, math.max(1, last - 49), -1 do
    local v = kept_version(number)
    if v then reply[#reply + 1] = { number, v[1], v[3] or 0, v[4] or '' } end
  end
  return reply
end
if what == 'permits' then
  local page = redis.call('HSCAN', permits_key, cursor, 'COUNT', 500)
  local list = {}
  for k = 1, #page[2], 2 do
    local p, scopes, at = read_permit(page[2][k + 1]), {}, SCOPES
    if p then
      while p[at] do
        scopes[#scopes + 1] = p[at]
        at = at + 2 + p[at + 1]
      end
      list[#list + 1] = {
        page[2][k], p[STATE], p[HOST] or '', tonumber(string.match(p[STAMP] or '0', '^%d+')), p[GRANTED] or 0, p[LEASE] or 0, p[MEMO], scopes,
      }
    end
  end
  return { 'permits', page[1], list }
end
if what == 'call' then
  local p = read_permit(redis.call('HGET', permits_key, cursor))
  local w = line.read(cursor, redis.call('HGET', waiters_key, cursor))
  if p and p[STATE] ~= '!' then
    local reply, at = { 'call', 'permit', p[STATE], p[DIGEST], p[NONCE], p[MEMO] }, SCOPES
    if p[at] then
      for k = HOST, LEASE do reply[#reply + 1] = p[k] end
      reply[#reply + 1] = p[AGENT]
    end
    while p[at] do
      reply[#reply + 1], reply[#reply + 2] = p[at], { unpack(p, at + 2, at + 1 + p[at + 1]) }
      at = at + 2 + p[at + 1]
    end
    return reply
  end
  if redis.call('HEXISTS', permits_key, '!') == 0 then return { 'lost', 'permits' } end
  if w and w.permit[STATE] ~= PLACE then return { 'call', 'waiter', w.permit[DIGEST], w.permit[NONCE], w.permit[HOST] } end
  return { 'call', 'none' }
end
local WORDS = { [WAITING] = 'waiting', [AGAIN] = 'again', [PLACE] = 'place' }
if what == 'waiters' then
  local page = redis.call('HSCAN', waiters_key, cursor, 'COUNT', 500)
  local list = {}
  for k = 1, #page[2], 2 do
    local w = string.find(page[2][k], '^[^!|%%]') and line.read(page[2][k], page[2][k + 1])
    if w and redis.call('HEXISTS', permits_key, w.id) == 0 then
      local scopes = {}
      for i, s in ipairs(w.scopes) do scopes[i] = s.name end
      list[#list + 1] = {
        w.id, WORDS[w.permit[STATE]], w.permit[HOST], w.class, w.flow, w.permit[AGENT], w.arrival, w.permit[GRANTED], w.deadline, scopes,
      }
    end
  end
  return { 'waiters', page[1], list }
end
if what == 'line' then
  if not line.load() then return { 'lost', 'waiters' } end
  local class_list, flow_list, firm = {}, {}, {}
  for _, one in ipairs(line.firm) do firm[one.class] = one.id end
  for _, entry in ipairs(redis.call('ZRANGEBYLEX', lines_key, '[t|', '(t}')) do
    local name, flow = string.match(entry, '^t|([^|]*)|?(.*)$')
    local c = line.class(name)
    if flow == '' then
      class_list[#class_list + 1] = { name, c.waiting, c.tag, c.clock, firm[name] or '' }
    else
      local raw = cmsgpack.unpack(redis.call('HGET', waiters_key, '|' .. name .. '|' .. flow))
      if raw[6] == c.generation then
        local f = line.flow(c, flow)
        flow_list[#flow_list + 1] = { name, flow, f.waiting, f.tag }
      end
    end
  end
  return { 'line', line.clock, line.waiting, class_list, flow_list }
end
if what == 'hosts' then
  local at = time_now(given_now, 0)
  local count, rank, own = 0, 0, false
  for _, name in ipairs(redis.call('ZRANGEBYSCORE', hosts_key, at - 60000000, '(inf')) do
    count = count + 1
    if name < cursor then rank = rank + 1 end
    own = own or name == cursor
  end
  return { 'hosts', own and count or count + 1, rank }
end
if what == 'holds' then
  local reply = { 'holds' }
  for k, h in ipairs(hold.each()) do
    reply[1 + k] = { h.name, h.till, h.opened, h.most, h.used, h.counts, h.kind, h.retryable, h.failures, h.note, h.since }
  end
  return reply
end
if what == 'provider' then
  local reply, kept = { 'provider' }, redis.call('HGETALL', learn_key)
  for k = 1, #kept, 2 do
    local scope, limit = string.match(kept[k], '^r|(.*)|([^|]*)$')
    local read, seen = pcall(cmsgpack.unpack, kept[k + 1])
    if scope and read and type(seen) == 'table' then
      reply[#reply + 1] = { scope, limit, seen[1], seen[2], seen[3], seen[4], seen[5], seen[6] }
    end
  end
  return reply
end
if what ~= 'levels' and what ~= 'policy' then return redis.error_reply('BADARG what') end

local kept = redis.call('HGETALL', levels_key)
local raw, counters, names = {}, {}, {}
for k = 1, #kept, 2 do
  local field = kept[k]
  raw[field] = kept[k + 1]
  if string.sub(field, 1, 1) == '#' then
    counters[#counters + 1] = string.sub(field, 2)
    counters[#counters + 1] = tonumber(kept[k + 1])
  elseif string.sub(field, 1, 1) == '=' then
    names[#names + 1] = string.sub(field, 2)
  elseif what == 'levels' and #names < 2000 and string.find(field, '^[aer]:.') then
    names[#names + 1] = field
  end
end
local project = read_scope('p', raw['=p'], raw.p)
if not raw['!'] or not tonumber(raw['!due']) or not project then return { 'lost', 'levels' } end
local now = time_now(given_now, project.levels[1])
table.sort(names)
if what == 'policy' then
  local reply = { 'policy', raw['!'], redis.call('HGET', policy_key, 'document') }
  for _, name in ipairs(names) do
    local s = read_scope(name, raw['=' .. name], raw[name])
    if not s then return { 'lost', name } end
    local active = {}
    for i = 1, s.n do active[i] = select(2, limit_at(s, i)) end
    reply[#reply + 1] = { name, limit_names(s), active }
  end
  return reply
end
local scopes = {}
for _, name in ipairs(names) do
  local s = read_scope(name, raw[layout_field(name)], raw[name])
  if not s then return { 'lost', name } end
  advance(s, now)
  local limits, limit_name = {}, limit_names(s)
  for i = 1, s.n do
    local _, active, rate, factor, _, capacity, _, _, _, _, _, number = limit_at(s, i)
    local ends = number > 0 and s.levels[3 * i + 1] or 0
    limits[i] = { limit_name[i], active, s.levels[3 * i], capacity, factor, rate, window.admitted(s, i), ends }
  end
  scopes[#scopes + 1] = { name, s.slots, s.levels[2], s.levels[1], limits }
end
return {
  'levels', raw['!'], now, raw['!due'], cmsgpack.unpack(redis.call('HGET', waiters_key, '!'))[2], redis.call('HLEN', permits_key) - 1,
  redis.call('ZCOUNT', hosts_key, now - 60000000, '+inf') - 1, counters, scopes,
}
