"""What the methods of the Bot API do, with the refusals that Telegram gives."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from tests.servers.telegram_chats import (
    Chat,
    Chats,
    Draft,
    Group,
    Json,
    Sent,
    User,
    Whisper,
    captioned,
)
from tests.servers.telegram_text import Refused, bad, message_text

RICH_BYTES = 32_768
RICH_BLOCKS = 500
CALLBACK_BYTES = 64
_COMMAND = re.compile(r"[a-z0-9_]{1,32}")
_GIFTS = "unlimited_gifts limited_gifts unique_gifts premium_subscription gifts_from_channels"
_BLOCK_TOKENS = frozenset(
    [
        "paragraph_open",
        "heading_open",
        "fence",
        "code_block",
        "html_block",
        "hr",
        "list_item_open",
        "tr_open",
        "blockquote_open",
        "bullet_list_open",
        "ordered_list_open",
        "table_open",
    ]
)
_markdown = MarkdownIt("commonmark").enable(["table", "strikethrough"])


class Methods:
    """The Bot API as functions of parameters. A method is its name in lower case."""

    def __init__(self, chats: Chats, flags: Mapping[str, Any]) -> None:
        self.chats = chats
        self.flags = flags
        self.rich = True  # False: a self-hosted server that is too old to know rich messages
        self.commands: dict[tuple[str, str], list[Json]] = {}
        self.callbacks: dict[str, bool] = {}  # id -> whether it can still be answered
        self.files: dict[str, tuple[str, bytes]] = {}
        self.largest_file = 20 * 1024 * 1024  # bytes that getFile gives
        self.own_disk: Path | None = None  # a server with --local: where it keeps files

    def find(self, name: str) -> Callable[[Json], Any] | None:
        if "rich" in name.lower() and not self.rich:
            return None
        return getattr(self, f"do_{name.lower()}", None)

    def do_getme(self, _: Json) -> Json:
        return {**self.chats.bot.json, **self.flags}

    # Messages

    def do_sendmessage(self, p: Json) -> Json:
        chat = self.chats.open(p.get("chat_id"))
        text, entities = _text(p)
        return self._send(chat, p, {"text": text, "entities": entities}, text, entities)

    def do_sendrichmessage(self, p: Json) -> Json:
        chat = self.chats.open(p.get("chat_id"))
        rich = rich_markdown(p)
        return self._send(chat, p, _rich_fields(rich), rich, [], rich=rich)

    def do_senddocument(self, p: Json) -> Json:
        chat = self.chats.open(p.get("chat_id"))
        name, data = p["document"] if isinstance(p.get("document"), tuple) else ("", b"")
        if not name:
            raise bad("there is no document in the request")
        caption = p.get("caption", "")
        fields = {"document": self.new_file(name, data), **captioned(caption)}
        return self._send(chat, p, fields, caption, [], document=name)

    def do_editmessagetext(self, p: Json) -> Json:
        chat = self.chats.open(p.get("chat_id"))
        old, message = self._mine(chat, p, "edit")
        entities: list[Json]
        if "rich_message" in p:
            if not self.rich:
                raise bad("message text is empty")
            rich: str | None = rich_markdown(p)
            text, entities = rich or "", []
        else:
            rich, (text, entities) = None, _text(p)
        new = replace(old, text=text, entities=tuple(entities), rich=rich, keyboard=_keyboard(p))
        if new == old:
            raise bad(
                "message is not modified: specified new message content and reply markup are "
                "exactly the same as a current content and reply markup of the message"
            )
        self.chats.sent[chat.id][old.message_id] = replace(new, edits=old.edits + 1)
        for name in ("text", "entities", "rich_message"):
            message.pop(name, None)
        shown = {"text": text, "entities": entities} if rich is None else _rich_fields(rich)
        message.update(shown, edit_date=int(time.time()))
        return message

    def do_editmessagereplymarkup(self, p: Json) -> Json:
        chat = self.chats.open(p.get("chat_id"))
        old, message = self._mine(chat, p, "edit")
        if old.keyboard == _keyboard(p):
            raise bad("message is not modified")
        self.chats.sent[chat.id][old.message_id] = replace(old, keyboard=_keyboard(p))
        return message

    def do_deletemessage(self, p: Json) -> bool:
        chat = self.chats.open(p.get("chat_id"))
        old, _ = self._mine(chat, p, "delete")
        del self.chats.messages[chat.id][old.message_id]
        del self.chats.sent[chat.id][old.message_id]
        return True

    def do_sendmessagedraft(self, p: Json) -> bool:
        text, entities = p.get("text", ""), list(p.get("entities") or [])
        if text:
            text, entities = _text(p)
        return self._draft(p, text, tuple(entities), None)

    def do_sendrichmessagedraft(self, p: Json) -> bool:
        rich = rich_markdown(p)
        return self._draft(p, rich, (), rich)

    def do_sendchataction(self, p: Json) -> bool:
        chat = self.chats.open(p.get("chat_id"))
        self.chats.thread(chat, _thread(p))
        if not p.get("action"):
            raise bad("wrong parameter action in request")
        return True

    def do_answercallbackquery(self, p: Json) -> bool:
        if not self.callbacks.get(str(p.get("callback_query_id"))):
            raise bad("query is too old and response timeout expired or query ID is invalid")
        self.callbacks[str(p["callback_query_id"])] = False
        return True

    def _send(
        self, chat: Chat, p: Json, fields: Json, text: str, entities: list[Json], **more: Any
    ) -> Json:
        keyboard = _keyboard(p)
        if alone := p.get("ephemeral_message_parameters"):
            return self._whisper(chat, alone, text)
        reply = self.chats.replied(chat, p.get("reply_parameters"))
        place = self.chats.thread(chat, _thread(p))
        markup = {"reply_markup": {"inline_keyboard": keyboard}} if keyboard else {}
        message = self.chats.new(chat, self.chats.bot, **fields, **reply, **place, **markup)
        self.chats.sent[chat.id][message["message_id"]] = Sent(
            chat=chat.id,
            message_id=message["message_id"],
            text=text,
            entities=tuple(entities),
            keyboard=keyboard,
            reply_to=reply.get("reply_to_message", {}).get("message_id"),
            quote=reply.get("quote", {}).get("text", ""),
            thread=_thread(p),
            preview=not (p.get("link_preview_options") or {}).get("is_disabled", False),
            **more,
        )
        return message

    def _whisper(self, chat: Chat, alone: Json, text: str) -> Json:
        if not isinstance(chat, Group) or chat.bot_status != "administrator":
            raise bad("BOT_NOT_ADMIN")
        receiver = int(alone["receiver_user_id"])
        if receiver not in self.chats.users:
            raise bad("USER_ID_INVALID")
        whispers = self.chats.whispers
        whispers.append(Whisper(chat.id, receiver, text, alone.get("callback_query_id")))
        message = {**self.chats.new(chat, self.chats.bot, text=text), "message_id": 0}
        return {**message, "ephemeral_message_id": len(whispers)}

    def _mine(self, chat: Chat, p: Json, verb: str) -> tuple[Sent, Json]:
        message_id = int(p.get("message_id", 0))
        if message_id not in self.chats.messages[chat.id]:
            raise bad(f"message to {verb} not found")
        if message_id not in self.chats.sent[chat.id]:
            raise bad(f"message can't be {verb.removesuffix('e')}ed")
        sent = self.chats.sent[chat.id][message_id]
        return sent, self.chats.messages[chat.id][message_id]

    def _draft(self, p: Json, text: str, entities: tuple[Json, ...], rich: str | None) -> bool:
        chat = self.chats.open(p.get("chat_id"))
        if not isinstance(chat, User):
            raise bad("TEXTDRAFT_PEER_INVALID")
        if not int(p.get("draft_id", 0)):
            raise bad("RANDOM_ID_INVALID")
        self.chats.thread(chat, _thread(p))
        self.chats.drafts.append(
            Draft(chat.id, int(p["draft_id"]), text, entities, rich, _thread(p), _flag(p))
        )
        return True

    # Commands, chats, files

    def do_setmycommands(self, p: Json) -> bool:
        commands = list(p.get("commands") or [])
        for command in commands:
            if not _COMMAND.fullmatch(command.get("command", "")):
                raise bad("BOT_COMMAND_INVALID")
            if not 1 <= len(command.get("description", "")) <= 256:
                raise bad("BOT_COMMAND_DESCRIPTION_INVALID")
        if len(commands) > 100:
            raise bad("BOT_COMMANDS_TOO_MUCH")
        self.commands[_scope(p)] = commands
        return True

    def do_getmycommands(self, p: Json) -> list[Json]:
        return self.commands.get(_scope(p), [])

    def do_deletemycommands(self, p: Json) -> bool:
        self.commands.pop(_scope(p), None)
        return True

    def do_leavechat(self, p: Json) -> bool:
        chat = self.chats.open(p.get("chat_id"))
        if not isinstance(chat, Group):
            raise bad("chat member status can't be changed in private chats")
        chat.bot_status = "left"
        return True

    def do_getchat(self, p: Json) -> Json:
        chat = self.chats.open(p.get("chat_id"))
        gifts = dict.fromkeys(_GIFTS.split(), False)
        full = {"accent_color_id": 0, "max_reaction_count": 11, "accepted_gift_types": gifts}
        return {**chat.chat, **full}

    def do_getchatmember(self, p: Json) -> Json:
        chat = self.chats.open(p.get("chat_id"))
        user = self.chats.users.get(int(p.get("user_id", 0)))
        if user is None or not isinstance(chat, Group):
            raise bad("user not found")
        return self.chats.member(chat, user)

    def do_getchatadministrators(self, p: Json) -> list[Json]:
        """Other bots are left out, as Telegram does by default."""
        chat = self.chats.open(p.get("chat_id"))
        if not isinstance(chat, Group):
            raise bad("there are no administrators in the private chat")
        if chat.kind == "channel" and chat.bot_status != "administrator":
            raise bad("member list is inaccessible")
        users = [self.chats.users[number] for number in chat.admins]
        if chat.bot_status == "administrator":
            users.append(self.chats.bot)
        return [
            self.chats.member(chat, user)
            for user in users
            if user is self.chats.bot or not user.is_bot
        ]

    def do_getfile(self, p: Json) -> Json:
        file_id = str(p.get("file_id"))
        if file_id not in self.files:
            raise bad("wrong file_id or the file is temporarily unavailable")
        name, data = self.files[file_id]
        if self.own_disk is not None:
            place = self.own_disk / file_id
            place.write_bytes(data)
            return {**_file(file_id, data), "file_path": str(place)}
        if len(data) > self.largest_file:
            raise bad("file is too big")
        suffix = name.rpartition(".")[2] if name.isascii() else "bin"
        return {**_file(file_id, data), "file_path": f"documents/{file_id}_0.{suffix[:8]}"}

    def new_file(self, name: str, data: bytes, mime: str = "") -> Json:
        """A Document that getFile finds."""
        file_id = f"file{len(self.files) + 1}"
        self.files[file_id] = (name, data)
        named = {"file_name": name} if name else {}
        return {**_file(file_id, data), **named, **({"mime_type": mime} if mime else {})}


def _file(file_id: str, data: bytes) -> Json:
    return {"file_id": file_id, "file_unique_id": f"u{file_id}", "file_size": len(data)}


def _text(p: Json) -> tuple[str, list[Json]]:
    # An explicit parse_mode wins over entities, as in Telegram.
    return message_text(p.get("text", ""), p.get("parse_mode"), p.get("entities") or [])


def _thread(p: Json) -> int | None:
    return int(p["message_thread_id"]) if p.get("message_thread_id") else None


def _flag(p: Json) -> bool:
    return str(p.get("can_stop", "")).lower() in ("true", "1")


def _scope(p: Json) -> tuple[str, str]:
    scope = p.get("scope") or {"type": "default"}
    return json.dumps(scope, sort_keys=True), p.get("language_code", "")


def _keyboard(p: Json) -> tuple[tuple[Json, ...], ...]:
    rows = (p.get("reply_markup") or {}).get("inline_keyboard") or []
    for button in (button for row in rows for button in row):
        if not button.get("text"):
            raise bad("BUTTON_TEXT_INVALID")
        data = button.get("callback_data")
        if data is not None and not 1 <= len(data.encode()) <= CALLBACK_BYTES:
            raise bad("BUTTON_DATA_INVALID")
        if len(button) < 2:
            raise bad("text buttons are unallowed in the inline keyboard")
    return tuple(tuple(row) for row in rows)


def rich_markdown(p: Json) -> str:
    """The Markdown of a rich message, checked against its limits. Raises Refused."""
    rich = p.get("rich_message") or {}
    if len({"markdown", "html", "blocks"} & set(rich)) != 1:
        raise bad("exactly one of markdown, html and blocks must be specified")
    if "markdown" not in rich:
        raise Refused(501, "Not Implemented: this server reads rich Markdown only")
    markdown = str(rich["markdown"])
    if not markdown.strip():
        raise bad("message text is empty")
    if len(markdown.encode()) > RICH_BYTES:
        raise bad("rich message is too long")
    if sum(token.type in _BLOCK_TOKENS for token in _markdown.parse(markdown)) > RICH_BLOCKS:
        raise bad("rich message has too many blocks")
    return markdown


def _rich_fields(rich: str) -> Json:
    return {"rich_message": {"blocks": [{"type": "paragraph", "text": rich}]}}
