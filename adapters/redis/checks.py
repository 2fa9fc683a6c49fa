"""What `belay doctor` says of Redis, from what the server says of itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from adapters.redis.address import Address
from adapters.redis.script import Script
from bot.ports import Finding

_OLDEST = 7  # the first version whose scripts can name what they do when the memory is used up
_SLOW = 0.05  # seconds for one command
_APART = 2.0  # seconds between two clocks
_FULL = 0.8  # of maxmemory

CLOCK = Script("#!lua flags=no-writes\nreturn redis.call('TIME')\n")
"""Goes to the server that has the keys; a cluster has several clocks."""


def findings(
    info: Mapping[str, Any], address: Address, seconds: float, ahead: float
) -> list[Finding]:
    """`info` is the answer to INFO, `seconds` what one command took, `ahead` the seconds that the
    server's clock is ahead of this machine's."""
    facts = _of_one_node(info)
    version = str(facts.get("redis_version", "?"))
    if version.partition(".")[0].isdigit() and int(version.partition(".")[0]) < _OLDEST:
        remedy = f"update it to version {_OLDEST} or later"
        return [Finding("redis", "bad", f"{address}: version {version} is too old", remedy)]
    said = ", ".join(
        (
            f"{address}, version {version}",
            f"{seconds * 1000:.1f} ms a command",
            f"maxmemory {facts.get('maxmemory_human', '?')} {_policy(facts)}",
            f"appendonly {'yes' if _appends(facts) else 'no'}",
            f"clock {ahead:+.1f} s",
        )
    )
    return [Finding("redis", "ok", said), *_memory(facts), *_disk(facts), *_times(seconds, ahead)]


def _memory(facts: Mapping[str, Any]) -> Iterator[Finding]:
    if _policy(facts) != "noeviction":
        message = f"throws away what was stored when it is full (maxmemory-policy {_policy(facts)})"
        remedy = "set maxmemory-policy noeviction: questions and access must not be thrown away"
        yield Finding("redis", "bad", message, remedy)
    used, most = int(facts.get("used_memory", 0)), int(facts.get("maxmemory", 0))
    if most and used > _FULL * most:
        message = f"is nearly full: {used / most:.0%} of maxmemory is used"
        yield Finding("redis", "note", message, "raise maxmemory before it refuses questions")


def _disk(facts: Mapping[str, Any]) -> Iterator[Finding]:
    if not _appends(facts):
        message = "keeps nothing over a restart but its last snapshot (appendonly no)"
        remedy = "set appendonly yes, or questions and access are lost when it stops"
        yield Finding("redis", "note", message, remedy)
    states = ("aof_last_write_status", "aof_last_bgrewrite_status", "rdb_last_bgsave_status")
    if failed := [name for name in states if facts.get(name, "ok") != "ok"]:
        message = f"could not write to its disk ({', '.join(failed)})"
        yield Finding("redis", "bad", message, "free some space there, and look at its log")


def _times(seconds: float, ahead: float) -> Iterator[Finding]:
    if seconds > _SLOW:
        message = f"is slow: {seconds * 1000:.1f} ms for one command"
        yield Finding("redis", "note", message, "run it closer, or look at its load")
    if abs(ahead) > _APART:
        way = "ahead of" if ahead > 0 else "behind"
        message = f"has a clock that is {abs(ahead):.0f} s {way} this machine's"
        remedy = "let both follow a time server: a fail-over between two clocks shifts all leases"
        yield Finding("redis", "note", message, remedy)


def _policy(facts: Mapping[str, Any]) -> str:
    return str(facts.get("maxmemory_policy", "noeviction"))


def _appends(facts: Mapping[str, Any]) -> bool:
    return bool(int(facts.get("aof_enabled", 1)))


def _of_one_node(info: Mapping[str, Any]) -> Mapping[str, Any]:
    """A cluster may answer with the facts of each node."""
    first = next(iter(info.values()), None)
    return first if isinstance(first, Mapping) and "redis_version" not in info else info
