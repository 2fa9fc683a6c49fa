"""What the methods of the Web API do, with the refusals that Slack gives."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

from tests.servers.slack_blocks import MARKDOWN, checked_blocks, checked_text
from tests.servers.slack_workspace import (
    APP_ID,
    BOT_ID,
    BOT_USER,
    TEAM,
    Channel,
    Json,
    Refused,
    Sent,
    Stream,
    Workspace,
)

STREAM_LIFE = 300.0  # seconds, after which Slack closes a stream
PROMPTS = 4
_PAGE = 100


class Methods:
    """The Web API as functions of parameters. A method is its name with "_" for ".", lower case.

    `scopes` are those of the bot token; a method that needs another is refused.
    """

    def __init__(self, at: Workspace, scopes: Collection[str]) -> None:
        self.at, self.scopes = at, set(scopes)
        self.statuses: list[Json] = []  # assistant.threads.setStatus
        self.prompts: list[Json] = []  # assistant.threads.setSuggestedPrompts
        self.titles: list[Json] = []
        self.homes: dict[str, Json] = {}  # user -> view

    def find(self, name: str) -> Callable[[Json], Any] | None:
        return getattr(self, f"do_{name.lower().replace('.', '_')}", None)

    def _need(self, *scopes: str) -> None:
        """One of the scopes."""
        if not self.scopes & set(scopes):
            provided = ",".join(sorted(self.scopes))
            raise Refused("missing_scope", needed=",".join(scopes), provided=provided)

    def do_auth_test(self, _: Json) -> Json:
        return {
            "url": "https://example.slack.com/",
            "team": "Example",
            "user": "belay",
            "team_id": TEAM,
            "user_id": BOT_USER,
            "bot_id": BOT_ID,
            "is_enterprise_install": False,
        }

    # Messages

    def do_chat_postmessage(self, p: Json) -> Json:
        self._need("chat:write")
        channel = self.at.open_channel(p.get("channel"))
        checked_text(p)
        return self._post(channel, p)

    def do_chat_update(self, p: Json) -> Json:
        self._need("chat:write")
        channel = self.at.open_channel(p.get("channel"))
        sent = self._mine(channel, p, "cant_update_message")
        if sent.streaming:
            raise Refused("streaming_state_conflict")
        checked_text(p, updated=True)
        blocks = tuple(p.get("blocks") or ())
        markdown, text = str(p.get("markdown_text", "")), str(p.get("text", ""))
        self.at.sent[sent.ts] = replace(
            sent, text=text, markdown=markdown, blocks=blocks, edits=sent.edits + 1
        )
        message = self.at.messages[channel.id][sent.ts]
        message.update(text=text or markdown, blocks=list(blocks))
        return {"channel": channel.id, "ts": sent.ts, "text": text, "message": message}

    def do_chat_delete(self, p: Json) -> Json:
        self._need("chat:write")
        channel = self.at.open_channel(p.get("channel"))
        sent = self._mine(channel, p, "cant_delete_message")
        del self.at.sent[sent.ts], self.at.messages[channel.id][sent.ts]
        return {"channel": channel.id, "ts": sent.ts}

    def do_chat_postephemeral(self, p: Json) -> Json:
        self._need("chat:write")
        channel = self.at.open_channel(p.get("channel"))
        if str(p.get("user")) not in self.at.users:
            raise Refused("user_not_in_channel")
        checked_text(p)
        self.ephemeral(channel, p, str(p["user"]))
        return {"message_ts": self.at.ephemeral[-1].ts}

    def do_chat_getpermalink(self, p: Json) -> Json:
        channel = self.at.channel(p.get("channel"))
        ts = str(p.get("message_ts"))
        if ts not in self.at.messages[channel.id]:
            raise Refused("message_not_found")
        link = f"https://example.slack.com/archives/{channel.id}/p{ts.replace('.', '')}"
        return {"channel": channel.id, "permalink": link}

    def ephemeral(self, channel: Channel, p: Json, user: str, *, response: bool = False) -> None:
        self.at.ephemeral.append(_sent(channel, self.at.new_ts(), p, to=user, by_response=response))

    def post_response(self, channel: Channel, p: Json) -> None:
        self._post(channel, p, response=True)

    def _post(self, channel: Channel, p: Json, *, response: bool = False) -> Json:
        thread = str(p.get("thread_ts") or "")
        if thread in self.at.deleted and "markdown_text" not in p:
            p = {**p, "thread_ts": ""}  # as Slack does, without a word
        elif thread and thread not in self.at.messages[channel.id]:
            raise Refused("thread_not_found")
        ts = self.at.new_ts()
        sent = _sent(channel, ts, p, by_response=response)
        self.at.sent[ts] = sent
        message = self._message(sent)
        if p.get("metadata"):
            message["metadata"] = p["metadata"]
        self.at.store(channel, message)
        return {"channel": channel.id, "ts": ts, "message": message}

    def _message(self, sent: Sent) -> Json:
        threaded = {"thread_ts": sent.thread} if sent.thread else {}
        return {
            "type": "message",
            "user": BOT_USER,
            "bot_id": BOT_ID,
            "app_id": APP_ID,
            "team": TEAM,
            "ts": sent.ts,
            "text": sent.text or sent.markdown,
            "blocks": list(sent.blocks),
            **threaded,
        }

    def _mine(self, channel: Channel, p: Json, error: str) -> Sent:
        ts = str(p.get("ts"))
        if ts not in self.at.messages[channel.id]:
            raise Refused("message_not_found")
        if ts not in self.at.sent:
            raise Refused(error)
        return self.at.sent[ts]

    # Streams

    def do_chat_startstream(self, p: Json) -> Json:
        self._need("chat:write")
        channel = self.at.open_channel(p.get("channel"))
        if not p.get("thread_ts"):
            raise Refused("invalid_arguments")
        if channel.kind != "im" and not p.get("recipient_user_id"):
            raise Refused("missing_recipient_user_id")
        if channel.kind != "im" and not p.get("recipient_team_id"):
            raise Refused("missing_recipient_team_id")
        text = _appended(p)
        made = self._post(channel, {"thread_ts": p["thread_ts"], "markdown_text": text})
        ts = made["ts"]
        self.at.sent[ts] = replace(self.at.sent[ts], streamed=True, streaming=True)
        recipient = str(p.get("recipient_user_id", ""))
        self.at.streams[ts] = Stream(self.at.clock(), recipient)
        return {"channel": channel.id, "ts": ts}

    def do_chat_appendstream(self, p: Json) -> Json:
        channel, sent = self._streaming(p)
        text = _appended(p)
        if not text and not p.get("chunks"):
            raise Refused("no_text")
        self._grow(sent, text)
        return {"channel": channel.id, "ts": sent.ts}

    def do_chat_stopstream(self, p: Json) -> Json:
        channel, sent = self._streaming(p)
        text = _appended(p)
        blocks = list(p.get("blocks") or ())
        checked_blocks(blocks)
        self._grow(sent, text)
        done = replace(self.at.sent[sent.ts], streaming=False, blocks=tuple(blocks))
        self.at.sent[sent.ts] = done
        message = self._message(done)
        self.at.store(channel, message)
        return {"channel": channel.id, "ts": sent.ts, "message": message}

    def _streaming(self, p: Json) -> tuple[Channel, Sent]:
        self._need("chat:write")
        channel = self.at.open_channel(p.get("channel"))
        sent = self._mine(channel, p, "message_not_owned_by_app")
        stream = self.at.streams.get(sent.ts)
        if stream is not None and self.at.clock() - stream.opened > STREAM_LIFE:
            self.at.sent[sent.ts] = sent = replace(sent, streaming=False)
        if stream is None or not sent.streaming:
            raise Refused("message_not_in_streaming_state")
        return channel, sent

    def _grow(self, sent: Sent, text: str) -> None:
        grown = replace(sent, markdown=sent.markdown + text)
        self.at.sent[sent.ts] = grown
        self.at.messages[sent.channel][sent.ts]["text"] = grown.markdown

    # Assistant

    def do_assistant_threads_setstatus(self, p: Json) -> Json:
        self._need("assistant:write", "chat:write")
        self.at.open_channel(p.get("channel_id"))
        if not p.get("thread_ts"):
            raise Refused("invalid_arguments")
        self.statuses.append(p)
        return {}

    def do_assistant_threads_setsuggestedprompts(self, p: Json) -> Json:
        self._need("assistant:write")
        channel = self.at.open_channel(p.get("channel_id"))
        prompts = p.get("prompts") or []
        if channel.kind != "im" or not 0 < len(prompts) <= PROMPTS:
            raise Refused("invalid_arguments")
        if not all(prompt.get("title") and prompt.get("message") for prompt in prompts):
            raise Refused("invalid_arguments")
        self.prompts.append(p)
        return {}

    def do_assistant_threads_settitle(self, p: Json) -> Json:
        self._need("assistant:write")
        self.at.open_channel(p.get("channel_id"))
        self.titles.append(p)
        return {}

    # Conversations and people

    def do_conversations_replies(self, p: Json) -> Json:
        channel = self._readable(p)
        root, *replies = self.at.thread(channel, str(p.get("ts")))
        return _page([root, *_between(replies, p)], p)

    def do_conversations_history(self, p: Json) -> Json:
        channel = self._readable(p)
        known = sorted(self.at.messages[channel.id].items(), reverse=True)
        top = [m for ts, m in known if m.get("thread_ts", ts) == ts]
        return _page(_between(top, p), p)

    def do_conversations_info(self, p: Json) -> Json:
        channel = self.at.channel(p.get("channel"))
        self._need(_scope(channel, "read"))
        return {"channel": channel.json}

    def do_conversations_open(self, p: Json) -> Json:
        self._need("im:write")
        user = str(p.get("users"))
        for channel in self.at.channels.values():
            if channel.user == user:
                return {"channel": {"id": channel.id}}
        raise Refused("user_not_found")

    def do_users_conversations(self, p: Json) -> Json:
        self._need("channels:read")
        kinds = str(p.get("types", "public_channel")).split(",")
        named = {"channel": "public_channel", "group": "private_channel"}
        mine = [
            channel.json
            for channel in self.at.channels.values()
            if channel.member and named.get(channel.kind, channel.kind) in kinds
        ]
        return {"channels": mine[: int(p.get("limit", _PAGE))]}

    def do_usergroups_users_list(self, p: Json) -> Json:
        self._need("usergroups:read")
        members = self.at.groups.get(str(p.get("usergroup")))
        if members is None:
            raise Refused("no_such_subteam")
        return {"users": list(members)}

    def do_users_info(self, p: Json) -> Json:
        self._need("users:read")
        user = self.at.users.get(str(p.get("user")))
        if user is None:
            raise Refused("user_not_found")
        return {"user": user.json}

    def do_views_publish(self, p: Json) -> Json:
        view = p.get("view") or {}
        if str(p.get("user_id")) not in self.at.users or view.get("type") != "home":
            raise Refused("invalid_arguments")
        checked_blocks(view.get("blocks") or [], view=True)
        self.homes[str(p["user_id"])] = view
        return {"view": view}

    def _readable(self, p: Json) -> Channel:
        channel = self.at.channel(p.get("channel"))
        self._need(_scope(channel, "history"))
        if not channel.member:
            raise Refused("not_in_channel")
        return channel


def _scope(channel: Channel, what: str) -> str:
    return {"channel": "channels", "group": "groups"}.get(channel.kind, channel.kind) + f":{what}"


def _sent(channel: Channel, ts: str, p: Json, **more: Any) -> Sent:
    return Sent(
        channel.id,
        ts,
        text=str(p.get("text", "")),
        markdown=str(p.get("markdown_text", "")),
        blocks=tuple(p.get("blocks") or ()),
        thread=str(p.get("thread_ts") or ""),
        **more,
    )


def _appended(p: Json) -> str:
    """The Markdown that a call adds to a stream."""
    markdown = str(p.get("markdown_text") or "")
    chunks = p.get("chunks") or []
    markdown += "".join(c["text"] for c in chunks if c.get("type") == "markdown_text")
    if len(markdown) > MARKDOWN:
        raise Refused("msg_too_long")
    return markdown


def _between(messages: list[Json], p: Json) -> list[Json]:
    """Those that `oldest` and `latest` bound."""
    oldest, latest = str(p.get("oldest") or "0"), str(p.get("latest") or "9" * 10)
    ends = (oldest, latest) if str(p.get("inclusive", "")).lower() in ("1", "true") else ()
    return [m for m in messages if oldest < m["ts"] < latest or m["ts"] in ends]


def _page(messages: list[Json], p: Json) -> Json:
    start, limit = int(p.get("cursor") or 0), int(p.get("limit") or _PAGE)
    more = start + limit < len(messages)
    cursor = {"response_metadata": {"next_cursor": str(start + limit)}} if more else {}
    return {"messages": messages[start : start + limit], "has_more": more, **cursor}
