"""Requests that Slack brings itself: only its own are heard."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

import pytest

from bot.chat import Incoming
from bot.ports import Conversation
from tests.adapters.slack_kit import At, office


async def never(event: Incoming, conversation: Conversation) -> None:
    pytest.fail(f"worked on {event}")


class TestSignatures:
    async def post(self, at: At, data: bytes, **headers: str) -> int:
        content = {"Content-Type": "application/json"}
        return (await at.server.notices.post(data, {**content, **headers})).status

    async def test_only_slack_is_heard(self) -> None:
        async with office(never, http=True) as at:
            sign, now = at.server.notices.signed, at.time.clock()
            event = {"type": "message", "channel": "D0ANN", "channel_type": "im", "user": "U0ANN"}
            body = at.server.notices.envelope({**event, "text": "hi", "ts": "1.0"})
            data = json.dumps(body).encode()
            signed = sign(data)
            refused: list[dict[str, str]] = [
                {},
                {**signed, "X-Slack-Signature": "v0=00"},
                {**signed, "X-Slack-Signature": "v0=жжж".encode().decode("latin-1")},
                {**signed, "X-Slack-Request-Timestamp": str(int(now) - 1)},
                {**signed, "X-Slack-Request-Timestamp": "yesterday"},
                {**signed, "X-Slack-Request-Timestamp": "-1"},
                sign(data, secret="another secret"),
                sign(data, at=now - 301),
                sign(data, at=now + 301),
                sign(data + b" "),
            ]
            for headers in refused:
                assert await self.post(at, data, **headers) == 401, headers
            await at.idle()

    async def test_the_address_is_verified(self) -> None:
        async with office(never, http=True) as at:
            told = await at.server.notices.verify()
            assert (told.status, told.body) == (200, "c-4711")
            data = b'{"type": "url_verification", "challenge": "c"}'
            assert await self.post(at, data) == 401

    @pytest.mark.parametrize("data", [b"", b"[]", b"{", b"\xff\xfe", b'"x"'])
    async def test_what_is_no_notice_is_refused(self, data: bytes) -> None:
        async with office(never, http=True) as at:
            assert await self.post(at, data, **at.server.notices.signed(data)) == 400

    @pytest.mark.parametrize(
        "body",
        [
            {"type": "event_callback", "event": {"type": "message", "channel": "C1", "user": "U1"}},
            {"type": "event_callback", "event": {"type": "message", "user": "U1", "ts": "x"}},
            {"type": "event_callback", "event": "message"},
            {"type": "event_callback"},
            {"type": "app_rate_limited", "minute_rate_limited": 1},
            {"event": {"type": "message", "subtype": "message_changed", "message": None}},
            {"event": {"type": "assistant_thread_started"}},
        ],
    )
    async def test_a_notice_that_cannot_be_read_is_not_asked_for_again(
        self, body: dict[str, Any]
    ) -> None:
        async with office(never, http=True) as at:
            data = json.dumps(body).encode()
            assert await self.post(at, data, **at.server.notices.signed(data)) == 200
            form = urlencode({"ssl_check": "1"}).encode()
            kind = {"Content-Type": "application/x-www-form-urlencoded"}
            assert await self.post(at, form, **kind, **at.server.notices.signed(form)) == 200
