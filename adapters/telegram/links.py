"""Addresses of messages: https://core.telegram.org/api/links#private-message-links."""

from __future__ import annotations

from bot.chat import Place

_SUPERGROUP = "-100"  # begins the ids of supergroups and channels in the Bot API


def link_to(place: Place, message_id: str) -> str:
    """Opens a message for the members of a supergroup; other chats have no such addresses."""
    if not place.id.startswith(_SUPERGROUP) or not message_id.isdecimal():
        return ""
    topic = f"{place.thread}/" if place.thread else ""
    return f"https://t.me/c/{place.id.removeprefix(_SUPERGROUP)}/{topic}{message_id}"
