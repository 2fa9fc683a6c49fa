"""Addresses of messages: https://api.slack.com/reference/deep-linking."""

from __future__ import annotations

import re

from bot.chat import Place

_STAMP = re.compile(r"\d+\.\d+")


def link_to(workspace: str, place: Place, message_id: str) -> str:
    """Opens a message for those who may read it. `workspace` is its address, as auth.test gives
    it; what was typed as a command is no message, and has none."""
    if not workspace or not _STAMP.fullmatch(message_id):
        return ""
    address = f"{workspace.rstrip('/')}/archives/{place.id}/p{message_id.replace('.', '')}"
    if place.thread and place.thread != message_id:
        address += f"?thread_ts={place.thread}&cid={place.id}"
    return address
