-- What can be done with events; inbox_events.lua stands before it.
local operations = {}

function operations.put()
  local home = redis.call('HGET', k('homes', p.platform), p.place)
  if home and p.kind ~= 'moved' then return {'home', home} end
  trim(p.platform, p.place, p.lane)
  local known = redis.call('GET', k('key', p.key))
  if known then
    local key, closed_at, moved, at = unpack(read(known, 'key', 'closed_at', 'moved', 'at'))
    if closed_at and tonumber(closed_at) < now - p.retention then
      forget(known)
    elseif key and (moved ~= '1' or at == p.at) then
      return {'known'}
    elseif key then  -- the new place counts its messages anew: another one, same number
      redis.call('HSET', k('event', known), 'key', key .. '@' .. known)
    end
  end
  local id, event = fresh('ids'), nil
  event = k('event', id)
  redis.call('HSET', event, 'key', p.key, 'platform', p.platform, 'place', p.place,
    'message', p.message, 'kind', p.kind, 'lane', p.lane, 'rest', p.rest, 'at', p.at,
    'body', p.body, 'retention', p.retention, 'attempt', 0, 'token', '0', 'lease_until', 0,
    'edited_at', 0, 'revision', 0)
  redis.call('EXPIRE', event, LIFE)
  add(k('lane', p.lane), id, id)
  add(k('open'), id, id)
  add(k('place', p.platform, p.place), ENDLESS, id)
  redis.call('SADD', k('platforms'), p.platform)
  redis.call('EXPIRE', k('platforms'), LIFE)
  promote(p.platform, p.lane)
  redis.call('SET', k('key', p.key), id, 'EX', LIFE)  -- known once all is there
  return {'stored'}
end

function operations.pending()
  local home = redis.call('HGET', k('homes', p.platform), p.place)
  if home then return {'home', home} end
  local id = pending(p.key)
  return id and {'pending', stored(id)} or {'none'}
end

function operations.edit()
  if pending(p.key) ~= p.id then return 'none' end
  local revision, edited_at = unpack(read(p.id, 'revision', 'edited_at'))
  if revision ~= p.revision then return 'changed' end
  if tonumber(edited_at) > p.at then return 'none' end
  redis.call('HSET', k('event', p.id), 'body', p.body, 'edited_at', p.at)
  redis.call('HINCRBY', k('event', p.id), 'revision', 1)
  return 'edited'
end

function operations.drop()
  if pending(p.key) ~= p.id then return 0 end
  return close(p.id)
end

function operations.lane() return lane_of(p.lane) end

function operations.home()
  return redis.call('HGET', k('homes', p.platform), p.place) or ''
end

function operations.stop()
  if not is_open(p.id) or #parts(p.id) > 0 then return 0 end
  return close(p.id)
end

-- The oldest event that may be taken of a platform. Who lost a lease wakes up first.
local function next_of(platform)
  local waiting, asleep = k('waiting', platform), k('asleep', platform)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', asleep, '-inf', now)) do
    redis.call('ZREM', asleep, id)
    add(waiting, id, id)
  end
  while true do
    local id = first(waiting)
    if not id then return end
    local lane = read(id, 'lane')[1]
    if lane and is_open(id) and first(k('lane', lane)) == id then return id end
    redis.call('ZREM', waiting, id)
    if not lane then redis.call('ZREM', k('open'), id) end
  end
end

function operations.take()
  local names = #p.platforms > 0 and p.platforms or redis.call('SMEMBERS', k('platforms'))
  local id, of
  for _, platform in ipairs(names) do
    local found = next_of(platform)
    if found and (not id or tonumber(found) < tonumber(id)) then id, of = found, platform end
  end
  if not id then return {} end
  local token, event = fresh('tokens'), k('event', id)
  local attempt = redis.call('HINCRBY', event, 'attempt', 1)
  redis.call('HSET', event, 'token', token, 'owner', p.owner, 'lease_until', now + p.lease)
  redis.call('SET', k('token', token), id, 'EX', LEASE_KNOWN)
  redis.call('ZREM', k('waiting', of), id)
  add(k('asleep', of), now + p.lease, id)
  return {stored(id), attempt, token}
end

function operations.renew()
  local id = leased(p.token)
  if not id then return 0 end
  local platform = read(id, 'platform')[1]
  redis.call('HSET', k('event', id), 'lease_until', now + p.lease)
  redis.call('EXPIRE', k('token', p.token), LEASE_KNOWN)
  redis.call('ZREM', k('waiting', platform), id)
  add(k('asleep', platform), now + p.lease, id)
  return 1
end

function operations.done()
  local id = leased(p.token)
  return id and close(id) or 0
end

function operations.release()
  local id = leased(p.token)
  if not id then return 0 end
  local platform, lane = unpack(read(id, 'platform', 'lane'))
  redis.call('HSET', k('event', id), 'token', '0', 'owner', '', 'lease_until', 0)
  redis.call('ZREM', k('asleep', platform), id)
  if p.delay > 0 then add(k('asleep', platform), now + p.delay, id) end
  promote(platform, lane)
  return 1
end

function operations.sign()
  local id = leased(p.token)
  if id then redis.call('HSET', k('event', id), 'sign', p.handle) end
  return id and 1 or 0
end

local function move_event(id, platform, new)
  local message, kind, key, lane, rest, closed_at =
    unpack(read(id, 'message', 'kind', 'key', 'lane', 'rest', 'closed_at'))
  if not message or kind == 'moved' then return end
  local score = redis.call('ZSCORE', k('place', platform, p.old), id)
  redis.call('ZREM', k('place', platform, p.old), id)
  add(k('place', platform, new), score, id)
  local here = table.concat({platform, new, message, kind}, ':')
  local holder = redis.call('GET', k('key', here))
  if holder and read(holder, 'key')[1] then here = here .. '@' .. id end
  local left = math.max(redis.call('TTL', k('key', key)), 1)
  redis.call('DEL', k('key', key))
  redis.call('SET', k('key', here), id, 'EX', left)
  local there = platform .. ':' .. new .. rest
  redis.call('HSET', k('event', id), 'key', here, 'place', new, 'lane', there, 'moved', '1')
  if not closed_at then
    redis.call('ZREM', k('lane', lane), id)
    add(k('lane', there), id, id)
    promote(platform, there)
  end
end

function operations.move()
  local homes = k('homes', p.platform)
  redis.call('HDEL', homes, p.new)
  local known = redis.call('HGETALL', homes)
  for i = 1, #known, 2 do
    if known[i + 1] == p.old then redis.call('HSET', homes, known[i], p.new) end
  end
  redis.call('HSET', homes, p.old, p.new)
  redis.call('EXPIRE', homes, LIFE)
  for _, id in ipairs(redis.call('ZRANGE', k('place', p.platform, p.old), 0, -1)) do
    move_event(id, p.platform, p.new)
  end
  return 1
end

function operations.count() return redis.call('ZCARD', k('open')) end

function operations.oldest()
  local id = first(k('open'))
  return id and read(id, 'at')[1] or ''
end

function operations.keep()
  local id = leased(p.token)
  if not id then return {'lost'} end
  redis.call('HSETNX', k('event', id), 'reply', p.reply)
  return {'kept', read(id, 'reply')[1]}
end

function operations.kept()
  local id = leased(p.token)
  return id and read(id, 'reply')[1] or ''
end

-- Who claimed a part, and how far it came.
local function claim(id, part)
  local found = read(id, 'part:' .. part)[1]
  if found then return string.match(found, '^(%d+) (%a+)$') end
end

function operations.begin()
  local id = leased(p.token)
  if not id then return 'lost' end
  local _, leg = claim(id, p.part)
  if leg == 'shown' then return 'sent' end
  if leg == 'out' then return 'uncertain' end
  redis.call('HSET', k('event', id), 'part:' .. p.part, p.token .. ' unknown')
  return 'open'
end

-- A part that another worker claimed since is void.
function operations.mark()
  local id = redis.call('GET', k('token', p.token))
  if not id or not is_open(id) or claim(id, p.part) ~= p.token then return 0 end
  redis.call('HSET', k('event', id), 'part:' .. p.part, p.token .. ' ' .. p.leg)
  return 1
end

function operations.own()
  local id = leased(p.token)
  return id and {id, lane_of(read(id, 'lane')[1])} or {}
end

function operations.join()
  local id = leased(p.token)
  if not id then return 'lost' end
  for _, piece in ipairs(p.pieces) do
    if not is_open(piece[1]) or read(piece[1], 'revision')[1] ~= piece[2] then return 'changed' end
  end
  for _, piece in ipairs(p.pieces) do close(piece[1]) end
  redis.call('HSET', k('event', id), 'body', p.body)
  redis.call('HINCRBY', k('event', id), 'revision', 1)
  return 'joined'
end

return operations[operation]()
