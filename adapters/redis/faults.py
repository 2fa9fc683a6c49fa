"""What Redis reports when it cannot work, said in the words of the person who can help."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from redis import exceptions

from adapters.redis.address import Address
from bot.errors import StorageError

_WAIT = "Events wait with the messengers until then; nothing has to be done here afterwards."
_FORBIDDEN = "Redis at {address} does not permit this user what Belay needs"
_RIGHTS = "Give it `~{belay}* +@read +@write +@connection +@scripting +info +time`."
_LOOK = "Look at the log of Redis."

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
        exceptions.ReadOnlyError,
        "",
        "Redis at {address} is a replica and takes no writes",
        f"Name the primary in BELAY_REDIS_URL, or let sentinels name it. {_WAIT}",
    ),
    (
        (exceptions.BusyLoadingError, exceptions.MasterDownError, exceptions.TryAgainError),
        "",
        "Redis at {address} is starting or changing its primary",
        _WAIT,
    ),
    (exceptions.ResponseError, "MISCONF", "Redis at {address} cannot save to its disk", _LOOK),
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


@contextmanager
def storage_faults(address: Address) -> Iterator[None]:
    """Turns the errors of Redis into StorageError."""
    try:
        yield
    except (exceptions.RedisError, OSError) as error:
        raise described(error, address) from error


def described(error: Exception, address: Address) -> StorageError:
    said, remedy = _words(error)
    return StorageError(f"{said.format(address=address)}.", remedy)


def passing(error: Exception) -> bool:
    """Whether the same command may work a moment later: the server restarts or fails over."""
    return isinstance(
        error,
        exceptions.ConnectionError
        | exceptions.ReadOnlyError
        | exceptions.BusyLoadingError
        | exceptions.MasterDownError
        | exceptions.ClusterDownError
        | exceptions.TryAgainError
        | OSError,
    ) and not isinstance(error, exceptions.AuthenticationError)


def _words(error: Exception) -> tuple[str, str]:
    for kinds, word, said, remedy in _FAULTS:
        if isinstance(error, kinds) and word in str(error):
            return said, remedy
    return _OTHER
