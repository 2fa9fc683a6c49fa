"""Slack's file objects: https://docs.slack.dev/reference/objects/file-object. Pure."""

from __future__ import annotations

from adapters.slack.words import Json
from bot.attachments import Attachment, Trouble

_MODES = {"external": Trouble.ELSEWHERE, "tombstone": Trouble.GONE, "hidden_by_limit": Trouble.GONE}


def attachments_of(message: Json) -> tuple[Attachment, ...]:
    """The files of a message that can be asked for. In a channel shared with another organisation
    Slack may tell no more than the id."""
    files = message.get("files")
    return tuple(
        Attachment(
            str(file["id"]),
            str(file.get("name") or file.get("title") or "file"),
            str(file.get("mimetype") or ""),
            size_of(file),
            str(message.get("ts") or ""),
        )
        for file in (files if isinstance(files, list) else ())
        if isinstance(file, dict) and file.get("id")
    )


def size_of(file: Json) -> int:
    size = file.get("size")
    return size if isinstance(size, int) else 0


def address_of(file: Json) -> str:
    return str(file.get("url_private_download") or file.get("url_private") or "")


def kept_away(file: Json) -> Trouble | None:
    """Why Slack does not have the content: it is only linked, deleted, or beyond a plan's limit."""
    if file.get("is_external"):
        return Trouble.ELSEWHERE
    return _MODES.get(str(file.get("mode")))
