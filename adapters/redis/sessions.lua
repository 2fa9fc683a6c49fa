-- Turns of conversations. KEYS[1] is the prefix; ARGV: operation, conversation, its values.
--
--   conversations     by the time of their last change, in Redis' seconds
--   row:<conversation>    id -> [session, talk, member, time, turn as JSON]
--   time:<conversation>   members by the time they were said; a member is a number and an id, so
--                         that turns of one time stand in the order they came
--   count:<conversation>  the last number
--   of:<conversation> <session>  ids by their number
local prefix, operation, conversation = KEYS[1] .. ':', ARGV[1], ARGV[2]
local rows, times = prefix .. 'row:' .. conversation, prefix .. 'time:' .. conversation
local count, known = prefix .. 'count:' .. conversation, prefix .. 'conversations'

local function of(session) return prefix .. 'of:' .. conversation .. ' ' .. session end

local function drop(id)
  local row = redis.call('HGET', rows, id)
  if not row then return nil end
  local session, _, member = unpack(cjson.decode(row))
  redis.call('HDEL', rows, id)
  redis.call('ZREM', times, member)
  redis.call('ZREM', of(session), id)
  if redis.call('EXISTS', times) == 0 then
    redis.call('DEL', count)
    redis.call('ZREM', known, conversation)
  end
  return row
end

local function id_of(member) return string.sub(member, 18) end

-- The session that a new turn belongs to: that of the last one, unless others listen by now, or
-- too much time has passed.
local function session_of(id, talk, at, pause)
  local last = redis.call('ZREVRANGE', times, 0, 0)[1]
  if not last then return id end
  local session, heard, _, time = unpack(cjson.decode(redis.call('HGET', rows, id_of(last))))
  if heard ~= talk then return id end
  if pause >= 0 and math.abs(at - tonumber(time)) > pause then return id end
  return session
end

local function add(id, talk, at, turn, session, pause, stored, kept, life)
  local row, member = redis.call('HGET', rows, id), nil
  if row then
    session, talk, member, at = unpack(cjson.decode(row))
  else
    if session == '' then session = session_of(id, talk, tonumber(at), tonumber(pause)) end
    local number = redis.call('INCR', count)
    member = string.format('%016d ', number) .. id
    redis.call('ZADD', times, at, member)
    redis.call('ZADD', of(session), number, id)
  end
  redis.call('HSET', rows, id, cjson.encode({session, talk, member, at, turn}))
  for _, old in ipairs(redis.call('ZRANGE', of(session), 0, -1 - stored)) do drop(old) end
  for _, old in ipairs(redis.call('ZRANGE', times, 0, -1 - kept)) do drop(id_of(old)) end
  local now = redis.call('TIME')[1]
  redis.call('ZADD', known, now, conversation)
  redis.call('ZREMRANGEBYSCORE', known, '-inf', '(' .. (now - life))
  for _, key in ipairs({rows, times, count, of(session), known}) do
    redis.call('EXPIRE', key, life)
  end
end

local operations = {}

function operations.add() return add(unpack(ARGV, 3)) end

function operations.recent()
  local found = {}
  for i, member in ipairs(redis.call('ZREVRANGE', times, 0, ARGV[3] - 1)) do
    found[i] = redis.call('HGET', rows, id_of(member))
  end
  return found
end

function operations.drop()
  local found = {}
  for i = 3, #ARGV do table.insert(found, drop(ARGV[i])) end
  return found
end

return operations[operation]()
