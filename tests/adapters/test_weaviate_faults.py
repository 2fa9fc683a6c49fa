"""A Weaviate server that is away, half there, locked or late: each told apart from the others."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from adapters.weaviate import WeaviateIndex
from adapters.weaviate.options import Endpoint, Waits
from bot.errors import StorageError

AWAY = "http://127.0.0.1:9"  # the discard port: nobody listens
NO_GRPC = "127.0.0.1:11"
SHORT = Waits(start=3.0, query=0.5, write=5.0, look=0.5)


async def refused(url: str, **options: object) -> StorageError:
    with pytest.raises(StorageError) as caught:
        await WeaviateIndex.open(url, **{"grpc": NO_GRPC, "waits": SHORT, **options})
    return caught.value


@asynccontextmanager
async def serving(answer: Callable[[web.Request], web.Response]) -> AsyncIterator[str]:
    """The REST side of a server, at the address that comes back."""

    async def handle(request: web.Request) -> web.Response:
        return answer(request)

    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", handle)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    try:
        yield f"http://{host}:{port}"
    finally:
        await runner.cleanup()


def ready(request: web.Request) -> web.Response:
    """A healthy server that has no collection, and makes every one."""
    if request.path == "/v1/.well-known/openid-configuration":
        return web.Response(status=404)
    if request.path.startswith("/v1/schema/"):
        return web.Response(status=404)
    return web.json_response({"version": "1.39.0", "hostname": "here", "class": "Any"})


async def test_a_server_that_is_away() -> None:
    error = await refused(AWAY, waits=Waits(start=0.1))
    assert str(error) == "Weaviate does not answer: http://127.0.0.1:9."
    assert "BELAY_WEAVIATE_URL" in error.remedy


async def test_a_password_in_the_address_is_not_shown() -> None:
    error = await refused("http://belay:hunter2@127.0.0.1:9", waits=Waits(start=0.1))
    assert "hunter2" not in str(error)


@pytest.mark.parametrize("key", ["", "a-wrong-key"])
async def test_a_key_that_is_refused(key: str) -> None:
    """At once: waiting does not make it right."""
    asked: list[str] = []

    def locked(request: web.Request) -> web.Response:
        asked.append(request.path)
        return web.json_response({"message": "anonymous access not enabled"}, status=401)

    async with serving(locked) as url:
        error = await refused(url, key=key)
    assert "refused the key" in str(error)
    assert "BELAY_WEAVIATE_KEY" in error.remedy
    assert asked.count("/v1/meta") <= 1


async def test_st_09_rest_answers_and_grpc_does_not() -> None:
    async with serving(ready) as url:
        error = await refused(url)
    assert "its gRPC port does not" in str(error)
    assert "BELAY_WEAVIATE_GRPC" in error.remedy


async def test_st_09_a_server_that_is_starting_is_waited_for() -> None:
    """It refuses twice, then it is ready: what is missing then is gRPC alone."""
    looks = 0

    def starting(request: web.Request) -> web.Response:
        nonlocal looks
        if request.path == "/v1/.well-known/ready":
            looks += 1
            if looks < 3:
                return web.Response(status=503)
        return ready(request)

    async with serving(starting) as url:
        error = await refused(url)
    assert looks == 3
    assert "gRPC" in str(error)


@pytest.mark.parametrize(
    ("url", "grpc", "expected"),
    [
        ("http://weaviate:8080", "", Endpoint("weaviate", 8080, False, "weaviate", 50051)),
        ("https://db.example", "", Endpoint("db.example", 443, True, "db.example", 50051)),
        ("http://[::1]:8080", "[::1]:50061", Endpoint("::1", 8080, False, "::1", 50061)),
        (
            "https://db.example",
            "g.example:443",
            Endpoint("db.example", 443, True, "g.example", 443),
        ),
    ],
)
def test_both_doors_of_a_server(url: str, grpc: str, expected: Endpoint) -> None:
    assert Endpoint.of(url, grpc) == expected


@pytest.mark.parametrize(
    "url", ["https://x1.c0.europe-west3.gcp.weaviate.cloud", "https://a.weaviate.network"]
)
def test_the_cloud_is_known_by_its_name(url: str) -> None:
    assert Endpoint.of(url).cloud
    assert not Endpoint.of(url + ".evil.example").cloud
