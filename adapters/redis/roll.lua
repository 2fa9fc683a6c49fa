-- Codes and grants. KEYS[1] is the prefix; ARGV: operation and its values.
--
--   grants       hash: level, admin, by whom and when, as JSON, by key
--   code:<key>   hash of the newest code of somebody
--   text:<text>  whose code it is
local prefix, operation = KEYS[1] .. ':', ARGV[1]

local function code_of(key)
  local text, expires = unpack(redis.call('HMGET', prefix .. 'code:' .. key, 'text', 'expires'))
  if text then return {key, text, expires} end
  return {}
end

local function drop(key)
  local text = code_of(key)[2]
  if text then redis.call('DEL', prefix .. 'code:' .. key, prefix .. 'text:' .. text) end
end

local function save(key, text, expires, seconds)
  drop(key)
  redis.call('HSET', prefix .. 'code:' .. key, 'text', text, 'expires', expires)
  redis.call('EXPIRE', prefix .. 'code:' .. key, seconds)
  redis.call('SET', prefix .. 'text:' .. text, key, 'EX', seconds)
  return {}
end

local operations = {}

function operations.save_code() return save(unpack(ARGV, 2)) end

function operations.code_for() return code_of(ARGV[2]) end

function operations.redeem()
  local key = redis.call('GET', prefix .. 'text:' .. ARGV[2])
  if not key then return {} end
  local code = code_of(key)
  if code[2] ~= ARGV[2] or tonumber(code[3]) <= tonumber(ARGV[3]) then return {} end
  drop(key)
  return code
end

function operations.rename()
  local old, new = ARGV[2], ARGV[3]
  local grant = redis.call('HGET', prefix .. 'grants', old)
  if grant then
    redis.call('HSET', prefix .. 'grants', new, grant)
    redis.call('HDEL', prefix .. 'grants', old)
  end
  local code = code_of(old)
  if code[2] then
    local left = redis.call('TTL', prefix .. 'code:' .. old)
    drop(old)
    save(new, code[2], code[3], math.max(left, 1))
  end
  return {}
end

return operations[operation]()
