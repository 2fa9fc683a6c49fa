"""The process's HTTP server: health, mounted webhooks, and addresses that cannot be had."""

from __future__ import annotations

import socket
from collections.abc import Mapping

import aiohttp
import pytest

from bot.errors import SettingsError
from bot.http import Answered, HttpServer, Listening

ANYWHERE = Listening(port=0)


async def posted(server: HttpServer, path: str, body: bytes = b"{}") -> int:
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"http://127.0.0.1:{server.port}{path}", data=body) as response,
    ):
        return response.status


async def test_what_is_mounted_gets_headers_and_body() -> None:
    seen: list[tuple[str, bytes]] = []

    async def handle(headers: Mapping[str, str], body: bytes) -> int:
        seen.append((headers["content-length"], body))
        return 202

    async with HttpServer(ANYWHERE) as server:
        assert await posted(server, "/hook", b"news") == 404
        server.mount("/hook", handle)
        assert await posted(server, "/hook", b"news") == 202
        assert await posted(server, "/hook/else", b"news") == 404
    assert seen == [("4", b"news")]


async def test_a_handler_that_fails_has_the_sender_try_again() -> None:
    async def handle(headers: Mapping[str, str], body: bytes) -> int:
        raise OSError("disk full")

    async with HttpServer(ANYWHERE) as server:
        server.mount("/hook", handle)
        assert await posted(server, "/hook") == 500


async def test_a_body_beyond_the_limit_is_refused_unread() -> None:
    async def handle(headers: Mapping[str, str], body: bytes) -> int:
        return 200

    async with HttpServer(Listening(port=0, largest=1000)) as server:
        server.mount("/hook", handle)
        assert await posted(server, "/hook", bytes(1000)) == 200
        assert await posted(server, "/hook", bytes(1001)) == 413


@pytest.mark.parametrize(("healthy", "status"), [(True, 200), (False, 503)])
async def test_health(healthy: bool, status: int) -> None:
    async with (
        HttpServer(ANYWHERE, healthy=lambda: healthy) as server,
        aiohttp.ClientSession() as session,
        session.get(f"http://127.0.0.1:{server.port}/healthz") as response,
    ):
        assert response.status == status


async def test_an_address_in_use_names_the_setting_and_the_remedy() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = int(taken.getsockname()[1])
        with pytest.raises(SettingsError) as caught:
            async with HttpServer(Listening(port=port)):
                pass
    assert str(caught.value) == (
        f"BELAY_HTTP: nothing can listen on 127.0.0.1:{port}: Address already in use"
    )
    assert "another host:port" in caught.value.remedy


async def test_a_host_that_is_not_this_machine_names_the_setting() -> None:
    with pytest.raises(SettingsError, match=r"BELAY_HTTP.*192\.0\.2\.1"):
        async with HttpServer(Listening(host="192.0.2.1", port=0)):
            pass


async def test_a_page_is_shown_and_a_page_that_fails_is_500() -> None:
    async def page() -> Answered:
        return Answered(503, '{"status": "starting"}', "application/json")

    async def broken() -> Answered:
        raise OSError("disk full")

    async with HttpServer(ANYWHERE) as server, aiohttp.ClientSession() as session:
        server.show("/readyz", page)
        server.show("/broken", broken)
        address = f"http://127.0.0.1:{server.port}"
        async with session.get(f"{address}/readyz") as response:
            assert (response.status, await response.json()) == (503, {"status": "starting"})
        async with session.get(f"{address}/broken") as response:
            assert response.status == 500
            assert "disk" not in await response.text()
        async with session.get(f"{address}/else") as response:
            assert response.status == 404


async def test_a_webhook_that_is_not_mounted_yet_is_tried_again() -> None:
    """Messengers repeat what is answered with 503; 404 might have them give up."""
    async with HttpServer(ANYWHERE) as server:
        server.complete(False)
        assert await posted(server, "/telegram/webhook") == 503
        server.complete(True)
        assert await posted(server, "/telegram/webhook") == 404
