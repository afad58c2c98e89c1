-- What calls really use, learned from their usage: how much output, how many tokens a byte of request has, what part of the
-- input comes from the provider's cache. For each class, and the output for each agent in it too. Touches {project}:learn only.
--
-- Output. A histogram of quarter octaves: bucket k counts the answers with more than edge(k - 1) and at most edge(k) tokens,
-- edge(k) = floor(2^(k/4)): 1, ... 256, 304, 362, 430, 512 ... 2^20. What 95 of 100 answers fit in is the edge of the first
-- bucket that they fill: never too low, and at most 19 % too high. Counts are in sixteenths, and all are halved once they
-- pass 1,000 answers: what an answer weighs halves with every 500 or so that follow it. Example: 95 answers of 500 tokens and
-- 5 of 8,000 give 512; with 6 of 8,000 it is 8,192. Below 20 answers nothing is sure: twice the largest, where that is more.
--
-- Tokens a byte and the cached share are quotients of sums that are halved with the histogram.
--
-- Fields: `c|<class>` and `a|<class>|<agent>`, each when it was last seen (us, a double) and MessagePack
-- [bytes, their tokens, cached, input, answers in sixteenths, largest, bucket, count, bucket, count, ...], the first four of
-- classes only; `#records` how many there are. Above 2,000 the 100 seen longest ago go.
local learn = {}
local STEPS = { 1, 1.189207115002721, 1.4142135623730951, 1.681792830507429 }
local LAST_BUCKET, SIXTEENTHS, HALVED_ABOVE, SURE = 80, 16, 16 * 1000, 16 * 20
local MOST_RECORDS, GO_AT_ONCE, MOST_OUTPUTS, MOST_ANSWERS = 2000, 100, 128, 1000000
-- A sum times a million is exact.
local MOST_SUM, MILLION = 2 ^ 32, 1000000
local SUMS, HEAD = 4, 6

function learn.edge(k) return floor(STEPS[k % 4 + 1] * 2 ^ floor(k / 4)) end

function learn.bucket_of(tokens)
  local k = tokens > 1 and math.min(LAST_BUCKET, floor(math.log(tokens) / math.log(2) * 4)) or 0
  while k > 0 and learn.edge(k - 1) >= tokens do k = k - 1 end
  while k < LAST_BUCKET and learn.edge(k) < tokens do k = k + 1 end
  return k
end

function learn.whole(at, most)
  local number = tonumber(ARGV[at])
  return number and number >= 0 and number <= most and number % 1 == 0 and number or nil
end

function learn.is_name(text) return text and #text <= 128 and string.find(text, '^[%w._:/@-]+$') ~= nil end

-- Reads from ARGV: class, agent (- = none), bytes of requests and the tokens they had, cached tokens and all input tokens
-- (0 0 = not known), n (0 to 128), then n times output tokens and how many answers had so many. Returns the place after
-- them and what they tell, or nil and the argument that is wrong. Nothing told at all only asks what is known.
function learn.read(at)
  local told = { class = ARGV[at], agent = ARGV[at + 1], sums = {}, outputs = {} }
  if not learn.is_name(told.class) then return nil, 'class' end
  if not learn.is_name(told.agent) then return nil, 'agent' end
  for i = 1, SUMS do
    told.sums[i] = learn.whole(at + 1 + i, EXACT)
    if not told.sums[i] then return nil, i <= 2 and 'bytes' or 'input' end
  end
  if told.sums[3] > told.sums[4] then return nil, 'input' end
  local n = learn.whole(at + 2 + SUMS, MOST_OUTPUTS)
  if not n then return nil, 'outputs' end
  at = at + 3 + SUMS
  for i = 1, 2 * n, 2 do
    told.outputs[i], told.outputs[i + 1] = learn.whole(at, EXACT), learn.whole(at + 1, MOST_ANSWERS)
    if not told.outputs[i] or not told.outputs[i + 1] then return nil, 'outputs' end
    at = at + 2
  end
  told.nothing = n == 0 and told.sums[1] == 0 and told.sums[4] == 0
  return at, told
end

function learn.record_of(raw)
  local read, parts = pcall(cmsgpack.unpack, raw and string.sub(raw, 9) or '')
  local r = { 0, 0, 0, 0, total = 0, largest = 0, counts = {} }
  if not raw or not read or type(parts) ~= 'table' or #parts < HEAD then return r end
  for i = 1, SUMS do r[i] = parts[i] end
  r.total, r.largest = parts[SUMS + 1], parts[SUMS + 2]
  for i = HEAD + 1, #parts, 2 do r.counts[parts[i]] = parts[i + 1] end
  return r
end

function learn.packed(r, now)
  local parts = { r[1], r[2], r[3], r[4], r.total, r.largest }
  for k = 0, LAST_BUCKET do
    if r.counts[k] then
      parts[#parts + 1] = k
      parts[#parts + 1] = r.counts[k]
    end
  end
  return struct.pack('<d', now) .. cmsgpack.pack(parts)
end

function learn.halve(r)
  for i = 1, SUMS do r[i] = floor(r[i] / 2) end
  r.total = 0
  for k = 0, LAST_BUCKET do
    local half = floor((r.counts[k] or 0) / 2)
    r.counts[k] = half > 0 and half or nil
    r.total = r.total + half
  end
end

function learn.add(r, told, sums)
  for i = 1, sums do r[i] = r[i] + told.sums[i] end
  for i = 1, #told.outputs, 2 do
    local k, weight = learn.bucket_of(told.outputs[i]), SIXTEENTHS * told.outputs[i + 1]
    if weight > 0 then
      r.counts[k] = (r.counts[k] or 0) + weight
      r.total, r.largest = r.total + weight, math.max(r.largest, told.outputs[i])
    end
  end
  while r.total > HALVED_ABOVE or math.max(r[1], r[2], r[4]) > MOST_SUM do learn.halve(r) end
end

-- The output that 95 of 100 answers do not pass.
function learn.usual_output(r)
  local seen = 0
  for k = 0, LAST_BUCKET do
    seen = seen + (r.counts[k] or 0)
    if r.total > 0 and seen * 100 >= r.total * 95 then
      return r.total < SURE and math.max(learn.edge(k), 2 * r.largest) or learn.edge(k)
    end
  end
  return 0
end

-- Answers, output, millionths of a token a byte (up), millionths of the input that is cached (down); 0 = not known.
function learn.numbers(r)
  return floor(r.total / SIXTEENTHS), learn.usual_output(r), r[1] > 0 and math.ceil(r[2] * MILLION / r[1]) or 0,
    r[4] > 0 and floor(r[3] * MILLION / r[4]) or 0
end

function learn.field_of(class, agent) return agent == '-' and 'c|' .. class or 'a|' .. class .. '|' .. agent end

function learn.forget_some()
  local kept, all = redis.call('HGETALL', learn_key), {}
  for i = 1, #kept, 2 do
    if string.find(kept[i], '^[ca]|') then
      all[#all + 1] = { #kept[i + 1] > 8 and struct.unpack('<d', kept[i + 1]) or 0, kept[i] }
    end
  end
  table.sort(all, function(a, b) return a[1] < b[1] or a[1] == b[1] and a[2] < b[2] end)
  for i = 1, math.min(GO_AT_ONCE, #all) do redis.call('HDEL', learn_key, all[i][2]) end
  redis.call('HSET', learn_key, '#records', #all - math.min(GO_AT_ONCE, #all))
end

-- Takes in what was told. Returns what is known then, four numbers of the class and four of the agent in it.
function learn.note(told, now)
  local own, fields = told.agent ~= '-', { learn.field_of(told.class, '-'), learn.field_of(told.class, told.agent) }
  local held = redis.call('HMGET', learn_key, unpack(fields))
  local class, agent = learn.record_of(held[1]), learn.record_of(held[2])
  if not told.nothing then
    learn.add(class, told, SUMS)
    learn.add(agent, told, own and 0 or SUMS)
    local made = (held[1] and 0 or 1) + (own and not held[2] and 1 or 0)
    redis.call('HSET', learn_key, fields[1], learn.packed(class, now), fields[2], learn.packed(agent, now))
    if made > 0 and redis.call('HINCRBY', learn_key, '#records', made) > MOST_RECORDS then learn.forget_some() end
  end
  local a, b, c, d = learn.numbers(class)
  return { a, b, c, d, learn.numbers(agent) }
end

-- What is known of a class, or of an agent in it: the names, then the four numbers.
function learn.known(class, agent)
  return { class, agent, learn.numbers(learn.record_of(redis.call('HGET', learn_key, learn.field_of(class, agent)))) }
end

-- The same of every class, by name.
function learn.classes()
  local list = {}
  for _, field in ipairs(redis.call('HKEYS', learn_key)) do
    if string.sub(field, 1, 2) == 'c|' then list[#list + 1] = string.sub(field, 3) end
  end
  table.sort(list)
  for i, class in ipairs(list) do list[i] = learn.known(class, '-') end
  return list
end
