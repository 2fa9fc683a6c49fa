"""Where Redis is, read from one URL.

    redis://[user:password@]host[:6379][/0]             one server
    redis+sentinel://[user:password@]h1[:26379],h2/name  the primary that sentinels know as `name`
    redis+cluster://[user:password@]h1[:6379],h2         a cluster, found from any of its nodes

With rediss in place of redis: over TLS. Sentinels that ask for a password of their own get it
from `?sentinel_username=` and `?sentinel_password=`; `?ssl_ca_certs=`, `?ssl_certfile=` and
`?ssl_keyfile=` name files in PEM format.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from bot.errors import SettingsError

_PORT, _SENTINEL_PORT = 6379, 26379
_HIGHEST_PORT = 65535
_NODE = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^\[\]:]+)(?::(?P<port>\d+))?", re.ASCII)
_FILES = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile")
_SENTINELS = ("sentinel_username", "sentinel_password")
_REMEDY = (
    "Write redis://USER:PASSWORD@HOST:6379/0, redis+sentinel://HOST1,HOST2/NAME or "
    "redis+cluster://HOST1,HOST2; rediss for TLS."
)


class Topology(StrEnum):
    SINGLE = "single"
    SENTINEL = "sentinel"
    CLUSTER = "cluster"


@dataclass(frozen=True, slots=True)
class Address:
    topology: Topology
    nodes: tuple[tuple[str, int], ...]  # host and port
    username: str = ""
    password: str = field(default="", repr=False)
    tls: bool = False
    database: int = 0
    primary: str = ""  # its name among sentinels
    files: Mapping[str, str] = field(default_factory=dict)  # of TLS
    sentinel: Mapping[str, str] = field(default_factory=dict, repr=False)  # their credentials

    def __str__(self) -> str:
        """For people: without the password."""
        nodes = ", ".join(f"{host}:{port}" for host, port in self.nodes)
        if self.topology is Topology.SENTINEL:
            return f"{self.primary} (sentinels {nodes})"
        return nodes


def missing_file(address: Address) -> SettingsError | None:
    """What is wrong with the files of TLS, which the library would not name."""
    for name, path in address.files.items():
        if not Path(path).is_file():
            return SettingsError(
                f"BELAY_REDIS_URL: {name} names {path}, and there is no such file.",
                "Give the path of a PEM file that this process can read.",
            )
    return None


def parse(url: str) -> Address:
    """Raises SettingsError, which does not repeat the URL: it may hold a password."""
    scheme, _, _ = url.partition("://")
    family, _, kind = scheme.lower().partition("+")
    try:
        topology = Topology(kind or "single")
        parts = urlsplit(url)
    except ValueError:
        raise _wrong("it is no address of a Redis") from None
    if family not in ("redis", "rediss"):
        raise _wrong("it begins with none of redis://, rediss://, redis+sentinel:// …")
    user, _, hosts = parts.netloc.rpartition("@")
    username, _, password = user.partition(":")
    options = dict(parse_qsl(parts.query))
    unknown = sorted(set(options) - {*_FILES, *_SENTINELS})
    if unknown:
        raise _wrong(f"there is no option {unknown[0]!r}")
    standard = _SENTINEL_PORT if topology is Topology.SENTINEL else _PORT
    nodes = tuple(_node(node, standard) for node in hosts.split(","))
    if topology is Topology.SINGLE and len(nodes) > 1:
        raise _wrong("several hosts need redis+sentinel:// or redis+cluster://")
    primary, database = _path(topology, parts.path)
    return Address(
        topology,
        nodes,
        unquote(username),
        unquote(password),
        family == "rediss",
        database,
        primary,
        {name: options[name] for name in _FILES if name in options},
        {name.removeprefix("sentinel_"): options[name] for name in _SENTINELS if name in options},
    )


def _node(text: str, standard: int) -> tuple[str, int]:
    found = _NODE.fullmatch(text)
    if found is None:
        raise _wrong("it names no host")
    port = int(found["port"] or standard)
    if not 0 < port <= _HIGHEST_PORT:
        raise _wrong(f"there is no port {port}")
    return found["host"].strip("[]"), port


def _path(topology: Topology, path: str) -> tuple[str, int]:
    """The primary's name and the number of the database."""
    words = [unquote(word) for word in path.split("/") if word]
    primary = ""
    if topology is Topology.SENTINEL:
        if not words:
            raise _wrong("after the sentinels comes the name of the primary: /NAME")
        primary = words.pop(0)
    database = words.pop(0) if words else "0"
    if words or not (database.isascii() and database.isdigit()):
        raise _wrong("the path is the number of a database")
    if topology is Topology.CLUSTER and int(database):
        raise _wrong("a cluster has database 0 only")
    return primary, int(database)


def _wrong(why: str) -> SettingsError:
    return SettingsError(f"BELAY_REDIS_URL: {why}", _REMEDY)
