-- The rules of limiter.ts, bucket.ts, fair-share.ts and claims.ts, in the same order, for all instances and on the
-- server's clock. An item is one request of the slot's store:
--   key, source or '', revision of the limits, what is shared, what the key has reserved, 't' take | 'a' take for administration | 'l' look
-- and its answer
--   served (1, 0), bucket (1 reserved, 2 shared, 3 administration), reserved: quota, left, shared: quota, left, asked, retry after,
--   floor: thousandths of a token, how long full; pool: the same
-- With 'o' an instance hands in the requests of a key that it allowed during an outage. The source is then
-- 'away pool part since floor since': the milliseconds of the outage, the requests drawn from the pool, the instance's
-- part of the pool's rate, how long the pool had been full at the last call; then requests and time of the floor, whose
-- rate is not divided.
-- Stored as strings of doubles that expire, <slot>:2:limits and <slot>:2:key:<key>, and a hash <slot>:2:sources:<key>.
-- A change of their content raises the number 2: an older release then counts beside this one, in keys of its own.
slot = slot .. ':2'
local WIDTH = 6
local HAIR = 1e-6
local FORGOTTEN_AFTER = 9000
local NEVER = -1e15
-- By then all buckets are full and all shares forgotten. The clock of a test may stand still for longer.
local KEEP = ARGV[2] == '' and 10000 or 600000

local floor, ceil, max, min, exp = math.floor, math.ceil, math.max, math.min, math.exp
local pack, unpacked = struct.pack, struct.unpack
local call = redis.call
local second = floor(now / 1000)

local function capacityOf(rate) return rate + 2 * ceil(rate / 10) end
local function reserveOf(rate) return 2 * ceil(rate / 10) end
local function memoryOf(rate) return 500 + 10000 / max(rate, 1) end

-- `full`: for how many milliseconds in all the bucket was full, so that its inflow was lost. The count begins at the
-- time of day, so that a bucket that had expired counts as full meanwhile.
local function newBucket(rate, capacity)
  return { rate = rate, capacity = capacity, tokens = capacity, filled = now, full = now }
end

local function fill(bucket)
  if now > bucket.filled then
    local since = now - bucket.filled
    local tokens = bucket.tokens + since * bucket.rate / 1000
    if tokens >= bucket.capacity then
      local spilled = bucket.rate > 0 and (tokens - bucket.capacity) * 1000 / bucket.rate or since
      bucket.full = bucket.full + min(since, spilled)
      tokens = bucket.capacity
    end
    bucket.tokens = tokens
  end
  -- Also if the server's clock was set back: otherwise nothing would flow in until the clock has caught up.
  bucket.filled = now
end

local function draw(bucket, leaving)
  fill(bucket)
  if bucket.tokens < 1 + leaving - HAIR then return false end
  bucket.tokens = max(bucket.tokens - 1, 0)
  return true
end

-- The time of the change is unknown here, so an increase counts from the last call.
local function changeRate(bucket, rate)
  if rate < bucket.rate then fill(bucket) end
  bucket.capacity = capacityOf(rate)
  bucket.tokens = min(bucket.capacity, bucket.tokens)
  bucket.rate = rate
end

-- Draws the requests that an instance allowed during an outage. The inflow of the time in which the bucket was full was
-- not used, and pays for as many of them.
local function pay(bucket, owed, part, since, away, least)
  fill(bucket)
  local free = part * max(0, min(away, bucket.full - since)) / 1000
  bucket.tokens = max(min(bucket.tokens, least), bucket.tokens - max(0, owed - free))
end

local function secondsUntilToken(bucket, leaving)
  if bucket.rate <= 0 then return 60 end
  return max(1, ceil((1 + leaving - bucket.tokens) / bucket.rate - HAIR))
end

local function hadLately(share, memory)
  local since = now - share.at
  if since >= FORGOTTEN_AFTER then return 0 end
  if since > 0 then return share.had * exp(-since / memory) end
  return share.had
end

local function standing(share, most, memory)
  local had = hadLately(share, memory)
  if had == 0 then return 0 end
  return min(1, had / hadLately(most, memory))
end

local function give(share, most, memory)
  share.had = hadLately(share, memory) + 1
  share.at = now
  most.had = max(hadLately(most, memory), share.had)
  most.at = now
end

local function leavingOf(rate, ofDrawer, ofSource)
  return floor(ceil(rate / 10) * ofDrawer * (1 + ofSource) + 0.5 - HAIR)
end

-- The stored state of the store and of the keys of these items, by name, read with one command.
local limitsName = slot .. ':limits'
local keptOf = {}
do
  local names = { limitsName }
  for at = 3, #ARGV, WIDTH do
    local name = slot .. ':key:' .. ARGV[at]
    if keptOf[name] == nil then
      keptOf[name] = false
      names[#names + 1] = name
    end
  end
  local found = call('MGET', unpack(names))
  for at = 1, #names do keptOf[names[at]] = found[at] end
end

-- Only the first use in a second moves the expiry, so a value lives for at least nine seconds after its last use.
local function keep(name, value, isFirst)
  if isFirst then call('SET', name, value, 'PX', KEEP) else call('SETRANGE', name, 0, value) end
end

local limits, isChanged

local function limitsFor(revision, shared)
  if not limits then
    local kept = keptOf[limitsName]
    if kept then
      local rate, tokens, filled, full, had, at, adminTokens, adminFilled
      limits = {}
      limits.revision, rate, tokens, filled, full, had, at, adminTokens, adminFilled, limits.second =
        unpacked('dddddddddd', kept)
      limits.pool = { rate = rate, capacity = capacityOf(rate), tokens = tokens, filled = filled, full = full }
      limits.most = { had = had, at = at }
      limits.administration = { rate = 2, capacity = 2, tokens = adminTokens, filled = adminFilled, full = 0 }
    else
      limits = {
        revision = revision,
        pool = newBucket(shared, capacityOf(shared)),
        most = { had = 0, at = NEVER },
        administration = newBucket(2, 2),
        second = -1,
      }
    end
  end
  if revision > limits.revision then
    limits.revision = revision
    changeRate(limits.pool, shared)
  end
end

local keys = {}

local function keyFor(id, revision, reserved)
  local key = keys[id]
  local isNew = false
  if not key then
    local name = slot .. ':key:' .. id
    local kept = keptOf[name]
    key = { name = name, sources = {} }
    if kept then
      local rate, tokens, filled, full, programHad, programAt, publicHad, publicAt, mostHad, mostAt
      rate, tokens, filled, full, programHad, programAt, publicHad, publicAt, mostHad, mostAt, key.second, key.asked =
        unpacked('dddddddddddd', kept)
      if rate >= 0 then
        key.floor = { rate = rate, capacity = capacityOf(rate), tokens = tokens, filled = filled, full = full }
      end
      key.program = { had = programHad, at = programAt }
      key.public = { had = publicHad, at = publicAt }
      key.most = { had = mostHad, at = mostAt }
    else
      isNew = true
      key.program = { had = 0, at = NEVER }
      key.public = { had = 0, at = NEVER }
      key.most = { had = 0, at = NEVER }
      key.second, key.asked = -1, 0
    end
    keys[id] = key
  end
  local rate = key.floor and key.floor.rate or 0
  if (isNew or revision == limits.revision) and rate ~= reserved then
    if key.floor then changeRate(key.floor, reserved) else key.floor = newBucket(reserved, capacityOf(reserved)) end
  end
  return key
end

local function sourceMemoryOf(key) return memoryOf(limits.pool.rate + (key.floor and key.floor.rate or 0)) end

local function shareOf(key, id, source)
  local share = key.sources[source]
  if not share then
    local kept = call('HGET', slot .. ':sources:' .. id, source)
    share = { had = 0, at = NEVER }
    if kept then share.had, share.at = unpacked('dd', kept) end
    share.isFirst = floor(share.at / 1000) ~= second
    key.sources[source] = share
  end
  return share
end

-- Above the reserve, fairness changes nothing, so standings are not computed.
local function leavesOf(key, id, source)
  local pool, keyFloor = limits.pool, key.floor
  local ofFloor, ofPool = 0, reserveOf(pool.rate)
  fill(pool)
  local isPoolShort = pool.tokens < 1 + ofPool
  if keyFloor and source ~= '' then
    fill(keyFloor)
    ofFloor = reserveOf(keyFloor.rate)
  end
  local isFloorShort = ofFloor > 0 and keyFloor.tokens < 1 + ofFloor
  if not isPoolShort and not isFloorShort then return ofFloor, ofPool end
  local ofSource = source == '' and 0 or standing(shareOf(key, id, source), key.most, sourceMemoryOf(key))
  if isFloorShort then ofFloor = leavingOf(keyFloor.rate, 1, ofSource) end
  if isPoolShort then
    local drawer = source == '' and key.program or key.public
    ofPool = leavingOf(pool.rate, standing(drawer, limits.most, memoryOf(pool.rate)), ofSource)
  end
  return ofFloor, ofPool
end

local function leftIn(bucket, leaving)
  fill(bucket)
  return min(bucket.rate, max(0, floor(bucket.tokens + HAIR) - leaving))
end

-- The pool may fall below empty, as far as it can fill above: it gives nothing until the debt is paid. A floor never
-- falls below empty, so that a key that stays within its floor finds its reservation.
local function payBack(id, revision, shared, reserved, owed)
  limitsFor(revision, shared)
  local key = keyFor(id, revision, reserved)
  local away, ofPool, part, poolSince, ofFloor, floorSince = owed:match('(%S+) (%S+) (%S+) (%S+) (%S+) (%S+)')
  away = tonumber(away)
  if key.second ~= second then key.second, key.asked, key.isFirst = second, 0, true end
  isChanged, key.isChanged = true, true
  pay(limits.pool, tonumber(ofPool), tonumber(part), tonumber(poolSince), away, -limits.pool.capacity)
  if key.floor then pay(key.floor, tonumber(ofFloor), key.floor.rate, tonumber(floorSince), away, 0) end
  return {}
end

local function decide(id, source, revision, shared, reserved, what)
  limitsFor(revision, shared)
  local key = keyFor(id, revision, reserved)
  if key.second ~= second then key.second, key.asked, key.isFirst = second, 0, true end
  local served, bucket = false, 2
  local ofFloor, ofPool = leavesOf(key, id, source)
  local isAdministration = what == 'a'
  if what ~= 'l' then
    isChanged, key.isChanged = true, true
    key.asked = key.asked + 1
    if key.floor and draw(key.floor, ofFloor) then
      served, bucket = true, 1
    elseif draw(limits.pool, ofPool) then
      served = true
      give(source == '' and key.program or key.public, limits.most, memoryOf(limits.pool.rate))
    end
    if served and source ~= '' then
      local share = shareOf(key, id, source)
      give(share, key.most, sourceMemoryOf(key))
      share.isChanged = true
    end
    if not served and isAdministration and draw(limits.administration, 0) then served, bucket = true, 3 end
  end
  local retryAfter = 0
  local reservedQuota, reservedLeft = 0, 0
  if key.floor then reservedQuota, reservedLeft = key.floor.rate, leftIn(key.floor, ofFloor) end
  local sharedLeft = leftIn(limits.pool, ofPool)
  if not served then
    retryAfter = secondsUntilToken(limits.pool, ofPool)
    if key.floor then retryAfter = min(retryAfter, secondsUntilToken(key.floor, ofFloor)) end
    if isAdministration then retryAfter = min(retryAfter, secondsUntilToken(limits.administration, 0)) end
  end
  local floorTokens, floorFull = 0, 0
  if key.floor then floorTokens, floorFull = key.floor.tokens, key.floor.full end
  return {
    served and 1 or 0, bucket, reservedQuota, reservedLeft, limits.pool.rate, sharedLeft, key.asked, retryAfter,
    ceil(floorTokens * 1000), floor(floorFull), floor(limits.pool.tokens * 1000), floor(limits.pool.full),
  }
end

-- The first use of a source in a second moves the expiry of all sources: the key's own first use may be its program's.
-- A key has a thousand sources at most. Of five random ones the source that was served longest ago makes room.
local function keepSources(id, sources)
  local name = slot .. ':sources:' .. id
  local isKept = false
  for source, share in pairs(sources) do
    if share.isChanged then
      local isAdded = call('HSET', name, source, pack('dd', share.had, share.at)) == 1
      isKept = isKept or share.isFirst
      if isAdded and call('HLEN', name) > 1000 then
        local some = call('HRANDFIELD', name, 5, 'WITHVALUES')
        local oldest, oldestAt
        for at = 1, #some, 2 do
          local _, servedAt = unpacked('dd', some[at + 1])
          if some[at] ~= source and (not oldestAt or servedAt < oldestAt) then oldest, oldestAt = some[at], servedAt end
        end
        call('HDEL', name, oldest)
      end
    end
  end
  if isKept then call('PEXPIRE', name, KEEP) end
end

local answers = {}
for at = 3, #ARGV, WIDTH do
  local id, source, what = ARGV[at], ARGV[at + 1], ARGV[at + 5]
  local revision, shared, reserved = tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3]), tonumber(ARGV[at + 4])
  if what == 'o' then
    answers[#answers + 1] = payBack(id, revision, shared, reserved, source)
  else
    answers[#answers + 1] = decide(id, source, revision, shared, reserved, what)
  end
end
if isChanged then
  local pool, most, administration = limits.pool, limits.most, limits.administration
  keep(limitsName, pack('dddddddddd', limits.revision, pool.rate, pool.tokens, pool.filled, pool.full, most.had, most.at,
    administration.tokens, administration.filled, second), limits.second ~= second)
  for id, key in pairs(keys) do
    if key.isChanged then
      local kept = key.floor or { rate = -1, tokens = 0, filled = 0, full = 0 }
      keep(key.name, pack('dddddddddddd', kept.rate, kept.tokens, kept.filled, kept.full, key.program.had, key.program.at,
        key.public.had, key.public.at, key.most.had, key.most.at, key.second, key.asked), key.isFirst)
      keepSources(id, key.sources)
    end
  end
end
return answers
