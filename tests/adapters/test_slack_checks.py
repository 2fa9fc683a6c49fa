"""What `belay doctor` finds out about a Slack app, the manifest, and the bot's own page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

import adapters.slack
from adapters.slack.checks import SCOPES
from adapters.slack.events import SUBSCRIBED
from adapters.slack.factory import create
from adapters.slack.webhook import PATH
from bot.http import HttpServer
from bot.ports import Finding
from tests.adapters.slack_kit import office
from tests.servers.slack_server import Limited, Refused, SlackServer

MANIFEST: dict[str, Any] = yaml.safe_load(
    (Path(adapters.slack.__file__).parent / "manifest.yaml").read_text(encoding="utf-8")
)


async def found(server: SlackServer, **more: Any) -> list[Finding]:
    way: dict[str, Any] = {"app_token": server.app_token} | more
    slack = create(server.token, api_url=server.url, **way)
    try:
        return list(await slack.check())
    finally:
        await slack.close()


def states(findings: list[Finding]) -> list[str]:
    return [finding.state for finding in findings]


async def test_op_05_all_is_well() -> None:
    async with SlackServer() as server:
        server.channel("C0OPS", "ops")
        server.channel("C0ACME", "acme", shared=True)
        findings = await found(server)
        assert states(findings) == ["ok"] * 4
        assert "2 channels, 1 of them shared" in findings[-1].message
        assert server.sent(server.at.channels["C0OPS"]) == []
        writing = [call.method for call in server.calls if call.method.startswith("chat.")]
        assert writing == []


async def test_op_05_a_token_that_slack_does_not_accept_is_named_and_not_shown() -> None:
    async with SlackServer() as server:
        server.revoke("invalid_auth")
        (finding,) = await found(server)
        assert finding.state == "bad"
        assert "BELAY_SLACK_BOT_TOKEN" in finding.remedy
        assert server.token not in f"{finding.message} {finding.remedy}"


async def test_op_05_missing_scopes_are_named_with_what_they_are_for() -> None:
    async with SlackServer(scopes=["chat:write", "channels:read"]) as server:
        scopes = (await found(server))[1]
        assert scopes.state == "bad"
        assert "users:read (who is a guest)" in scopes.message
        assert "chat:write" not in scopes.message
        assert "manifest.yaml" in scopes.remedy


async def test_op_05_an_app_token_that_opens_no_socket() -> None:
    async with SlackServer() as server:
        server.channel("C0OPS", "ops")
        wrong = (await found(server, app_token="xapp-1-other"))[2]
        swapped = (await found(server, app_token=server.token))[2]
        server.socket_mode = False
        off = (await found(server))[2]
        assert [wrong.state, swapped.state, off.state] == ["bad"] * 3
        assert "BELAY_SLACK_APP_TOKEN" in wrong.remedy
        assert "no app token" in swapped.message
        server.fail("apps.connections.open", Refused("internal_error"))
        assert (await found(server))[2].state == "bad"


async def test_by_http_it_says_where_slack_must_be_sent() -> None:
    async with SlackServer() as server:
        server.channel("C0OPS", "ops")
        findings = await found(server, app_token="", signing_secret="0" * 32, http=HttpServer())
        assert findings[2].state == "note"
        assert PATH in findings[2].remedy
        assert server.called("apps.connections.open") == []


async def test_a_bot_in_no_channel_is_worth_a_note() -> None:
    async with SlackServer() as server:
        finding = (await found(server))[-1]
        assert (finding.state, "/invite @belay" in finding.remedy) == ("note", True)
        server.fail("users.conversations", Limited(1))
        assert (await found(server))[-1].state == "note"


async def test_slack_that_cannot_be_reached_is_said_so() -> None:
    slack = create("xoxb-1", app_token="xapp-1", api_url="http://127.0.0.1:9/api/")
    (finding,) = await slack.check()
    await slack.close()
    assert (finding.state, "not reached" in finding.message) == ("bad", True)


class TestManifest:
    def test_it_asks_for_the_scopes_that_the_code_uses(self) -> None:
        assert MANIFEST["oauth_config"]["scopes"]["bot"] == sorted(SCOPES)

    def test_it_subscribes_to_the_events_that_the_code_reads(self) -> None:
        settings = MANIFEST["settings"]
        assert settings["event_subscriptions"]["bot_events"] == sorted(SUBSCRIBED)
        assert settings["interactivity"]["is_enabled"] is True
        assert settings["socket_mode_enabled"] is True

    def test_it_has_the_command_and_the_surfaces(self) -> None:
        features = MANIFEST["features"]
        assert [item["command"] for item in features["slash_commands"]] == ["/belay"]
        assert features["app_home"]["home_tab_enabled"] is True
        assert features["app_home"]["messages_tab_read_only_enabled"] is False
        assert features["assistant_view"]["assistant_description"]


class TestHome:
    async def test_the_page_is_shown_and_its_words_are_only_words(self) -> None:
        async with office() as at:
            await at.server.opens_home(at.ann, at.direct)
            await at.server.until(lambda: at.server.methods.homes)
            blocks = at.server.methods.homes["U0ANN"]["blocks"]
            kinds = {block["type"] for block in blocks}
            assert kinds == {"header", "rich_text", "divider"}
            runs = [
                run
                for block in blocks
                if block["type"] == "rich_text"
                for element in block["elements"]
                for line in (element["elements"] if "style" in element else [element])
                for run in line["elements"]
            ]
            assert {run["type"] for run in runs} == {"text"}
            assert "".join(run["text"] for run in runs).endswith(" helps & <@U0CEO>")
            code = [run["text"] for run in runs if run.get("style")]
            assert code == ["/belay help"]

    @pytest.mark.parametrize("fault", [Refused("not_enabled"), Limited(1)])
    async def test_a_page_that_slack_refuses_disturbs_nothing(self, fault: Any) -> None:
        async with office() as at:
            at.server.fail("views.publish", fault)
            await at.server.opens_home(at.ann, at.direct)
            await at.server.until(lambda: at.server.called("views.publish"))
            await at.server.says(at.direct, at.ann, "still there?")
            await at.answered(at.direct)
