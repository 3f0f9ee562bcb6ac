-- The rules of health-states.ts for states that several instances share: one slot for all profiles, because only failing profiles are
-- written here. An item is one of
--   'ask' | 'well' | 'failed' | 'reached' | 'forget', profile, time of day
-- with the answer
--   whether it may be asked (1, 0), whether its status has just changed (1, 0), status, since, failures, ms to rest
-- or 'read', born, last, with the answer
--   born, last, and of each profile whose status has changed after `last`: profile, status, since, failures, ms to rest
-- `born` is when this memory began: after a flush it has another value, and the caller reads everything again.
-- Kept: <slot> state by profile, <slot>:changes profiles by the stamp of their last change, <slot>:feed born and last stamp.
-- DOWN_AFTER, REST, FORGOTTEN_AFTER and PAGE come before this text.
local changes, feed = slot .. ':changes', slot .. ':feed'

local function stateOf(id)
  local kept = redis.call('HGET', slot, id)
  if not kept then return { status = 'gone', since = 0, failures = 0, rest = 0 } end
  local status, since, failures, rest = string.match(kept, '(%a+) (%d+) (%d+) (%d+)')
  return { status = status, since = tonumber(since), failures = tonumber(failures), rest = tonumber(rest) }
end

local function keep(id, state)
  redis.call('HSET', slot, id, string.format('%s %.0f %.0f %.0f', state.status, state.since, state.failures, state.rest))
end

-- Stamps only grow, also when the server's clock is set back, so a caller that reads on from the last stamp misses nothing.
local function announce(id)
  local stamp = math.max(math.floor(now), tonumber(redis.call('HGET', feed, 'stamp') or 0) + 1)
  redis.call('HSET', feed, 'stamp', stamp)
  redis.call('ZADD', changes, stamp, id)
end

local function forget(id)
  keep(id, { status = 'gone', since = 0, failures = 0, rest = 0 })
  announce(id)
end

local function outcome(state, what)
  if what == 'well' then return 0, 'up' end
  local failures = what == 'failed' and state.failures + 1 or math.min(state.failures, DOWN_AFTER - 1)
  return failures, failures >= DOWN_AFTER and 'down' or 'degraded'
end

local function note(id, state, what, since)
  local before = state.status == 'gone' and 'up' or state.status
  local failures, status = outcome(state, what)
  if status == 'up' and before == 'up' then return 0 end
  state.failures, state.status = failures, status
  if status == 'down' and before ~= 'down' then state.rest = math.ceil(now + REST) end
  if status ~= before then state.since = tonumber(since) end
  keep(id, state)
  if status == before then return 0 end
  announce(id)
  return 1
end

-- A rest longer than REST was written before the server's clock was set back, and counts as over.
local function restOf(state)
  if state.status ~= 'down' then return 0 end
  local left = math.ceil(state.rest - now)
  return left > REST + 1 and 0 or math.max(0, left)
end

local function mayAsk(id, state)
  if state.status ~= 'down' then return 1 end
  if restOf(state) > 0 then return 0 end
  state.rest = math.ceil(now + REST)
  keep(id, state)
  return 1
end

-- A profile without a request for so long may not exist any more.
local function forgetOld()
  local long = now - FORGOTTEN_AFTER
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', changes, '-inf', long, 'LIMIT', 0, 100)) do
    local state = stateOf(id)
    if state.status == 'up' or state.status == 'gone' then
      redis.call('HDEL', slot, id)
      redis.call('ZREM', changes, id)
    elseif state.rest < long then
      forget(id)
    else
      announce(id)
    end
  end
end

local function read(born, last)
  redis.call('HSETNX', feed, 'born', time[1] .. '.' .. time[2])
  local current = redis.call('HGET', feed, 'born')
  if born ~= current then last = '0' end
  forgetOld()
  local found = redis.call('ZRANGEBYSCORE', changes, '(' .. last, '+inf', 'WITHSCORES', 'LIMIT', 0, PAGE)
  local answer = { current, found[#found] or last }
  for at = 1, #found, 2 do
    local id, state = found[at], stateOf(found[at])
    for _, part in ipairs({ id, state.status, state.since, state.failures, restOf(state) }) do
      answer[#answer + 1] = part
    end
  end
  return answer
end

local answers = {}
for at = 3, #ARGV, 3 do
  local what, id, third = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  if what == 'read' then
    answers[#answers + 1] = read(id, third)
  else
    local state = stateOf(id)
    local isAsked, hasChanged = 1, 0
    if what == 'ask' then
      isAsked = mayAsk(id, state)
    elseif what == 'forget' then
      if state.status ~= 'gone' then forget(id) end
      state = stateOf(id)
    else
      hasChanged = note(id, state, what, third)
    end
    answers[#answers + 1] = { isAsked, hasChanged, state.status, state.since, state.failures, restOf(state) }
  end
end
return answers
