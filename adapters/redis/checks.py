"""What `belay doctor` says of Redis, from what the server says of itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adapters.redis.address import Address
from bot.ports import Finding

_OLDEST = 7  # the first version whose scripts can name what they do when the memory is used up
_SLOW = 0.05  # seconds for one command


def findings(info: Mapping[str, Any], address: Address, seconds: float) -> list[Finding]:
    """`info` is the answer to INFO; `seconds` is what one command took."""
    facts = _of_one_node(info)
    version = str(facts.get("redis_version", "?"))
    milliseconds = f"{seconds * 1000:.1f} ms"
    if version.partition(".")[0].isdigit() and int(version.partition(".")[0]) < _OLDEST:
        remedy = f"update it to version {_OLDEST} or later"
        return [Finding("redis", "bad", f"{address}: version {version} is too old", remedy)]
    found = [Finding("redis", "ok", f"{address}, version {version}, {milliseconds} a command")]
    policy = facts.get("maxmemory_policy", "noeviction")
    if policy != "noeviction":
        found.append(
            Finding(
                "redis",
                "bad",
                f"throws away what was stored when it is full (maxmemory-policy {policy})",
                "set maxmemory-policy noeviction: questions and access must not be thrown away",
            )
        )
    if not int(facts.get("aof_enabled", 1)):
        message = "keeps nothing over a restart but its last snapshot (appendonly no)"
        remedy = "set appendonly yes, or questions and access are lost when it stops"
        found.append(Finding("redis", "note", message, remedy))
    if seconds > _SLOW:
        message = f"is slow: {milliseconds} for one command"
        found.append(Finding("redis", "note", message, "run it closer, or look at its load"))
    return found


def _of_one_node(info: Mapping[str, Any]) -> Mapping[str, Any]:
    """A cluster may answer with the facts of each node."""
    first = next(iter(info.values()), None)
    return first if isinstance(first, Mapping) and "redis_version" not in info else info
