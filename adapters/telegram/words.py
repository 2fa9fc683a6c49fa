"""What somebody said to the bot: the words of a message without its mention of the bot."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from aiogram.types import Message, MessageEntity, RichMessage, User

from bot.commands.table import find

_COMMAND = re.compile(r"/(\w{1,32})(?:@(\w{3,32}))?(?=\s|$)")
_QUOTES = frozenset({"blockquote", "expandable_blockquote"})
_AFTER_A_NAME = " \t,:;—–-"
_BYTES = 2  # of one UTF-16 unit


@dataclass(frozen=True, slots=True)
class Words:
    """`named`: the bot was mentioned, or one of its commands was used; `others`: a command of
    another bot."""

    text: str
    named: bool = False
    others: bool = False


def text_of(message: Message) -> str:
    """A text, a caption, or the words of a rich message."""
    plain = message.text or message.caption or ""
    return plain or (rich_text(message.rich_message) if message.rich_message else "")


def words_of(message: Message, me: User) -> Words:
    text, own = text_of(message), list(_mentions(message, me))
    named = bool(own)
    for start, end in reversed(own):
        text = _without(text, start, end)
    text = text.strip()
    command = _COMMAND.match(text)
    if command is None:
        return Words(text, named)
    name, address = command.groups()
    if address and address.lower() != (me.username or "").lower():
        return Words(text, others=True)
    named = named or bool(address) or find(name.casefold()) is not None
    return Words(f"/{name}{text[command.end() :]}", named)


def _mentions(message: Message, me: User) -> Iterator[tuple[int, int]]:
    """Where the bot is mentioned, in characters; not in what the author only quotes."""
    text = message.text or message.caption or ""
    entities = message.entities or message.caption_entities or []
    quotes = [_range(text, entity) for entity in entities if entity.type in _QUOTES]
    for entity in entities:
        start, end = _range(text, entity)
        quoted = any(first <= start < last for first, last in quotes)
        if not quoted and _is_own(entity, text[start:end], me):
            yield start, end


def _is_own(entity: MessageEntity, name: str, me: User) -> bool:
    if entity.type == "text_mention":
        return entity.user is not None and entity.user.id == me.id
    return entity.type == "mention" and name.lower() == f"@{me.username or ''}".lower()


def _range(text: str, entity: MessageEntity) -> tuple[int, int]:
    """An entity's place in characters; Telegram counts UTF-16 units."""
    units = text.encode("utf-16-le", "surrogatepass")
    start, end = entity.offset * _BYTES, (entity.offset + entity.length) * _BYTES
    before = units[:start].decode("utf-16-le", "replace")
    inside = units[start:end].decode("utf-16-le", "replace")
    return len(before), len(before) + len(inside)


def _without(text: str, start: int, end: int) -> str:
    before, after = text[:start], text[end:]
    if not before.strip():
        return after.lstrip(_AFTER_A_NAME)
    if before[-1:].isspace():
        after = after.lstrip(" \t")
    return (before if after[:1].isalnum() else before.rstrip(_AFTER_A_NAME)) + after


def rich_text(rich: RichMessage) -> str:
    """The words of a rich message, a line for each of its blocks."""
    shown = rich.model_dump(exclude_none=True)
    return "\n".join(line for block in shown["blocks"] if (line := "".join(_texts(block)).strip()))


def _texts(part: Any) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, list):
        for item in part:
            yield from _texts(item)
    elif isinstance(part, dict):
        for name, value in part.items():
            if name == "text" or isinstance(value, (list, dict)):
                yield from _texts(value)
