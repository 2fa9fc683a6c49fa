"""How an index lies in a Weaviate server, and how long it is waited for."""

from __future__ import annotations

import re
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from bot.audience import DEFAULT_TENANT
from bot.chat_settings import Section

_PREFIX = re.compile(r"[A-Z][A-Za-z0-9]{0,63}", re.ASCII)
_ADDRESS = re.compile(r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):([0-9]{1,5})", re.ASCII)
_TENANT = re.compile(r"[A-Za-z0-9_-]{1,50}", re.ASCII)  # of 64 that the server takes
_GENERATION = re.compile(r"_[0-9]+\Z", re.ASCII)  # what an index that was built anew ends with
_PORTS = range(1, 65536)
GRPC_PORT = 50051  # when BELAY_WEAVIATE_GRPC names no other


class WeaviateSettings(Section):
    """`[weaviate]`. Replicas, shards and multi_tenancy count when the collections are made."""

    prefix: str = "Belay"  # of the names of its collections: a bot each on one server
    replicas: int = Field(default=1, ge=1, le=64)  # copies of each shard
    shards: int = Field(default=0, ge=0, le=1024)  # 0: as many as there are nodes
    multi_tenancy: bool = False  # collections shared by teams, with a tenant each
    consistency: Literal["one", "quorum", "all"] = "quorum"
    start_timeout: float = Field(default=30.0, gt=0)  # seconds, for a server that is starting
    query_timeout: float = Field(default=10.0, gt=0)
    write_timeout: float = Field(default=90.0, gt=0)  # for one file

    @field_validator("prefix")
    @classmethod
    def a_name_of_a_collection(cls, value: str) -> str:
        if not _PREFIX.fullmatch(value):
            raise ValueError("letters and digits, a capital first, such as Belay")
        return value

    @model_validator(mode="after")
    def one_shard_a_tenant(self) -> WeaviateSettings:
        if self.multi_tenancy and self.shards:
            raise ValueError("shards and multi_tenancy: a tenant is one shard; leave shards out")
        return self


def tenant_of_weaviate(weaviate: WeaviateSettings, tenant: str) -> str:
    """The tenant of a Weaviate that teams share, from `[access] tenant`; "" without multi_tenancy.

    Raises ValueError for a name that the server does not take, that could be a team's next
    index, or that every team has which names none.
    """
    if not weaviate.multi_tenancy:
        return ""
    if tenant == DEFAULT_TENANT:
        raise ValueError(
            "[weaviate] multi_tenancy is on: name this team in [access] tenant, another name "
            "than other teams on that server"
        )
    if not _TENANT.fullmatch(tenant) or _GENERATION.search(tenant):
        raise ValueError(
            f"[access] tenant {tenant!r}: with [weaviate] multi_tenancy at most 50 letters of "
            "a-z, digits, - and _, and no _ before digits at the end"
        )
    return tenant


def grpc_address(value: str) -> str:
    """`HOST:PORT`, or empty for port 50051 of the same host. Raises ValueError."""
    found = _ADDRESS.fullmatch(value)
    if value and (found is None or int(found[1]) not in _PORTS):
        raise ValueError("HOST:PORT, such as weaviate:50051")
    return value


def distinct_doors(url: str, grpc: str) -> None:
    """Raises ValueError when REST and gRPC would be the same port of one host."""
    rest = urlsplit(url)
    host, _, port = grpc.rpartition(":")
    same_host = host.strip("[]") in ("", rest.hostname)
    if url and same_host and rest.port == int(port or GRPC_PORT):
        raise ValueError(
            "BELAY_WEAVIATE_URL is for REST (port 8080), BELAY_WEAVIATE_GRPC for gRPC "
            "(port 50051): they name the same port"
        )
