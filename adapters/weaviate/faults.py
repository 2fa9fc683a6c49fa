"""What a Weaviate server reports when it cannot work, said in the words of who can help."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from weaviate.exceptions import (
    AuthenticationFailedError,
    InsufficientPermissionsError,
    MissingScopeError,
    UnexpectedStatusCodeError,
    WeaviateBaseError,
    WeaviateClosedClientError,
    WeaviateConnectionError,
    WeaviateGRPCUnavailableError,
    WeaviateRetryError,
    WeaviateStartUpError,
    WeaviateTimeoutError,
)

from bot.errors import StorageError
from graph.errors import StoreError

Words = tuple[str, str]

_DEAD: Words = (
    "Weaviate does not answer: {url}.",
    "Check that the server runs and that BELAY_WEAVIATE_URL and BELAY_WEAVIATE_GRPC name it.",
)
_SLOW: Words = (
    "Weaviate took too long: {url}.",
    "Check the server's load; what was not finished is done by the next `belay sync`.",
)
_NO_GRPC: Words = (
    "Weaviate answers at {url}, and its gRPC port does not.",
    "Open the gRPC port (50051), or let BELAY_WEAVIATE_GRPC name it as HOST:PORT.",
)
_KEY: Words = ("Weaviate refused the key: {url}.", "Check BELAY_WEAVIATE_KEY.")
_FORBIDDEN: Words = (
    "The key of Weaviate may not do this: {url}.",
    "Give its role reading, writing and the schema of the collections of BELAY_WEAVIATE__PREFIX.",
)
_READ_ONLY: Words = (
    "Weaviate takes no changes, its shards are read-only: {url}. Questions are still answered.",
    "It does so when its disk is nearly full: free some space, set the shards to READY, "
    "and run `belay sync` again.",
)
_FULL: Words = (
    "Weaviate has no room left: {url}. Questions are still answered.",
    "Give the server more disk or memory, and run `belay sync` again.",
)
_NO_TENANT: Words = (
    "Weaviate has no tenant for this team any more: {url}.",
    "Restart the bot, which makes it again, and run `belay sync`; or take a backup back.",
)
_INACTIVE: Words = (
    "The tenant of this team is not active in Weaviate: {url}.",
    "Activate it, or restart the bot, which does; `belay doctor` shows its state.",
)
_CLOSED: Words = ("The index in Weaviate is closed: {url}.", "Open it again.")
_OTHER: Words = ("Weaviate could not do this: {url} ({detail}).", "Look into the server's log.")

# Phrases of the server, from its shard, disk and authorisation modules (1.27 to 1.39).
_PHRASES: tuple[tuple[str, Words], ...] = (
    ("tenant not found", _NO_TENANT),
    ("tenant not active", _INACTIVE),
    ("read-only", _READ_ONLY),
    ("readonly", _READ_ONLY),
    ("no space left", _FULL),
    ("not enough memory", _FULL),
    ("unauthenticated", _KEY),
    ("unauthorized", _KEY),
    ("anonymous access not enabled", _KEY),
    ("forbidden", _FORBIDDEN),
    ("permission", _FORBIDDEN),
    ("deadline", _SLOW),
    ("unavailable", _DEAD),
)
_KINDS: tuple[tuple[tuple[type[Exception], ...], Words], ...] = (
    ((AuthenticationFailedError, MissingScopeError), _KEY),
    ((InsufficientPermissionsError,), _FORBIDDEN),
    ((WeaviateGRPCUnavailableError,), _NO_GRPC),
    ((WeaviateClosedClientError,), _CLOSED),
    ((WeaviateTimeoutError, TimeoutError), _SLOW),
    ((WeaviateConnectionError, WeaviateStartUpError, WeaviateRetryError, OSError), _DEAD),
)
_CODES = {401: _KEY, 403: _FORBIDDEN, 503: _DEAD, 507: _FULL}
_SHOWN = 200  # characters of what the server said
FAULTS = (WeaviateBaseError, TimeoutError, OSError)
"""What the client raises when the server cannot be used."""


class Refused(WeaviateBaseError):
    """The server took a request, and objects of it failed. `message` is what it said of one."""


def describe(error: Exception, url: str) -> Words:
    """What happened and what helps, for the person at the terminal."""
    message, remedy = _words(error, str(error).lower())
    detail = " ".join(str(error).split())[:_SHOWN]
    return message.format(url=url, detail=detail), remedy


def late(error: Exception) -> bool:
    """Whether the time was over before the server had answered."""
    return _words(error, str(error).lower()) is _SLOW


def _words(error: Exception, said: str) -> Words:
    if isinstance(error, UnexpectedStatusCodeError) and error.status_code in _CODES:
        return _CODES[error.status_code]
    for kinds, words in _KINDS:
        if isinstance(error, kinds):
            return _KEY if kinds[0] is WeaviateConnectionError and "401" in said else words
    return next((words for phrase, words in _PHRASES if phrase in said), _OTHER)


@contextmanager
def storage_faults(url: str) -> Iterator[None]:
    """Turns the client's errors into StorageError: for the application's side."""
    try:
        yield
    except FAULTS as error:
        message, remedy = describe(error, url)
        raise StorageError(message, remedy) from error


@contextmanager
def store_faults(url: str) -> Iterator[None]:
    """Turns the client's errors into StoreError: for the answering machine's side."""
    try:
        yield
    except FAULTS as error:
        raise StoreError(" ".join(describe(error, url))) from error
