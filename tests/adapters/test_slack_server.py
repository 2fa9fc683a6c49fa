"""The loopback Slack behaves, towards the SDK, as Slack does."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from slack_sdk.errors import SlackApiError
from slack_sdk.signature import SignatureVerifier
from slack_sdk.web.async_client import AsyncWebClient

from tests.bot.desk_kit import Time
from tests.contract.inbox_events import Clock
from tests.servers.slack_server import Flood, Limited, Lost, Refused, SlackServer


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def slack(clock: Clock) -> AsyncIterator[SlackServer]:
    async with SlackServer(clock=clock, now=clock) as server:
        yield server


@pytest.fixture
async def client(slack: SlackServer) -> AsyncIterator[AsyncWebClient]:
    async with aiohttp.ClientSession() as session:
        yield AsyncWebClient(slack.token, slack.url, session=session, retry_handlers=[])


async def refused(call: Awaitable[object]) -> str:
    with pytest.raises(SlackApiError) as caught:
        await call
    return str(caught.value.response["error"])


async def test_it_knows_its_tokens(slack: SlackServer, client: AsyncWebClient) -> None:
    me = await client.auth_test()
    assert (me["user_id"], me["team_id"]) == ("U0BOT", "T0TEAM")
    assert "chat:write" in me.headers["x-oauth-scopes"]
    opened = await client.apps_connections_open(app_token=slack.app_token)
    assert opened["url"].startswith("ws://")
    assert await refused(client.apps_connections_open(app_token="xapp-1-other")) == "invalid_auth"
    slack.revoke("account_inactive")
    assert await refused(client.auth_test()) == "account_inactive"


async def test_messages_are_kept_changed_and_deleted(
    slack: SlackServer, client: AsyncWebClient
) -> None:
    ops = slack.channel("C0OPS", "ops")
    root = slack.posted(ops, slack.user("U0ANN", "Ann"), "disk full")
    made = await client.chat_postMessage(channel="C0OPS", markdown_text="**on it**", thread_ts=root)
    await client.chat_update(channel="C0OPS", ts=made["ts"], text="done")
    (sent,) = slack.sent(ops)
    assert (sent.shown, sent.thread, sent.edits) == ("done", root, 1)
    thread = await client.conversations_replies(channel="C0OPS", ts=root)
    assert [m["text"] for m in thread["messages"]] == ["disk full", "done"]
    await client.chat_delete(channel="C0OPS", ts=made["ts"])
    assert slack.sent(ops) == []


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ({"channel": "C0NONE", "text": "x"}, "channel_not_found"),
        ({"channel": "C0OLD", "text": "x"}, "is_archived"),
        ({"channel": "C0OTHER", "text": "x"}, "not_in_channel"),
        ({"channel": "C0OPS", "text": ""}, "no_text"),
        ({"channel": "C0OPS", "text": "x", "thread_ts": "1.0"}, "thread_not_found"),
        ({"channel": "C0OPS", "markdown_text": "x" * 12_001}, "msg_too_long"),
        ({"channel": "C0OPS", "markdown_text": "x", "text": "x"}, "markdown_text_conflict"),
        ({"channel": "C0OPS", "blocks": [{"type": "nonsense"}]}, "invalid_blocks"),
        ({"channel": "C0OPS", "blocks": [{"type": "divider"}] * 51}, "invalid_blocks"),
        (
            {"channel": "C0OPS", "blocks": [{"type": "markdown", "text": "x" * 7_000}] * 2},
            "msg_blocks_too_long",
        ),
        (
            {
                "channel": "C0OPS",
                "blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": "x" * 3_001}}],
            },
            "invalid_blocks",
        ),
    ],
)
async def test_it_refuses_what_slack_refuses(
    slack: SlackServer, client: AsyncWebClient, said: dict[str, Any], error: str
) -> None:
    slack.channel("C0OPS", "ops")
    slack.channel("C0OLD", archived=True)
    slack.channel("C0OTHER", member=False)
    assert await refused(client.api_call("chat.postMessage", json=said)) == error


async def test_an_update_takes_less_text_than_a_message(
    slack: SlackServer, client: AsyncWebClient
) -> None:
    slack.channel("C0OPS")
    made = await client.chat_postMessage(channel="C0OPS", text="я" * 4_000)
    update = client.chat_update(channel="C0OPS", ts=made["ts"], text="я" * 2_001)
    assert await refused(update) == "msg_too_long"


async def test_a_stream_grows_and_is_closed_after_five_minutes(
    slack: SlackServer, client: AsyncWebClient, clock: Clock
) -> None:
    ops = slack.channel("C0OPS")
    root = slack.posted(ops, slack.user("U0ANN", "Ann"), "why?")
    start: dict[str, Any] = {"channel": ops.id, "thread_ts": root}
    assert await refused(client.chat_startStream(**start)) == "missing_recipient_user_id"
    whom = {"recipient_user_id": "U0ANN", "recipient_team_id": "T0TEAM"}
    ts = (await client.chat_startStream(**start, **whom, markdown_text="a"))["ts"]
    await client.chat_appendStream(channel=ops.id, ts=ts, markdown_text="b")
    (sent,) = slack.sent(ops)
    assert (sent.shown, sent.streaming) == ("ab", True)
    clock.advance(301)
    append = client.chat_appendStream(channel=ops.id, ts=ts, markdown_text="c")
    assert await refused(append) == "message_not_in_streaming_state"
    await client.chat_update(channel=ops.id, ts=ts, markdown_text="abc")
    assert slack.sent(ops)[0].shown == "abc"


async def test_a_stream_that_is_stopped_ends_with_its_blocks(
    slack: SlackServer, client: AsyncWebClient
) -> None:
    direct = slack.direct(slack.user("U0ANN", "Ann"))
    root = slack.posted(direct, slack.at.users["U0ANN"], "why?")
    ts = (await client.chat_startStream(channel=direct.id, thread_ts=root))["ts"]
    button = {"type": "button", "action_id": "a", "value": "u:1"}
    button |= {"text": {"type": "plain_text", "text": "Yes"}}
    blocks = [{"type": "actions", "elements": [button]}]
    await client.chat_stopStream(channel=direct.id, ts=ts, markdown_text="so", blocks=blocks)
    (sent,) = slack.sent(direct)
    assert (sent.markdown, sent.streaming, [b["value"] for b in sent.buttons]) == (
        "so",
        False,
        ["u:1"],
    )


async def test_faults_floods_and_lost_replies(
    slack: SlackServer, client: AsyncWebClient, clock: Clock
) -> None:
    ops = slack.channel("C0OPS")
    slack.fail("chat.postMessage", Refused("fatal_error"), Limited(7), Lost(), Lost(done=False))
    post = {"channel": ops.id, "text": "x"}
    assert await refused(client.chat_postMessage(**post)) == "fatal_error"
    with pytest.raises(SlackApiError) as caught:
        await client.chat_postMessage(**post)
    assert caught.value.response.headers["Retry-After"] == "7"
    for _ in range(2):
        with pytest.raises(aiohttp.ClientError):
            await client.chat_postMessage(**post)
    assert len(slack.sent(ops)) == 1
    slack.flood = Flood()
    await client.chat_postMessage(**post)
    assert await refused(client.chat_postMessage(**post)) == "ratelimited"
    clock.advance(1)
    await client.chat_postMessage(**post)


async def test_methods_need_their_scopes(clock: Clock) -> None:
    async with SlackServer(scopes=["chat:write"], clock=clock, now=clock) as slack:
        client = AsyncWebClient(slack.token, slack.url)
        slack.user("U0ANN", "Ann")
        assert await refused(client.users_info(user="U0ANN")) == "missing_scope"


async def test_signed_requests_pass_the_sdks_verifier(slack: SlackServer) -> None:
    verifier = SignatureVerifier(slack.secret)
    seen: list[dict[str, Any]] = []

    async def listen(request: web.Request) -> web.Response:
        body = await request.read()
        stamp = request.headers["X-Slack-Request-Timestamp"]
        wanted = verifier.generate_signature(timestamp=stamp, body=body)
        assert wanted == request.headers["X-Slack-Signature"]
        given = await request.json() if body.startswith(b"{") else dict(await request.post())
        seen.append({**given, "retry": request.headers.get("X-Slack-Retry-Num", "")})
        return web.Response()

    app = web.Application()
    app.router.add_post("/slack/events", listen)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    slack.notices.url = f"http://{host}:{port}/slack/events"
    ann, ops = slack.user("U0ANN", "Ann"), slack.channel("C0OPS", "ops")
    await slack.says(ops, ann, "<@U0BOT> why?", times=2)
    await slack.commands(ops, ann, "why")
    await slack.presses(ops, ann, "1.0", "s:1")
    await runner.cleanup()
    kinds = [item.get("event", {}).get("type") for item in seen[:4]]
    assert kinds == ["app_mention", "app_mention", "message", "message"]
    assert [item["retry"] for item in seen[:4]] == ["", "1", "", "1"]
    assert seen[0]["event_id"] == seen[1]["event_id"] != seen[2]["event_id"]
    assert (seen[4]["command"], seen[4]["text"]) == ("/belay", "why")
    assert json.loads(seen[5]["payload"])["actions"][0]["value"] == "s:1"


async def test_a_response_url_is_good_for_five_uses(slack: SlackServer, clock: Clock) -> None:
    ann, ops = slack.user("U0ANN", "Ann"), slack.channel("C0OPS", "ops")
    url = slack.response_url(ops, ann)
    async with aiohttp.ClientSession() as session:
        statuses = []
        for _ in range(6):
            async with session.post(url, json={"text": "only you"}) as response:
                statuses.append(response.status)
    assert statuses == [200] * 5 + [404]
    assert {item.to for item in slack.whispered(ops)} == {"U0ANN"}
    assert slack.sent(ops) == []


async def test_files_are_read_with_the_token_only(slack: SlackServer) -> None:
    file = slack.file("log.txt", b"disk full")
    async with aiohttp.ClientSession() as session:
        async with session.get(file["url_private"]) as response:
            assert "Sign in" in await response.text()
        headers = {"Authorization": f"Bearer {slack.token}"}
        async with session.get(file["url_private"], headers=headers) as response:
            assert await response.read() == b"disk full"


async def test_time_moves_only_with_the_clock(clock: Clock) -> None:
    time = Time(clock)
    async with SlackServer(clock=clock, now=clock) as slack:
        ops = slack.channel("C0OPS")
        first = slack.posted(ops, slack.user("U0ANN", "Ann"), "one")
        await time.advance(60)
        second = slack.posted(ops, slack.at.users["U0ANN"], "two")
    assert int(float(second)) - int(float(first)) == 60
