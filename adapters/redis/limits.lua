-- Token buckets of a person and a place. KEYS[1] is the prefix; ARGV: person, place, when the
-- question was asked, then burst and refill a second for each of the two, and the seconds between
-- two requests to slow down. A bucket that is full again is forgotten.
local person, place, at = ARGV[1], ARGV[2], tonumber(ARGV[3])
local tell_every = tonumber(ARGV[8])

local function bucket(name, burst, refill)
  local found = redis.call('HMGET', KEYS[1] .. name, 'tokens', 'at')
  local tokens, since = tonumber(found[1]) or burst, tonumber(found[2]) or at
  return {
    key = KEYS[1] .. name,
    tokens = math.min(burst, tokens + math.max(0, at - since) * refill),
    at = math.max(since, at),
    full_after = math.ceil(burst / refill) + 1,
  }
end

local buckets = {
  bucket(':person:' .. person, tonumber(ARGV[4]), tonumber(ARGV[5])),
  bucket(':place:' .. place, tonumber(ARGV[6]), tonumber(ARGV[7])),
}
local admitted = buckets[1].tokens >= 1 and buckets[2].tokens >= 1
for _, one in ipairs(buckets) do
  local left = admitted and one.tokens - 1 or one.tokens
  redis.call('HSET', one.key, 'tokens', tostring(left), 'at', string.format('%.6f', one.at))
  redis.call('EXPIRE', one.key, one.full_after)
end
if admitted then return 'admitted' end

local told_key = KEYS[1] .. ':told:' .. person .. ' ' .. place
local told = tonumber(redis.call('GET', told_key))
if told and at - told < tell_every then return 'drop' end
redis.call('SET', told_key, string.format('%.6f', at), 'EX', math.ceil(tell_every) + 1)
return 'tell'
