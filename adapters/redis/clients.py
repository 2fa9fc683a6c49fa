"""The library's clients for one server, sentinels or a cluster. None of them retries by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import redis
from redis import asyncio as aioredis
from redis.asyncio.cluster import ClusterNode as AsyncClusterNode
from redis.asyncio.cluster import RedisCluster as AsyncRedisCluster
from redis.asyncio.retry import Retry as AsyncRetry
from redis.asyncio.sentinel import Sentinel as AsyncSentinel
from redis.asyncio.sentinel import SentinelConnectionPool as AsyncSentinelPool
from redis.backoff import NoBackoff
from redis.cluster import ClusterNode, RedisCluster
from redis.retry import Retry
from redis.sentinel import Sentinel, SentinelConnectionPool

from adapters.redis.address import Address, Topology

if TYPE_CHECKING:
    from adapters.redis.server import Waits

# What the library leaves without annotations.
_AsyncSentinel: Any = AsyncSentinel
_Sentinel: Any = Sentinel
_ClusterNode: Any = ClusterNode

AsyncClient: TypeAlias = "aioredis.Redis | AsyncRedisCluster"
BlockingClient: TypeAlias = "redis.Redis | RedisCluster"


def opened(address: Address, waits: Waits) -> AsyncClient:
    common = _common(address, waits.connect, waits.answer, waits.check)
    retry = AsyncRetry(NoBackoff(), 0)
    if address.topology is Topology.CLUSTER:
        nodes = [AsyncClusterNode(host, port) for host, port in address.nodes]
        return AsyncRedisCluster(startup_nodes=nodes, retry=retry, **common)
    common |= {"db": address.database, "retry": retry}
    if address.topology is Topology.SENTINEL:
        asked = _of_sentinels(address, common)
        found = _AsyncSentinel(address.nodes, sentinel_kwargs=asked, **common)
        primary: aioredis.Redis = found.master_for(address.primary)
        return primary
    ((host, port),) = address.nodes
    return aioredis.Redis(host=host, port=port, **common)


def blocking(address: Address, waits: Waits) -> BlockingClient:
    """For marks: it answers within `waits.mark` seconds or not at all."""
    common = _common(address, waits.mark, waits.mark, waits.check)
    retry = Retry(NoBackoff(), 0)
    if address.topology is Topology.CLUSTER:
        nodes = [_ClusterNode(host, port) for host, port in address.nodes]
        return RedisCluster(startup_nodes=nodes, retry=retry, **common)
    common |= {"db": address.database, "retry": retry}
    if address.topology is Topology.SENTINEL:
        asked = _of_sentinels(address, common)
        found = _Sentinel(address.nodes, sentinel_kwargs=asked, **common)
        primary: redis.Redis = found.master_for(address.primary)
        return primary
    ((host, port),) = address.nodes
    return redis.Redis(host=host, port=port, **common)


async def close(client: AsyncClient) -> None:
    await client.aclose()
    pool = getattr(client, "connection_pool", None)  # a cluster has none of its own
    if isinstance(pool, AsyncSentinelPool):
        for sentinel in pool.sentinel_manager.sentinels:
            await sentinel.aclose()


def close_blocking(client: BlockingClient) -> None:
    client.close()
    pool = getattr(client, "connection_pool", None)
    if isinstance(pool, SentinelConnectionPool):
        for sentinel in pool.sentinel_manager.sentinels:
            sentinel.close()


def _common(address: Address, connect: float, answer: float, check: float) -> dict[str, Any]:
    values: dict[str, Any] = {
        "username": address.username or None,
        "password": address.password or None,
        "socket_connect_timeout": connect,
        "socket_timeout": answer,
        "health_check_interval": check,
        "decode_responses": True,
        "encoding_errors": "surrogatepass",  # what messengers send is not always text
        "client_name": "belay",
    }
    if address.tls:
        values |= {"ssl": True, **address.files}
    return values


def _of_sentinels(address: Address, common: dict[str, Any]) -> dict[str, Any]:
    """Sentinels have credentials of their own, and no databases."""
    shared = {name: value for name, value in common.items() if name != "db"}
    credentials = {name: address.sentinel.get(name) for name in ("username", "password")}
    return shared | credentials
