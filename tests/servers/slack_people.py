"""What people do in a workspace, and what an app is told of it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from tests.servers.slack_notices import Notices, Told
from tests.servers.slack_workspace import (
    APP_ID,
    BOT_ID,
    BOT_USER,
    TEAM,
    Channel,
    Json,
    User,
    Workspace,
)

MENTION = f"<@{BOT_USER}>"
_SAID = (None, "bot_message", "file_share", "me_message", "thread_broadcast")
_TOKEN = re.compile(r"<@(\w+)>")


class People:
    """Each method is one thing that somebody does. Those that tell the app are coroutines."""

    url: str  # of the Web API

    def __init__(self, at: Workspace, notices: Notices) -> None:
        self.at, self.notices = at, notices
        self.responses: dict[str, tuple[Channel, str]] = {}  # response_url id -> where, to whom
        self._serial = itertools.count(1)

    def user(self, user_id: str, name: str, *, team: str = TEAM, **flags: bool) -> User:
        return self.at.add_user(User(user_id, name, team, flags=flags))

    def channel(self, channel_id: str, name: str = "", **more: Any) -> Channel:
        """`kind` is "channel", "group" (private) or "mpim"; `shared` with an organisation."""
        return self.at.add_channel(Channel(channel_id, name, **more))

    def direct(self, user: User, channel_id: str = "") -> Channel:
        """The direct messages of a person and the bot."""
        name = channel_id or "D" + user.id[1:]
        return self.at.add_channel(Channel(name, "", "im", user=user.id))

    def posted(self, channel: Channel, user: User, text: str, **fields: Any) -> str:
        """A message that the app is not told of; returns its ts."""
        return str(self._message(channel, {"user": user.id, "text": text, **fields})["ts"])

    def posted_by_app(self, channel: Channel, text: str = "", **fields: Any) -> str:
        """One of an alerting tool, with attachments or blocks."""
        body = {"subtype": "bot_message", "bot_id": "B0AM", "username": "Alertmanager"}
        return str(self._message(channel, {**body, "text": text, **fields})["ts"])

    async def says(
        self,
        channel: Channel,
        user: User,
        text: str,
        *,
        thread: str = "",
        blocks: Sequence[Json] | None = None,
        files: Sequence[Json] = (),
        times: int = 1,
        mention_first: bool = True,
        **fields: Any,
    ) -> str:
        """A message, told `times` times; one with a mention also as app_mention. Returns its ts.

        `blocks` are what the client sends beside the text; by default one section of it.
        """
        body: Json = {"user": user.id, "text": text, "team": user.team, "client_msg_id": "c-1"}
        body["blocks"] = list(blocks) if blocks is not None else [rich_text(section(text))]
        body |= {"thread_ts": thread} if thread else {}
        body |= {"files": list(files), "subtype": "file_share"} if files else {}
        message = self._message(channel, {**body, **fields})
        await self.tells(channel, message, times=times, mention_first=mention_first)
        return str(message["ts"])

    async def tells(
        self, channel: Channel, message: Json, *, times: int = 1, mention_first: bool = True
    ) -> list[Told]:
        """Tells the app of a message as Slack does: of a mention twice."""
        where = {"channel": channel.id, "event_ts": message["ts"]}
        events = [{**message, **where, "channel_type": channel.kind}]
        said = message.get("subtype") in _SAID
        if said and MENTION in message.get("text", "") and channel.kind != "im":
            mention = {**message, **where, "type": "app_mention"}
            mention.pop("subtype", None)
            events.insert(0 if mention_first else 1, mention)
        return [told for event in events for told in await self.tell(channel, event, times=times)]

    async def tell(self, channel: Channel | None, event: Json, *, times: int = 1) -> list[Told]:
        shared = bool(channel and channel.shared)
        return await self.notices.event(event, times=times, is_ext_shared_channel=shared)

    async def edits(self, channel: Channel, ts: str, text: str, **fields: Any) -> None:
        old = dict(self.at.messages[channel.id][ts])
        new = self.at.messages[channel.id][ts]
        edited = {"user": old.get("user"), "ts": self.at.new_ts()}
        new.update(text=text, edited=edited, blocks=[rich_text(section(text))], **fields)
        await self._tell_change(channel, new, old)

    async def unfurls(self, channel: Channel, ts: str) -> None:
        """Slack shows a preview of a link in a message."""
        old = dict(self.at.messages[channel.id][ts])
        new = self.at.messages[channel.id][ts]
        new["attachments"] = [{"id": 1, "title": "Wiki", "text": "a page", "from_url": "https://w"}]
        await self._tell_change(channel, new, old)

    async def deletes(self, channel: Channel, ts: str, *, told: bool = True) -> None:
        old = self.at.messages[channel.id].pop(ts)
        self.at.deleted.add(ts)
        if not told:
            return
        event = self._about(channel, "message_deleted", deleted_ts=ts, previous_message=old)
        await self.tell(channel, event)

    async def commands(
        self, channel: Channel, user: User, text: str, command: str = "/belay", **more: Any
    ) -> Told:
        """A slash command."""
        body = {
            "token": "verification",
            "team_id": TEAM,
            "channel_id": channel.id,
            "channel_name": "directmessage" if channel.kind == "im" else channel.name,
            "user_id": user.id,
            "user_name": user.name.lower(),
            "command": command,
            "text": text,
            "api_app_id": APP_ID,
            "is_enterprise_install": "false",
            "response_url": self.response_url(channel, user),
            "trigger_id": f"{next(self._serial)}.{TEAM}.trigger",
        }
        return await self.notices.send({**body, **more}, "slash_commands")

    async def presses(
        self, channel: Channel, user: User, ts: str, value: str, *, ephemeral: bool = False
    ) -> Told:
        """A button under a message of the bot."""
        message = self.at.messages[channel.id].get(ts, {"ts": ts})
        thread = {"thread_ts": message["thread_ts"]} if message.get("thread_ts") else {}
        kind = "feedback_buttons" if value.partition(":")[0] in ("u", "d") else "button"
        body: Json = {
            "type": "block_actions",
            "team": {"id": TEAM, "domain": "example"},
            "user": {"id": user.id, "username": user.name.lower(), "team_id": user.team},
            "api_app_id": APP_ID,
            "container": {
                "type": "message",
                "message_ts": ts,
                "channel_id": channel.id,
                "is_ephemeral": ephemeral,
                **thread,
            },
            "channel": {"id": channel.id, "name": channel.name},
            "trigger_id": f"{next(self._serial)}.{TEAM}.trigger",
            "response_url": self.response_url(channel, user),
            "actions": [
                {
                    "type": kind,
                    "action_id": "a1",
                    "block_id": "b1",
                    "value": value,
                    "action_ts": self.at.new_ts(),
                }
            ],
            **({} if ephemeral else {"message": message}),
        }
        return await self.notices.send(body, "interactive")

    async def opens_home(self, user: User, channel: Channel) -> None:
        event = {"type": "app_home_opened", "user": user.id, "channel": channel.id, "tab": "home"}
        await self.tell(channel, {**event, "event_ts": self.at.new_ts()})

    async def opens_assistant(self, user: User, channel: Channel) -> str:
        """The pane beside a channel; returns the ts of its thread."""
        fields = {"user": BOT_USER, "bot_id": BOT_ID, "subtype": "assistant_app_thread"}
        root = self._message(channel, {**fields, "text": "New Assistant Thread"})
        thread = {"user_id": user.id, "channel_id": channel.id, "thread_ts": root["ts"]}
        event = {"type": "assistant_thread_started", "assistant_thread": {**thread, "context": {}}}
        await self.tell(channel, {**event, "event_ts": self.at.new_ts()})
        return str(root["ts"])

    async def invites_bot(self, channel: Channel, user: User) -> None:
        """Somebody adds the bot to a channel; Slack writes so there too."""
        channel.member = True
        event = {"type": "member_joined_channel", "user": BOT_USER, "channel": channel.id}
        event |= {"channel_type": "C", "team": TEAM, "inviter": user.id}
        await self.tell(channel, {**event, "event_ts": self.at.new_ts()})
        text = f"<@{BOT_USER}> has joined the channel"
        fields = {"user": BOT_USER, "subtype": "channel_join", "inviter": user.id}
        await self.tells(channel, self._message(channel, {**fields, "text": text}))

    async def removes_bot(self, channel: Channel, user: User) -> None:
        channel.member = False
        kind = "channel_left" if channel.kind == "channel" else "group_left"
        event = {"type": kind, "channel": channel.id, "actor_id": user.id}
        await self.tell(channel, {**event, "event_ts": self.at.new_ts()})

    async def uninstalls(self) -> None:
        tokens = {"type": "tokens_revoked", "tokens": {"oauth": [], "bot": [BOT_USER]}}
        await self.tell(None, tokens)
        await self.tell(None, {"type": "app_uninstalled"})

    def file(self, name: str, data: bytes, *, mimetype: str = "text/plain", **fields: Any) -> Json:
        """A file that a message can bring along."""
        file_id = f"F{len(self.at.files) + 1:04d}"
        address = (
            f"{self.url.removesuffix('/api/')}/files-pri/{file_id}/{quote(name[:40], safe='')}"
        )
        described = {
            "id": file_id,
            "name": name,
            "mimetype": mimetype,
            "filetype": name.rpartition(".")[2],
            "size": len(data),
            "mode": "hosted",
            "url_private": address,
            "url_private_download": address,
            **fields,
        }
        self.at.files[file_id] = (described, data)
        return described

    def response_url(self, channel: Channel, user: User) -> str:
        name = f"r{next(self._serial)}"
        self.responses[name] = (channel, user.id)
        return f"{self.url.removesuffix('/api/')}/response/{name}"

    def _message(self, channel: Channel, fields: Mapping[str, Any]) -> Json:
        return self.at.store(channel, {"type": "message", "ts": self.at.new_ts(), **fields})

    def _about(self, channel: Channel, subtype: str, **fields: Any) -> Json:
        return {
            "type": "message",
            "subtype": subtype,
            "hidden": True,
            "channel": channel.id,
            "channel_type": channel.kind,
            "ts": (ts := self.at.new_ts()),
            "event_ts": ts,
            **fields,
        }

    async def _tell_change(self, channel: Channel, new: Json, old: Json) -> None:
        event = self._about(channel, "message_changed", message=dict(new), previous_message=old)
        await self.tell(channel, event)


def rich_text(*elements: Json) -> Json:
    return {"type": "rich_text", "block_id": "b0", "elements": list(elements)}


def section(text: str, kind: str = "rich_text_section") -> Json:
    """`kind`: rich_text_section, rich_text_quote or rich_text_preformatted."""
    return {"type": kind, "elements": _elements(text)}


def _elements(text: str) -> list[Json]:
    pieces = _TOKEN.split(text)
    make: tuple[Callable[[str], Json], ...] = (
        lambda words: {"type": "text", "text": words},
        lambda user: {"type": "user", "user_id": user},
    )
    return [make[number % 2](piece) for number, piece in enumerate(pieces) if piece]
