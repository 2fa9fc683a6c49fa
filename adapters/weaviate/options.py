"""Where a Weaviate server is, and how an index lies in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

Consistency = Literal["one", "quorum", "all"]
_GRPC_PORT = 50051
_CLOUD = (".weaviate.cloud", ".weaviate.network")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Both doors of a server: REST for the schema, gRPC for objects and searches."""

    host: str
    port: int
    secure: bool
    grpc_host: str
    grpc_port: int
    cloud: bool = False  # Weaviate Cloud, whose client knows the gRPC address

    @property
    def url(self) -> str:
        """For people: without a password that the address may have held."""
        return f"http{'s' * self.secure}://{self.host}:{self.port}"

    @classmethod
    def of(cls, url: str, grpc: str = "") -> Endpoint:
        """From an address and, when it is elsewhere, the `HOST:PORT` of gRPC."""
        parts = urlsplit(url)
        host = parts.hostname or ""
        secure = parts.scheme == "https"
        other = urlsplit(f"//{grpc}")
        return cls(
            host=host,
            port=parts.port or (443 if secure else 80),
            secure=secure,
            grpc_host=other.hostname or host,
            grpc_port=other.port or _GRPC_PORT,
            cloud=not grpc and host.endswith(_CLOUD),
        )


@dataclass(frozen=True, slots=True)
class Layout:
    """How collections are made. Nothing of it changes in collections that are there."""

    prefix: str = "Belay"  # of the names of all collections of this bot
    replicas: int = 1  # copies of each shard, on as many nodes
    shards: int = 0  # 0: as many as there are nodes
    consistency: Consistency = "quorum"  # how many copies confirm a read or a write
    tenant: str = ""  # of Weaviate, in collections that teams share; "": collections of its own


@dataclass(frozen=True, slots=True)
class Waits:
    """Seconds."""

    start: float = 30.0  # for a server that is starting
    query: float = 10.0  # for one search, whatever is tried again meanwhile
    write: float = 90.0  # for one file
    look: float = 2.0  # whether a server that took too long is there at all
