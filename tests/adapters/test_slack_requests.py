"""Requests that Slack brings itself: only its own are heard."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from bot.chat import Incoming
from bot.inbox import Desk
from bot.ports import Conversation, Sink
from tests.adapters.slack_kit import At, office
from tests.bot.desk_kit import settle
from tests.servers.slack_server import MENTION

both = pytest.mark.parametrize("http", [False, True], ids=["socket", "http"])

ODD: list[dict[str, Any]] = [
    {"type": "event_callback", "event": "message"},
    {"type": "event_callback", "event": None},
    {"type": "event_callback", "event": {"type": ["message"]}},
    {"type": "event_callback", "event": {"type": "reaction_added", "user": "U0ANN"}},
    {"type": "event_callback", "event": {"type": "message", "user": "U0ANN", "ts": []}},
    {"type": "app_rate_limited", "minute_rate_limited": 1},
    {"type": "block_actions", "actions": []},
    {"type": "block_actions", "actions": [{"value": "s:1"}]},
    {"type": "block_actions", "actions": [{"action_id": "a", "value": "s:1"}]},
    {"type": "interactive_message", "callback_id": "c", "actions": [{"name": "a"}]},
    {"type": "view_submission", "view": {"callback_id": "c", "type": "modal"}},
    {"type": "view_closed", "view": 5},
    {"type": "workflow_step_edit", "callback_id": "c"},
    {"type": "block_suggestion", "action_id": "a"},
    {"type": "message_action", "callback_id": "c"},
    {"type": "shortcut", "callback_id": "c"},
    {"ssl_check": "1"},
]


async def never(event: Incoming, conversation: Conversation) -> None:
    pytest.fail(f"worked on {event}")


class TestSignatures:
    async def post(self, at: At, data: bytes, **headers: str) -> int:
        content = {"Content-Type": "application/json"}
        return (await at.server.notices.post(data, {**content, **headers})).status

    async def test_only_slack_is_heard(self) -> None:
        async with office(never, http=True) as at:
            sign, now = at.server.notices.signed, at.server.notices.now()
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
                {**signed, "X-Slack-Request-Timestamp": "9" * 5000},
                sign(data, secret="another secret"),
                sign(data, at=now - 301),
                sign(data, at=now + 400),
                sign(data + b" "),
            ]
            for headers in refused:
                assert await self.post(at, data, **headers) == 401, headers
            await at.idle()

    async def test_the_address_is_verified(self) -> None:
        async with office(never, http=True) as at:
            told = await at.server.notices.verify()
            assert (told.status, json.loads(told.body)) == (200, {"challenge": "c-4711"})
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


@both
class TestAcknowledgements:
    """By whichever way a notice comes."""

    async def test_sl_01_an_event_is_stored_before_it_is_acknowledged(self, http: bool) -> None:
        storing, stored = asyncio.Event(), asyncio.Event()

        class Slow(Sink):
            def __init__(self, desk: Desk) -> None:
                self._desk = desk

            async def accept(self, event: Incoming) -> None:
                storing.set()
                await stored.wait()
                await self._desk.accept(event)

        async with office(sink=Slow, http=http) as at, asyncio.TaskGroup() as group:
            says = [
                at.server.says(at.direct, at.ann, "which port?"),
                at.server.commands(at.ops, at.ann, "why"),
                at.server.presses(at.ops, at.boris, at.server.posted(at.ops, at.ann, "x"), "s:1"),
            ]
            for number, saying in enumerate(says, start=1):
                storing.clear()
                stored.clear()
                telling = group.create_task(saying)
                await storing.wait()
                await settle()
                assert not telling.done()
                assert at.server.notices.told[number - 1 :] == []
                stored.set()
                await telling
                assert at.server.notices.told[-1].status == 200
                await at.until(lambda number=number: len(at.seen) == number)

    async def test_sl_01_what_fails_in_an_unforeseen_way_is_brought_again(self, http: bool) -> None:
        failed = asyncio.Event()

        class Clumsy(Sink):
            def __init__(self, desk: Desk) -> None:
                self._desk = desk

            async def accept(self, event: Incoming) -> None:
                if not failed.is_set():
                    failed.set()
                    raise RuntimeError("a mistake")
                await self._desk.accept(event)

        async with office(sink=Clumsy, http=http) as at, asyncio.TaskGroup() as group:
            event = {"type": "message", "channel": at.direct.id, "channel_type": "im"}
            event |= {"user": at.ann.id, "text": "why?", "ts": at.server.at.new_ts()}
            body = at.server.notices.envelope(event)
            lost = group.create_task(at.server.notices.send(body))
            await failed.wait()
            assert (await at.server.notices.send(body, retry=1)).status == 200
            lost.cancel()
            await at.until(lambda: at.seen)
            assert [event.text for event in at.seen] == ["why?"]
            statuses = [item.status for item in at.server.notices.told]
            assert statuses == ([500, 200] if http else [200])

    async def test_nothing_is_asked_of_slack_before_an_acknowledgement(self, http: bool) -> None:
        async def nothing(event: Incoming, conversation: Conversation) -> None:
            pass

        async with office(nothing, http=http, completes=False) as at:
            at.server.calls.clear()
            for _ in range(3):
                await at.server.says(at.ops, at.ann, f"{MENTION} which port?")
            await at.idle()
            assert at.server.calls == []

    @pytest.mark.parametrize("body", ODD, ids=str)
    async def test_what_is_not_for_the_bot_is_acknowledged(
        self, http: bool, body: dict[str, Any]
    ) -> None:
        async with office(never, http=http) as at:
            for kind in ("events_api", "interactive"):
                assert (await at.server.notices.send(body, kind)).status == 200
            await at.idle()

    async def test_a_command_may_speak_of_a_payload(self, http: bool) -> None:
        async with office(http=http) as at:
            await at.server.commands(at.ops, at.ann, "ask which payload is too large?")
            await at.until(lambda: at.seen)
            assert at.seen[0].text == "/ask which payload is too large?"

    async def test_variables_that_are_meant_for_other_apps_change_nothing(
        self, http: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("HOME", str(tmp_path))
        for name in ("BOT_TOKEN", "SIGNING_SECRET", "CLIENT_ID", "CLIENT_SECRET"):
            monkeypatch.setenv(f"SLACK_{name}", "another")
        async with office(http=http) as at:
            await at.server.says(at.direct, at.ann, "which port?")
            await at.answered(at.direct)
        assert list(tmp_path.iterdir()) == []
