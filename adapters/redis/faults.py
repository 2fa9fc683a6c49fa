"""What Redis reports when it cannot work, said in the words of the person who can help."""

from __future__ import annotations

import re
from collections.abc import Sequence

from redis import exceptions

from adapters.redis.address import Address
from bot.errors import StorageError

_WAIT = "Events wait with the messengers until then; nothing has to be done here afterwards."
_FORBIDDEN = "Redis at {address} does not permit this user {what}"
_RIGHTS = "Give it `~{belay}* +@read +@write +@connection +@scripting +info +time`."
_LOOK = "Look at the log of Redis."

_COMMAND = re.compile(r"run the '([^']+)' command")
_LINE = re.compile(r"on @user_script:\s*(\d+)")
_CALLED = re.compile(r"redis\.p?call\('(\w+)'")

ERRORS = (exceptions.RedisError, exceptions.RedisClusterException, OSError)
"""What the library raises; its errors of clusters stand apart from the others."""

# The first row that fits counts. Classes first: the words of servers differ by version.
_FAULTS: tuple[tuple[type[Exception] | tuple[type[Exception], ...], str, str, str], ...] = (
    (
        exceptions.OutOfMemoryError,
        "",
        "Redis at {address} is full",
        f"Raise `maxmemory` there, with `maxmemory-policy noeviction`. {_WAIT}",
    ),
    (
        (exceptions.AuthenticationError, exceptions.AuthenticationWrongNumberOfArgsError),
        "",
        "Redis at {address} does not accept the user or the password",
        "Correct BELAY_REDIS_URL.",
    ),
    (
        exceptions.ResponseError,
        "NOAUTH",
        "Redis at {address} asks for a password",
        "Write it into BELAY_REDIS_URL: redis://USER:PASSWORD@HOST.",
    ),
    (exceptions.NoPermissionError, "", _FORBIDDEN, _RIGHTS),
    (exceptions.ResponseError, "user executing the script", _FORBIDDEN, _RIGHTS),
    (
        (exceptions.MovedError, exceptions.AskError),
        "",
        "Redis at {address} is one node of a cluster",
        "Write redis+cluster://HOST1,HOST2 into BELAY_REDIS_URL.",
    ),
    (
        exceptions.RedisError,
        "max number of clients",
        "Redis at {address} takes no more connections",
        f"Raise `maxclients` there, or look at who holds them (`CLIENT LIST`). {_WAIT}",
    ),
    (
        exceptions.ResponseError,
        "BUSY ",
        "Redis at {address} is busy with a script of somebody else",
        f"`SCRIPT KILL` ends it. {_WAIT}",
    ),
    (
        exceptions.ReadOnlyError,
        "",
        "Redis at {address} is a replica and takes no writes",
        f"Name the primary in BELAY_REDIS_URL, or let sentinels name it. {_WAIT}",
    ),
    (
        (
            exceptions.BusyLoadingError,
            exceptions.MasterDownError,
            exceptions.ClusterDownError,
            exceptions.TryAgainError,
        ),
        "",
        "Redis at {address} is starting or changing its primary",
        _WAIT,
    ),
    (
        exceptions.ResponseError,
        "MISCONF",
        "Redis at {address} cannot save to its disk",
        f"Free some space there, and look at its log. {_WAIT}",
    ),
    (
        exceptions.ResponseError,
        "NOREPLICAS",
        "Redis at {address} has too few replicas to take writes",
        "Bring the replicas back, or lower `min-replicas-to-write`.",
    ),
    (
        exceptions.TimeoutError,
        "",
        "Redis at {address} does not answer in time",
        f"Look at its load (`redis-cli --latency`). {_WAIT}",
    ),
    (
        (exceptions.ConnectionError, exceptions.RedisClusterException, OSError),
        "",
        "Redis at {address} cannot be reached",
        f"Start it, or correct BELAY_REDIS_URL. {_WAIT}",
    ),
)
_OTHER = ("Redis at {address} refused a command", _LOOK)


def described(error: Exception, address: Address, script: str = "") -> StorageError:
    """`script`: the text of the one that ran; old servers name the line that they refused."""
    said, remedy = _words(error)
    what = _refused(str(error), script)
    return StorageError(f"{said.format(address=address, what=what)}.", remedy)


def forbidden(commands: Sequence[str], address: Address) -> StorageError:
    """What a user lacks who may not use `commands`."""
    what = f"the commands {', '.join(repr(name.lower()) for name in commands)}"
    return StorageError(f"{_FORBIDDEN.format(address=address, what=what)}.", _RIGHTS)


def _refused(error: str, script: str) -> str:
    """What a user may not do."""
    line = _LINE.search(error)
    if "access one of the keys" in error or "access the key" in error:
        return "keys of this prefix"
    if line and 0 < int(line[1]) <= script.count("\n"):
        error += "".join(
            f" run the '{name.lower()}' command"
            for name in _CALLED.findall(script.split("\n")[int(line[1]) - 1])
        )
    names = _COMMAND.findall(error)
    return f"the command {' or '.join(map(repr, names))}" if names else "what Belay needs"


def passing(error: Exception) -> bool:
    """Whether the same command may work a moment later: the server restarts or fails over."""
    if isinstance(error, exceptions.ResponseError) and str(error).startswith("BUSY "):
        return True
    return isinstance(
        error,
        exceptions.ConnectionError
        | exceptions.ReadOnlyError
        | exceptions.BusyLoadingError
        | exceptions.MasterDownError
        | exceptions.ClusterDownError
        | exceptions.TryAgainError
        | exceptions.RedisClusterException
        | OSError,
    ) and not isinstance(error, exceptions.AuthenticationError)


def _words(error: Exception) -> tuple[str, str]:
    for kinds, word, said, remedy in _FAULTS:
        if isinstance(error, kinds) and word in str(error):
            return said, remedy
    return _OTHER
