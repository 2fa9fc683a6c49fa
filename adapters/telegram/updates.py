"""Telegram's updates as events of the application. Pure: nothing is asked or sent.

What is not for the bot is None: other bots and their commands, posts of channels and their copies
in discussion groups, service messages. Other people's talk is a question that is not addressed to
the bot: see pastes.py for the little of it that matters. Message ids: a press is named by its
callback, what happens to a place by its update. A STOP names its question by the draft, which
bears its number.
"""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import islice
from typing import Literal

from aiogram.types import (
    CallbackQuery,
    Chat,
    ChatMemberRestricted,
    ChatMemberUpdated,
    Message,
    MessageGenerationStopped,
    MessageOriginChat,
    MessageOriginHiddenUser,
    MessageOriginUser,
    Update,
    User,
)

from adapters.telegram.words import Words, text_of, words_of
from bot.attachments import Attachment
from bot.chat import Incoming, Kind, Person, Place, Quote

PLATFORM = "telegram"
WANTED = (
    "message",
    "edited_message",
    "callback_query",
    "my_chat_member",
    "stopped_message_generation",
)
"""The updates to ask Telegram for."""

_FILES = ("document", "animation", "audio", "video")  # have a file name
_OTHERS = (
    *("photo", "live_photo", "voice", "video_note", "sticker", "story", "poll", "checklist"),
    *("contact", "venue", "location", "dice", "game", "paid_media", "gift", "unique_gift"),
)
_GENERAL = 1
_PRESENT = frozenset({"member", "administrator", "creator"})


def incoming(update: Update, me: User) -> Incoming | None:
    """The event that an update of the bot `me` is, or None."""
    name = str(update.update_id)
    if update.message is not None:
        return _message(update.message, me, name)
    if update.edited_message is not None:
        return _said(update.edited_message, me, Kind.EDIT, name)
    if update.callback_query is not None:
        return _press(update.callback_query)
    if update.my_chat_member is not None:
        return _membership(update.my_chat_member, name)
    if update.stopped_message_generation is not None:
        return _stop(update.stopped_message_generation)
    return None


def _message(message: Message, me: User, name: str) -> Incoming | None:
    here = message.chat.id
    if message.migrate_to_chat_id is not None:
        return _moved(message, here, message.migrate_to_chat_id, name)
    if message.migrate_from_chat_id is not None:
        return _moved(message, message.migrate_from_chat_id, here, name)
    return _said(message, me, Kind.QUESTION, name)


def _moved(message: Message, old: int, new: int, name: str) -> Incoming:
    """Telegram says it in both groups, and either message may come first, or alone."""
    place = Place(PLATFORM, str(old), "group", title=message.chat.title or "")
    person = _author(message) or _chat(message.chat)
    return Incoming(Kind.MOVED, place, person, name, at=message.date, moved_to=str(new))


def _said(message: Message, me: User, kind: Kind, name: str) -> Incoming | None:
    person = _author(message)
    if person is None or message.is_automatic_forward:
        return None
    passed_on, attachments = _passed_on(message), _attachments(message)
    words = Words("") if passed_on else words_of(message, me)
    if words.others or not (words.text or words.named or attachments or passed_on):
        return None
    return Incoming(
        kind,
        _place(message.chat, _thread(message)),
        person,
        str(message.message_id) if message.message_id else f"update {name}",  # seen by us alone
        text=words.text,
        at=_moment(message),
        addressed=_is_for(message, me, words.named),
        quote=passed_on or _quote(message, me),
        attachments=attachments,
        files=_files(message),
        nearby=_files(_replied(message)),
        album=message.media_group_id or "",
        language=_language(message.from_user),
    )


def _moment(message: Message) -> datetime:
    """When these words were said."""
    return datetime.fromtimestamp(message.edit_date, UTC) if message.edit_date else message.date


def _is_for(message: Message, me: User, named: bool) -> bool:
    if message.chat.type == "private":
        return True
    if message.forward_origin is not None:
        return False
    replied = _replied(message)
    author = replied.from_user if replied else None
    return named or (author is not None and author.id == me.id)


def _author(message: Message) -> Person | None:
    """Whoever wrote, also in the name of a group or channel; None for bots and for channels'
    own posts."""
    sender, user = message.sender_chat, message.from_user
    if user is None:
        return None
    if sender is not None:
        return _chat(sender)
    return None if user.is_bot else _person(user)


def _person(user: User) -> Person:
    return Person(PLATFORM, str(user.id), user.full_name, user.is_bot)


def _chat(chat: Chat) -> Person:
    return Person(PLATFORM, str(chat.id), chat.title or chat.first_name or "")


def _place(chat: Chat, thread: int | None = None) -> Place:
    kind: Literal["private", "group", "channel"] = "group"
    if chat.type in ("private", "channel"):
        kind = "private" if chat.type == "private" else "channel"
    return Place(PLATFORM, str(chat.id), kind, str(thread) if thread else "", chat.title or "")


def _thread(message: Message) -> int | None:
    """The topic. Replies outside of forums have thread ids too, to which nothing can be sent; nor
    to that of a forum's general topic."""
    general = message.message_thread_id == _GENERAL and message.chat.type != "private"
    return message.message_thread_id if message.is_topic_message and not general else None


def _language(user: User | None) -> str:
    return (user.language_code if user else None) or ""


def _replied(message: Message) -> Message | None:
    """The message that is replied to. In a topic, any message replies to the topic's creation."""
    replied = message.reply_to_message
    if replied is None or replied.forum_topic_created is not None:
        return None
    return replied


def _quote(message: Message, me: User) -> Quote | None:
    """A reply's context: the words that were picked first, then the whole message. Of the bot's
    own answers the whole message alone, by which they are known again."""
    replied = _replied(message)
    whole = text_of(replied) if replied else ""
    picked = message.quote.text if message.quote else ""
    user = replied.from_user if replied else None
    if user is not None and user.id == me.id and whole:
        picked = ""
    pieces = [picked, *([whole] if whole.strip() != picked.strip() else [])]
    text = "\n\n".join(piece for piece in pieces if piece.strip())
    name = str(replied.message_id) if replied else ""
    return Quote(text, user.full_name if user else "", name) if text else None


def _passed_on(message: Message) -> Quote | None:
    """What is forwarded to the bot alone: the words of somebody else, so none of them is a
    command. What is forwarded with a file stays its caption."""
    origin, text = message.forward_origin, text_of(message)
    if origin is None or message.chat.type != "private" or _files(message) or not text.strip():
        return None
    match origin:
        case MessageOriginUser():
            author = origin.sender_user.full_name
        case MessageOriginHiddenUser():
            author = origin.sender_user_name
        case MessageOriginChat():
            author = origin.sender_chat.title or ""
        case _:
            author = origin.chat.title or ""
    return Quote(text, author, str(message.message_id))


def _attachments(message: Message) -> tuple[str, ...]:
    """The name of what came along: of a file its own, of another thing what it is."""
    for kind in _FILES:
        file = getattr(message, kind)
        if file is not None:
            return (file.file_name or kind,)
    kinds = (kind.replace("_", " ") for kind in _OTHERS if getattr(message, kind))
    return tuple(islice(kinds, 1))


def _files(message: Message | None) -> tuple[Attachment, ...]:
    """The document of a message. A moving picture is one to old clients only."""
    if message is None or message.document is None or message.animation is not None:
        return ()
    file = message.document
    name = file.file_name or "document"
    mime, size, number = file.mime_type or "", file.file_size or 0, str(message.message_id)
    return (Attachment(file.file_id, name, mime, size, number),)


def _press(query: CallbackQuery) -> Incoming | None:
    message = query.message
    if message is None or query.data is None or query.from_user.is_bot:
        return None
    thread = _thread(message) if isinstance(message, Message) else None
    return Incoming(
        Kind.PRESS,
        _place(message.chat, thread),
        _person(query.from_user),
        query.id,
        language=_language(query.from_user),
        value=query.data,
        reference=str(message.message_id),  # under which the button is
    )


def _membership(change: ChatMemberUpdated, name: str) -> Incoming | None:
    """The bot came or went. `reference` of ADDED is its new status: administrators read all."""
    before, after = _is_in(change.old_chat_member), _is_in(change.new_chat_member)
    if before == after:
        return None
    return Incoming(
        Kind.ADDED if after else Kind.REMOVED,
        _place(change.chat),
        _person(change.from_user),
        name,
        at=change.date,
        language=_language(change.from_user),
        reference=str(change.new_chat_member.status),
    )


def _is_in(member: object) -> bool:
    if isinstance(member, ChatMemberRestricted):
        return member.is_member
    return getattr(member, "status", "") in _PRESENT


def _stop(stopped: MessageGenerationStopped) -> Incoming:
    place = _place(stopped.chat, stopped.message_thread_id)
    draft = str(stopped.draft_id)
    return Incoming(Kind.STOP, place, _chat(stopped.chat), draft, at=datetime.now(UTC))
