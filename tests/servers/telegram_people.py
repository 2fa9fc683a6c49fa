"""What people do in chats, as the updates that a bot gets from it."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Sequence
from typing import Any

from tests.servers.telegram_chats import Chat, Chats, Group, Json, User, captioned, shallow, written
from tests.servers.telegram_methods import Methods
from tests.servers.telegram_text import piece
from tests.servers.telegram_updates import Updates


class People:
    """Each method is one thing that somebody does; it returns the id of what came of it."""

    def __init__(self, chats: Chats, updates: Updates, methods: Methods) -> None:
        self.chats = chats
        self.updates = updates
        self.methods = methods
        self._serial = itertools.count(1)

    def user(self, user_id: int, name: str, *, username: str = "", language: str = "en") -> User:
        user = User(user_id, name, username, language)
        self.chats.add(user)
        return user

    def group(
        self, group_id: int, title: str, *, topics: Iterable[int] = (), kind: str = "supergroup"
    ) -> Group:
        """A group that the bot is a member of: a forum with topics; kind "group" is a basic one."""
        group = Group(group_id, title, kind, set(topics), forum=bool(topics))
        self.chats.add(group)
        return group

    def says(
        self,
        chat: Chat,
        user: User,
        text: str,
        *,
        thread: int | None = None,
        reply_to: int | None = None,
        quote: str = "",
        photo: bool = False,
        document: tuple[str, bytes] | tuple[str, bytes, str] | None = None,
        **fields: Any,
    ) -> int:
        """A message; with a photo or document the text is its caption. Returns its id.

        `fields` are more Bot API fields of the message (date, sender_chat, media_group_id …).
        """
        parameters = {"message_id": reply_to, "quote": quote} if reply_to is not None else None
        body: Json = {
            **(captioned(text) if photo or document else written(text)),
            **self.chats.thread(chat, thread),
            **self.chats.replied(chat, parameters),
        }
        if photo:
            body["photo"] = [self._photo()]
        if document:
            body["document"] = self.methods.new_file(*document)
        message = self.chats.new(chat, user, **body, **fields)
        if self._reaches_bot(chat, message):
            self.updates.put("message", message)
        return int(message["message_id"])

    def edits(self, chat: Chat, user: User, message_id: int, text: str) -> None:
        """The person changes their message (text or caption)."""
        message = self.chats.messages[chat.id][message_id]
        for name in ("entities", "caption_entities"):
            message.pop(name, None)
        message.update(captioned(text) if "caption" in message else written(text))
        edited = {**message, "from": user.json, "edit_date": int(time.time())}
        if self._reaches_bot(chat, edited):
            self.updates.put("edited_message", edited)

    def deletes(self, chat: Chat, message_id: int) -> None:
        """The person deletes a message: no update tells the bot, but replies to it fail."""
        del self.chats.messages[chat.id][message_id]

    def presses(self, chat: Chat, user: User, message_id: int, data: str) -> str:
        """A button of the bot's message; the id of the callback. Fails when it is not there."""
        sent = self.chats.sent[chat.id][message_id]
        assert any(button.get("callback_data") == data for button in sent.buttons), sent.buttons
        return self.presses_old(chat, user, message_id, data, expired=False)

    def presses_old(
        self, chat: Chat, user: User, message_id: int, data: str, *, expired: bool = True
    ) -> str:
        """The same for a callback that can no longer be answered, or a button from long ago."""
        callback = f"cb{next(self._serial)}"
        self.methods.callbacks[callback] = not expired
        message = self.chats.messages[chat.id].get(message_id) or {
            "message_id": message_id,
            "chat": chat.chat,
            "date": 0,
        }
        body = {
            "id": callback,
            "from": user.json,
            "message": message,
            "chat_instance": str(chat.id),
            "data": data,
        }
        self.updates.put("callback_query", body)
        return callback

    def stops(self, user: User, draft_id: int, thread: int | None = None) -> None:
        """The stop button under a draft."""
        place = {"message_thread_id": thread} if thread else {}
        body = {"chat": user.chat, "draft_id": draft_id, **place}
        self.updates.put("stopped_message_generation", body)

    def adds_bot(self, group: Group, user: User, status: str = "member") -> None:
        """The bot becomes a member, or with another `status` an administrator."""
        self._bot_becomes(group, user, status)

    def removes_bot(self, group: Group, user: User, status: str = "kicked") -> None:
        self._bot_becomes(group, user, status)

    def blocks(self, user: User, blocked: bool = True) -> None:
        """The person blocks the bot, or lets it in again."""
        user.blocked = blocked
        member = {"status": "member", "user": self.chats.bot.json}
        kicked = {"status": "kicked", "user": self.chats.bot.json, "until_date": 0}
        old, new = (member, kicked) if blocked else (kicked, member)
        self._membership(user.chat, user, old, new)

    def upgrades(
        self, group: Group, user: User, new_id: int, told: Sequence[str] = ("old", "new")
    ) -> Group:
        """A basic group becomes a supergroup: two service messages, and a new chat."""
        new = Group(new_id, group.title, "supergroup", bot_status=group.bot_status)
        self.chats.add(new)
        if "old" in told:
            message = self.chats.new(group, user, migrate_to_chat_id=new_id)
            self.updates.put("message", message)
        if "new" in told:
            message = self.chats.new(new, user, migrate_from_chat_id=group.id)
            self.updates.put("message", message)
        group.moved_to = new_id
        return new

    def removes_topic(self, chat: Chat, thread: int) -> None:
        chat.topics.discard(thread)

    def repeats(self, update: Json) -> None:
        """Telegram delivers an update again."""
        self.updates.repeat(update)

    def _bot_becomes(self, group: Group, user: User, status: str) -> None:
        old = self.chats.member(group, self.chats.bot)
        group.bot_status = status
        self._membership(group.chat, user, old, self.chats.member(group, self.chats.bot))

    def _membership(self, chat: Json, user: User, old: Json, new: Json) -> None:
        body = {
            "chat": chat,
            "from": user.json,
            "date": int(time.time()),
            "old_chat_member": old,
            "new_chat_member": new,
        }
        self.updates.put("my_chat_member", body)

    def _reaches_bot(self, chat: Chat, message: Json) -> bool:
        """Privacy mode: commands and replies to the bot arrive, other messages do not."""
        if isinstance(chat, User):
            return not chat.blocked
        if chat.bot_status in ("left", "kicked"):
            return False
        if self.methods.flags["can_read_all_group_messages"] or chat.bot_status == "administrator":
            return True
        target = shallow(message.get("reply_to_message", {})).get("from", {})
        return target.get("id") == self.chats.bot.id or self._is_command(message)

    def _is_command(self, message: Json) -> bool:
        text = message.get("text") or message.get("caption") or ""
        for entity in message.get("entities") or message.get("caption_entities") or []:
            if entity["type"] == "bot_command":
                name = piece(text, entity).partition("@")[2].lower()
                return name in ("", self.chats.bot.username.lower())
        return False

    def _photo(self) -> Json:
        number = next(self._serial)
        return {"file_id": f"p{number}", "file_unique_id": f"up{number}", "width": 9, "height": 9}
