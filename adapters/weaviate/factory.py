"""An index from plain values, as the registry opens it."""

from __future__ import annotations

from adapters.weaviate.index import WeaviateIndex
from adapters.weaviate.options import Consistency, Layout, Waits


async def create(
    url: str,
    *,
    grpc: str = "",
    key: str = "",
    shelf: str = "Documents",
    prefix: str = "Belay",
    tenant: str = "",
    replicas: int = 1,
    shards: int = 0,
    consistency: Consistency = "quorum",
    start_timeout: float = 30.0,
    query_timeout: float = 10.0,
    write_timeout: float = 90.0,
) -> WeaviateIndex:
    """The index `shelf` of the server at `url`; see adapters/weaviate/options.py for the others.

    Raises StorageError.
    """
    return await WeaviateIndex.open(
        url,
        grpc=grpc,
        key=key,
        shelf=shelf,
        layout=Layout(prefix, replicas, shards, consistency, tenant),
        waits=Waits(start_timeout, query_timeout, write_timeout),
    )
