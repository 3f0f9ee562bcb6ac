-- sign-in-throttle.ts for several instances. An item is one step of one attempt of the slot's store:
--   'check' | 'succeeded' | 'abandoned', 1 for the back office, names of pair, source and account, `most` of each.
-- Its answer is the number of seconds to wait, or 0. PAIR, SOURCE, ACCOUNT, FAMILIAR and MAX_FAMILIAR are defined before this text.
local familiar = slot .. ':sign-in:familiar'

local function isFamiliar(pair)
  local at = redis.call('ZSCORE', familiar, pair)
  return at and now - at < FAMILIAR
end

local function allowance(kind, name, of, most)
  return bucketOf('sign-in:' .. kind .. ':' .. name, of.rate, of.burst, tonumber(most))
end

local answers = {}
for at = 3, #ARGV, 8 do
  local step, isBackOffice, pair, source, account = unpack(ARGV, at, at + 4)
  local ofPair = allowance('pair', pair, PAIR, ARGV[at + 5])
  local ofAccount = allowance('account', account, ACCOUNT, ARGV[at + 7])
  local charged = { ofAccount }
  if isBackOffice ~= '1' then
    local ofSource = allowance('source', source, SOURCE, ARGV[at + 6])
    charged = { ofPair, ofSource }
    if not isFamiliar(pair) then charged[3] = ofAccount end
  end
  if step == 'check' then
    answers[#answers + 1] = drawAll(charged)
  else
    for _, bucket in ipairs(charged) do
      bucket.tokens = math.min(bucket.capacity, bucket.tokens + 1)
      keep(bucket)
    end
    if step == 'succeeded' then
      ofPair.tokens = ofPair.capacity
      keep(ofPair)
      redis.call('ZADD', familiar, now, pair)
      redis.call('ZREMRANGEBYSCORE', familiar, '-inf', now - FAMILIAR)
      redis.call('ZREMRANGEBYRANK', familiar, 0, -MAX_FAMILIAR - 1)
      redis.call('PEXPIRE', familiar, FAMILIAR)
    end
    answers[#answers + 1] = 0
  end
end
return answers
