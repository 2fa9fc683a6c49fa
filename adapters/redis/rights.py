"""What a user of Redis has to be allowed, command by command: found out before it is needed.

A script that is stopped half way by a missing right leaves half of its work behind.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from adapters.redis.script import Script

_KEY = "{key}"

COMMANDS: Mapping[str, Sequence[str]] = {
    "DEL": (_KEY,),
    "EXISTS": (_KEY,),
    "EXPIRE": (_KEY, "1"),
    "GET": (_KEY,),
    "HDEL": (_KEY, "f"),
    "HGET": (_KEY, "f"),
    "HGETALL": (_KEY,),
    "HINCRBY": (_KEY, "f", "1"),
    "HKEYS": (_KEY,),
    "HMGET": (_KEY, "f"),
    "HSET": (_KEY, "f", "v"),
    "HSETNX": (_KEY, "f", "v"),
    "HVALS": (_KEY,),
    "INCR": (_KEY,),
    "PEXPIRE": (_KEY, "1"),
    "SADD": (_KEY, "m"),
    "SET": (_KEY, "v"),
    "SMEMBERS": (_KEY,),
    "SREM": (_KEY, "m"),
    "TIME": (),
    "TTL": (_KEY,),
    "ZADD": (_KEY, "1", "m"),
    "ZCARD": (_KEY,),
    "ZRANGE": (_KEY, "0", "0"),
    "ZRANGEBYSCORE": (_KEY, "0", "0"),
    "ZREM": (_KEY, "m"),
    "ZREMRANGEBYRANK": (_KEY, "0", "0"),
    "ZREMRANGEBYSCORE": (_KEY, "0", "0"),
    "ZREVRANGE": (_KEY, "0", "0"),
    "ZSCORE": (_KEY, "m"),
}
"""Every command that is sent or called in a script, with words that make it a complete one."""

# ARGV: commands as lists. Nothing is run: the server is asked what it would permit.
MISSING = Script(
    """#!lua flags=no-writes
local missing = {}
for _, words in ipairs(cjson.decode(ARGV[1])) do
  for i, word in ipairs(words) do
    if word == '{key}' then words[i] = KEYS[1] end
  end
  if not redis.acl_check_cmd(unpack(words)) then table.insert(missing, words[1]) end
end
return missing
"""
)
ASKED = json.dumps([[name, *words] for name, words in COMMANDS.items()])
