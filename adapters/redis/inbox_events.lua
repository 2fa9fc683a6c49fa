-- Events of the inbox. With inbox.lua behind it, one script: nothing comes between its steps.
--
-- KEYS[1] is the prefix, hash tag included: all other keys begin with it, so that they lie in the
-- same slot of a cluster. ARGV: operation, time ("" for the server's own), parameters as JSON.
-- Ids and leases are microseconds of the server's clock, and grow: a replica that takes over
-- without the last writes gives out none of them again. They travel as strings.
--
--   event:<id>        hash of one event; part:<n> is "<lease> <leg>"
--   key:<key>         the id behind an event's key
--   token:<lease>     the id that a lease was given for
--   lane:<lane>       open events of one lane, by arrival
--   open              all open events, by arrival
--   waiting:<platform>  heads of lanes that may be taken, by arrival
--   asleep:<platform>   heads of lanes at work or put off, by the time they wake
--   place:<platform>:<place>  every event of a place, by the time it was finished
--   homes:<platform>  new ids of places, by their old ones
--   platforms         names
local prefix, operation, p = KEYS[1] .. ':', ARGV[1], cjson.decode(ARGV[3])
local clock = redis.call('TIME')
local micros = clock[1] * 1000000 + clock[2]
local now = tonumber(ARGV[2]) or micros / 1000000
local LIFE = 30 * 86400    -- seconds that an open event is kept
local LEASE_KNOWN = 86400  -- seconds that a lost lease can confirm what it sent
local ENDLESS = '+inf'
local AT_ONCE = 10         -- names that one event takes with it

local function k(...) return prefix .. table.concat({...}, ':') end
local function int(number) return string.format('%.0f', number) end

local function fresh(counter)
  local last = tonumber(redis.call('GET', k(counter)) or '0')
  local value = int(math.max(last + 1, micros))
  redis.call('SET', k(counter), value, 'EX', LIFE)
  return value
end

local function read(id, ...)
  return redis.call('HMGET', k('event', id), ...)
end

local function first(zset) return redis.call('ZRANGE', zset, 0, 0)[1] end

local function add(zset, score, id)
  redis.call('ZADD', zset, score, id)
  redis.call('EXPIRE', zset, LIFE)
end

-- The first event of a lane may be taken, unless it is at work or put off.
local function promote(platform, lane)
  local id = first(k('lane', lane))
  if id and not redis.call('ZSCORE', k('asleep', platform), id) then
    add(k('waiting', platform), id, id)
  end
end

local function is_open(id)
  local found = read(id, 'key', 'closed_at')
  return found[1] and not found[2]
end

local function leased(token)
  local id = redis.call('GET', k('token', token))
  if id and is_open(id) and read(id, 'token')[1] == token then return id end
end

local function parts(id)
  local found = {}
  for _, field in ipairs(redis.call('HKEYS', k('event', id))) do
    if string.sub(field, 1, 5) == 'part:' then table.insert(found, field) end
  end
  return found
end

-- Forgets all but the key. The lease's holder finds its token void.
local function close(id)
  local platform, lane, place, key, retention =
    unpack(read(id, 'platform', 'lane', 'place', 'key', 'retention'))
  redis.call('ZREM', k('lane', lane), id)
  redis.call('ZREM', k('open'), id)
  redis.call('ZREM', k('waiting', platform), id)
  redis.call('ZREM', k('asleep', platform), id)
  redis.call('HDEL', k('event', id), 'body', 'reply', 'sign', unpack(parts(id)))
  redis.call('HSET', k('event', id), 'closed_at', now)
  redis.call('EXPIRE', k('event', id), retention)
  redis.call('EXPIRE', k('key', key), retention)
  add(k('place', platform, place), now, id)
  promote(platform, lane)
  return 1
end

local function forget(id)
  local platform, place, key = unpack(read(id, 'platform', 'place', 'key'))
  redis.call('DEL', k('event', id), k('key', key))
  redis.call('ZREM', k('place', platform, place), id)
end

-- The question behind a key, if nobody works on it and no answer is kept.
local function pending(key)
  local id = redis.call('GET', k('key', key))
  if not id or not is_open(id) then return end
  local lease_until, reply = unpack(read(id, 'lease_until', 'reply'))
  if tonumber(lease_until) <= now and not reply then return id end
end

local function stored(id)
  local body, place, sign, revision = unpack(read(id, 'body', 'place', 'sign', 'revision'))
  return {id, body, place, sign or '', revision}
end

local function lane_of(lane)
  local found = {}
  for _, id in ipairs(redis.call('ZRANGE', k('lane', lane), 0, -1)) do
    if is_open(id) then
      local event = stored(id)
      table.insert(event, #parts(id))
      table.insert(found, event)
    end
  end
  return found
end

-- Events that expired unanswered leave their names behind.
local function trim(platform, place, lane)
  local oldest = micros - LIFE * 1000000
  for _, zset in ipairs({k('lane', lane), k('open'), k('waiting', platform)}) do
    redis.call('ZREMRANGEBYSCORE', zset, '-inf', oldest)
  end
  local home = k('place', platform, place)
  redis.call('ZREMRANGEBYSCORE', home, '-inf', now - p.retention)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', home, ENDLESS, ENDLESS, 'LIMIT', 0, AT_ONCE)) do
    if tonumber(id) < oldest then redis.call('ZREM', home, id) end
  end
end
