-- The arithmetic of one refill limit. Pure: numbers in, numbers out.
--
-- The idea. A limit of A units a period P is a bucket that fills evenly. Its level is kept as an integer of
-- "level units" chosen so that nothing is ever rounded:
--     one tick of time adds `rate` level units, one unit of cost is `factor` level units,
-- with factor = ticks in P (times a power of ten if A x headroom is no integer) and rate = A x headroom (times the
-- same power). No remainder field, no float, and polling a limit a thousand times a second loses nothing.
--
-- Worked example. 60 rpm, headroom 0.9, burst 5 s, tick 1 us: rate 54, factor 60,000,000, capacity 54 x 5,000,000 =
-- 270,000,000 (4.5 requests). A request costs 60,000,000. From a level of 30,000,000 the next one is due in
-- ceil(30,000,000 / 54) = 555,556 us, and not 1 us earlier.
--
-- Debt. A level may be negative: usage came out above its estimate, or a call larger than the bucket was let in. It
-- refills like any other level and admits nobody before it is back at what a call needs.
--
-- Refunds. What a permit did not use comes back, up to the capacity, unless the bucket has been full since: then time has
-- made it good already, and giving it back on top would let the same units pass twice.
--
-- What makes it exact. Lua's numbers are doubles: integers are exact below 2^53, and floor(a/b), ceil(a/b) are exact
-- for 0 <= a < 2^53 and b >= 1. So capacity - level is kept below 2^53 by a floor under the debt. What is added to a
-- level may pass 2^53 and be rounded, but then it is more than capacity - level and the level is the capacity either way;
-- what is taken is multiplied only after a comparison has shown that it fits. A level that is no number stays one.
-- Sources: "limit x elapsed" overflowing after long idle: bucket4j/bucket4j#51; fractions lost by polling:
-- apache/polaris#3433; waits rounded down: resilience4j/resilience4j#822.
local EXACT = 9007199254740991
local floor, ceil = math.floor, math.ceil

-- The level after `times` more of `each` level units: ticks that refill it, or units of cost given back. Never above the
-- capacity: one that is above it already (the limit was lowered) is cut to it.
local function refilled(level, capacity, each, times)
  if level >= capacity then return capacity end
  if times <= 0 then return level end
  local filled = level + times * each
  if filled > capacity then return capacity end
  return filled
end
