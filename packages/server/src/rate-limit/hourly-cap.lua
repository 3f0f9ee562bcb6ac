-- An item is one use of the slot: its name, 'take' or 'back', then two counters with their limits in an hour. A counter
-- without a name is left out. 'take' notes the use in both counters and returns 0, or in none, and returns the
-- milliseconds until both have room and the index of the counter with the longest wait. 'back' forgets the use.
-- A counter is a sorted set, <slot>:hourly:<counter>: the uses of the last hour by their time.
local HOUR = 3600000

local function countersOf(at)
  local counters = {}
  for of = at + 2, at + 4, 2 do
    if ARGV[of] ~= '' then counters[#counters + 1] = { key = slot .. ':hourly:' .. ARGV[of], most = tonumber(ARGV[of + 1]) } end
  end
  return counters
end

local function waitFor(counter)
  redis.call('ZREMRANGEBYSCORE', counter.key, '-inf', now - HOUR)
  -- If the server's clock was set back, uses ahead of it would count for longer than an hour.
  redis.call('ZREMRANGEBYSCORE', counter.key, '(' .. string.format('%.3f', now), '+inf')
  local count = redis.call('ZCARD', counter.key)
  if count < counter.most then return 0 end
  local inTheWay = redis.call('ZRANGE', counter.key, count - counter.most, count - counter.most, 'WITHSCORES')
  return math.max(1, math.ceil(tonumber(inTheWay[2]) + HOUR - now))
end

local function take(use, counters)
  local longest, full = 0, 0
  for which, counter in ipairs(counters) do
    local wait = waitFor(counter)
    if wait > longest then longest, full = wait, which - 1 end
  end
  if longest > 0 then return { longest, full } end
  for _, counter in ipairs(counters) do
    redis.call('ZADD', counter.key, string.format('%.3f', now), use)
    redis.call('PEXPIRE', counter.key, HOUR)
  end
  return 0
end

local answers = {}
for at = 3, #ARGV, 6 do
  local counters = countersOf(at)
  if ARGV[at + 1] == 'take' then
    answers[#answers + 1] = take(ARGV[at], counters)
  else
    for _, counter in ipairs(counters) do redis.call('ZREM', counter.key, ARGV[at]) end
    answers[#answers + 1] = 0
  end
end
return answers
