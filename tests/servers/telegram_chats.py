"""People, chats and messages of the loopback Bot API server, in Bot API JSON."""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.servers.telegram_text import Refused, bad, detected

Json = dict[str, Any]

FULL_RIGHTS = [
    "can_be_edited",
    "is_anonymous",
    "can_manage_chat",
    "can_delete_messages",
    "can_manage_video_chats",
    "can_restrict_members",
    "can_promote_members",
    "can_change_info",
    "can_invite_users",
    "can_post_stories",
    "can_edit_stories",
    "can_delete_stories",
    "can_send_welcome_messages",
    "can_manage_topics",
]


@dataclass
class User:
    """A person. Their private chat with the bot has the same id."""

    id: int
    name: str
    username: str = ""
    language_code: str = "en"
    is_bot: bool = False
    blocked: bool = False  # blocked the bot
    met: bool = True  # wrote to the bot in private once
    topics: set[int] = field(default_factory=set)

    @property
    def json(self) -> Json:
        fields = {"id": self.id, "is_bot": self.is_bot, "first_name": self.name}
        extra = {"username": self.username, "language_code": self.language_code}
        return {**fields, **{key: value for key, value in extra.items() if value}}

    @property
    def chat(self) -> Json:
        extra = {"username": self.username} if self.username else {}
        return {"id": self.id, "type": "private", "first_name": self.name, **extra}

    def refuse(self) -> None:
        if self.blocked:
            raise Refused(403, "Forbidden: bot was blocked by the user")
        if not self.met:
            raise Refused(403, "Forbidden: bot can't initiate conversation with a user")


@dataclass
class Group:
    """A basic group (`-4001`), a supergroup (`-100…`) or a channel."""

    id: int
    title: str
    kind: str = "supergroup"  # "group", "supergroup", "channel"
    topics: set[int] = field(default_factory=set)
    forum: bool = False
    bot_status: str = "member"  # "administrator", "left", "kicked", "restricted"
    moved_to: int = 0
    admins: dict[int, Json] = field(default_factory=dict)  # by user, with fields of their own

    @property
    def chat(self) -> Json:
        extra = {"is_forum": True} if self.forum else {}
        return {"id": self.id, "type": self.kind, "title": self.title, **extra}

    def refuse(self) -> None:
        if self.moved_to:
            description = "group chat was upgraded to a supergroup chat"
            raise bad(description, migrate_to_chat_id=self.moved_to)
        if self.bot_status == "kicked":
            raise Refused(403, f"Forbidden: bot was kicked from the {self.kind} chat")
        if self.bot_status == "left":
            raise Refused(403, f"Forbidden: bot is not a member of the {self.kind} chat")


Chat = User | Group


@dataclass(frozen=True)
class Sent:
    """A message of the bot as people see it now. `text` is the Markdown of a rich message."""

    chat: int
    message_id: int
    text: str
    entities: tuple[Json, ...] = ()
    rich: str | None = None
    keyboard: tuple[tuple[Json, ...], ...] = ()
    reply_to: int | None = None
    quote: str = ""
    thread: int | None = None
    preview: bool = True
    document: str = ""
    edits: int = 0

    @property
    def buttons(self) -> list[Json]:
        return [button for row in self.keyboard for button in row]


@dataclass(frozen=True)
class Whisper:
    """A message in a group that only `receiver` sees."""

    chat: int
    receiver: int
    text: str
    press: str | None = None


@dataclass(frozen=True)
class Draft:
    chat: int
    draft_id: int
    text: str
    entities: tuple[Json, ...] = ()
    rich: str | None = None
    thread: int | None = None
    can_stop: bool = False


class Chats:
    """Who and what exists, and the messages of every chat by id."""

    def __init__(self, bot: User) -> None:
        self.bot = bot
        self.known: dict[int, Chat] = {}
        self.users: dict[int, User] = {bot.id: bot}
        self.messages: dict[int, dict[int, Json]] = {}
        self.sent: dict[int, dict[int, Sent]] = {}
        self.drafts: list[Draft] = []
        self.whispers: list[Whisper] = []
        self._ids = itertools.count(100)
        self._group_ids: dict[int, itertools.count[int]] = {}

    def add(self, chat: Chat) -> None:
        self.known[chat.id] = chat
        self.messages.setdefault(chat.id, {})
        self.sent.setdefault(chat.id, {})
        if isinstance(chat, User):
            self.users[chat.id] = chat

    def open(self, chat_id: Any) -> Chat:
        """The chat, if the bot may write there. Raises Refused."""
        try:
            chat = self.known[int(chat_id)]
        except (KeyError, TypeError, ValueError):
            raise bad("chat not found") from None
        chat.refuse()
        return chat

    def next_id(self, chat: Chat) -> int:
        """Supergroups count their own messages; all other chats share the account's counter."""
        if isinstance(chat, Group) and chat.kind != "group":
            return next(self._group_ids.setdefault(chat.id, itertools.count(1)))
        return next(self._ids)

    def new(self, chat: Chat, sender: User, **fields: Any) -> Json:
        """A message in Bot API form, remembered."""
        message = {
            "message_id": self.next_id(chat),
            "date": int(time.time()),
            "chat": chat.chat,
            "from": sender.json,
            **fields,
        }
        self.messages[chat.id][message["message_id"]] = message
        return message

    def thread(self, chat: Chat, thread: int | None) -> Json:
        """Fields that put a message into a topic. Raises Refused for an unknown one."""
        if thread is None:
            return {}
        if thread not in chat.topics:
            raise bad("message thread not found")
        return {"message_thread_id": thread, "is_topic_message": True}

    def replied(self, chat: Chat, parameters: Mapping[str, Any] | None) -> Json:
        """Fields of a reply. Raises Refused when its target is gone and that was not allowed."""
        if not parameters:
            return {}
        target = self.messages[chat.id].get(int(parameters["message_id"]))
        if target is None:
            if parameters.get("allow_sending_without_reply"):
                return {}
            raise bad("message to be replied not found")
        fields: Json = {"reply_to_message": shallow(target)}
        if quote := parameters.get("quote"):
            if quote not in (target.get("text") or target.get("caption") or ""):
                raise bad("QUOTE_TEXT_INVALID")
            fields["quote"] = {"text": quote, "position": 0, "is_manual": True}
        return fields

    def member(self, group: Group, user: User) -> Json:
        status = group.bot_status if user is self.bot else "member"
        if user.id in group.admins:
            status = "administrator"
        fields: Json = {"status": status, "user": user.json}
        if status == "administrator":
            fields.update(dict.fromkeys(FULL_RIGHTS, True), is_anonymous=False)
            fields.update(group.admins.get(user.id, {}))
        if status == "kicked":
            fields["until_date"] = 0
        return fields


def shallow(message: Json) -> Json:
    """A message as it stands inside a reply: without its own reply."""
    return {key: value for key, value in message.items() if key != "reply_to_message"}


def written(text: str) -> Json:
    """Fields of a text that a person typed, with the entities that Telegram detects."""
    entities = detected(text)
    return {"text": text, **({"entities": entities} if entities else {})}


def captioned(text: str) -> Json:
    """The same for the caption of a picture or file."""
    entities = detected(text)
    fields: Json = {"caption": text} if text else {}
    return {**fields, **({"caption_entities": entities} if entities else {})}
