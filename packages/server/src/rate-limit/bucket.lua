-- bucket.ts once more, for buckets that several instances share: the same arithmetic, on the server's clock. A bucket is a
-- string of two doubles, how many tokens there were and when. It expires when it would be full even if it was empty: by then
-- no instance thinks that less is there.
local HAIR = 1e-6

local function keep(bucket)
  local fullAfter = math.ceil(bucket.capacity / bucket.rate * 1000)
  -- A clock in a test's hand may stand still for longer than that.
  if ARGV[2] ~= '' then fullAfter = 600000 end
  redis.call('SET', bucket.key, struct.pack('dd', bucket.tokens, now), 'PX', fullAfter)
end

-- `most`: what the asking instance thinks is there, for a bucket that is not kept here. It may have been, before a flush.
local function bucketOf(name, rate, capacity, most)
  local bucket = { key = slot .. ':' .. name, rate = rate, capacity = capacity, tokens = math.min(capacity, most) }
  local kept = redis.call('GET', bucket.key)
  if kept then
    local tokens, filled = struct.unpack('dd', kept)
    if now > filled then tokens = tokens + (now - filled) * rate / 1000 end
    bucket.tokens = math.min(capacity, tokens)
    -- A server's clock that was set back brings nothing and takes nothing; from then on it is the one that counts, also where nothing
    -- is taken: an empty bucket would else stay empty until that clock is where it was.
    if now < filled then keep(bucket) end
  end
  return bucket
end

-- Takes one of each, or nothing. The answer is how many seconds until there is one of each; 0 when they were taken.
local function drawAll(buckets)
  local wait = 0
  for _, bucket in ipairs(buckets) do
    if bucket.tokens < 1 - HAIR then
      wait = math.max(wait, 1, math.ceil((1 - bucket.tokens) / bucket.rate - HAIR))
    end
  end
  if wait > 0 then return wait end
  for _, bucket in ipairs(buckets) do
    bucket.tokens = bucket.tokens > 1 and bucket.tokens - 1 or 0
    keep(bucket)
  end
  return 0
end
