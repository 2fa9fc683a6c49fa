"""An export of Telegram Desktop as JSON (result.json): one chat, or all of an account.

Groups and supergroups are read. Private chats are not: they were said to nobody else. What was
posted in the name of a channel has no person, and is left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bot.errors import SourceError
from bot.histories.entry import Entry

_SUPERGROUPS = ("private_supergroup", "public_supergroup")
_GROUPS = ("private_group", *_SUPERGROUPS)


def sessions(path: Path) -> Iterator[list[Entry]]:
    """The messages of each group, oldest first. Raises SourceError."""
    try:
        value = json.loads(path.read_text(encoding="utf-8-sig"))
        chats = value["chats"]["list"] if "chats" in value else [value]
        read = [_chat(chat) for chat in chats if chat.get("type") in _GROUPS]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SourceError(f"{path.name} is no export of Telegram: {error!r}.", "") from error
    if not read:
        raise SourceError(
            f"{path.name} holds no group.",
            "Export the history of a group as JSON in Telegram Desktop.",
        )
    yield from read


def _chat(chat: dict[str, Any]) -> list[Entry]:
    large = chat["type"] in _SUPERGROUPS
    place = f"-100{chat['id']}" if large else f"-{chat['id']}"
    link = f"https://t.me/c/{chat['id']}/" if large else ""
    found = [_entry(item, place, link) for item in chat["messages"] if _is_of_a_person(item)]
    return sorted(found, key=lambda entry: entry.at)


def _is_of_a_person(message: dict[str, Any]) -> bool:
    said = message.get("type") == "message" and not message.get("forwarded_from")
    person = str(message.get("from_id") or "").startswith("user")
    return bool(said and person and _text(message) and not message.get("via_bot"))


def _entry(message: dict[str, Any], place: str, link: str) -> Entry:
    return Entry(
        talk=f"telegram:{place}:chat",
        person=f"telegram:{str(message['from_id']).removeprefix('user')}",
        text=_text(message),
        at=datetime.fromtimestamp(int(message["date_unixtime"]), UTC),
        link=f"{link}{message['id']}" if link else "",
    )


def _text(message: dict[str, Any]) -> str:
    """Telegram writes a text with links or formats as a list of pieces."""
    text = message.get("text") or ""
    if isinstance(text, str):
        return text.strip()
    pieces = (item if isinstance(item, str) else str(item.get("text", "")) for item in text)
    return "".join(pieces).strip()
