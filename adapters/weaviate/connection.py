"""A connection to a Weaviate server that is ready."""

from __future__ import annotations

import asyncio

import weaviate
from weaviate import WeaviateAsyncClient
from weaviate.classes.init import AdditionalConfig, Auth, Timeout
from weaviate.exceptions import (
    WeaviateConnectionError,
    WeaviateGRPCUnavailableError,
    WeaviateStartUpError,
)

from adapters.weaviate.options import Endpoint, Waits

_PAUSE = 0.5  # seconds between two looks at a server that is starting
_NOT_YET = (
    WeaviateConnectionError,
    WeaviateGRPCUnavailableError,
    WeaviateStartUpError,
    TimeoutError,
)


async def connect(endpoint: Endpoint, key: str, waits: Waits) -> WeaviateAsyncClient:
    """Waits until the server is ready, for at most `waits.start` seconds.

    Raises what the client raised last when the time is over, and at once what waiting does not
    help: a wrong key.
    """
    loop = asyncio.get_running_loop()
    until = loop.time() + waits.start
    while True:
        client = _client(endpoint, key, waits)
        try:
            await client.connect()
            if await client.is_ready():
                return client
            raise WeaviateStartUpError("it is not ready")
        except BaseException as error:
            await client.close()
            late = loop.time() + _PAUSE > until
            if late or not isinstance(error, _NOT_YET) or "401" in str(error):
                raise
        await asyncio.sleep(_PAUSE)


async def alive(client: WeaviateAsyncClient, seconds: float) -> bool:
    """Whether the server still answers anything."""
    try:
        async with asyncio.timeout(seconds):
            return await client.is_live()
    except TimeoutError:
        return False


def _client(endpoint: Endpoint, key: str, waits: Waits) -> WeaviateAsyncClient:
    """Without the client's own checks at the start, one of which asks pypi.org."""
    credentials = Auth.api_key(key) if key else None
    config = AdditionalConfig(
        timeout=Timeout(init=waits.query, query=waits.query, insert=waits.write)
    )
    if endpoint.cloud and credentials is not None:
        return weaviate.use_async_with_weaviate_cloud(
            endpoint.host,
            auth_credentials=credentials,
            additional_config=config,
            skip_init_checks=True,
        )
    return weaviate.use_async_with_custom(
        http_host=endpoint.host,
        http_port=endpoint.port,
        http_secure=endpoint.secure,
        grpc_host=endpoint.grpc_host,
        grpc_port=endpoint.grpc_port,
        grpc_secure=endpoint.secure,
        auth_credentials=credentials,
        additional_config=config,
        skip_init_checks=True,
    )
