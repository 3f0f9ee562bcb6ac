-- The functions of bucket.ts for buckets that instances share, on the server's clock. A bucket is a string of two
-- doubles: its tokens and their time. It expires after the time in which an empty bucket fills.
local HAIR = 1e-6

local function keep(bucket)
  local fullAfter = math.ceil(bucket.capacity / bucket.rate * 1000)
  -- The clock of a test may stand still for longer.
  if ARGV[2] ~= '' then fullAfter = 600000 end
  redis.call('SET', bucket.key, struct.pack('dd', bucket.tokens, now), 'PX', fullAfter)
end

-- `most`: the tokens of a bucket that is missing here, by the caller's own count: a flush may have removed the bucket.
local function bucketOf(name, rate, capacity, most)
  local bucket = { key = slot .. ':' .. name, rate = rate, capacity = capacity, tokens = math.min(capacity, most) }
  local kept = redis.call('GET', bucket.key)
  if kept then
    local tokens, filled = struct.unpack('dd', kept)
    if now > filled then tokens = tokens + (now - filled) * rate / 1000 end
    bucket.tokens = math.min(capacity, tokens)
    -- If the server's clock was set back, the bucket goes on from its new time. Without this write an empty bucket
    -- would stay empty until the clock has caught up.
    if now < filled then keep(bucket) end
  end
  return bucket
end

-- Takes one token of each bucket and returns 0, or takes none and returns the seconds until each has one.
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
