"""A workspace export of Slack: a zip with a folder a channel and a file a day.

Public and private channels are read. Direct messages are not: they were said to nobody else. What
apps and other bots posted is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from bot.errors import SourceError
from bot.histories.entry import Entry

_LISTS = ("channels.json", "groups.json")
_LARGEST = 64 * 1024 * 1024  # bytes of one file, unpacked: a day of one channel
_LABELLED = re.compile(r"<(?:https?://|mailto:)?([^<>|]*)\|([^<>]*)>")
_BARE = re.compile(r"<([^<>|]*)>")
_ENTITIES = {"&lt;": "<", "&gt;": ">", "&amp;": "&"}  # the three that Slack writes


def sessions(path: Path) -> Iterator[list[Entry]]:
    """The messages of each channel, oldest first. Raises SourceError."""
    try:
        with ZipFile(path) as archive:
            names = set(archive.namelist())
            listed = [item for name in _LISTS if name in names for item in _read(archive, name)]
            if not listed:
                raise SourceError(
                    f"{path.name} has no channels.json.",
                    "Export the workspace's data from Slack's settings, and name that zip file.",
                )
            for channel in listed:
                entries = _channel(archive, names, str(channel["id"]), str(channel["name"]))
                yield sorted(entries, key=lambda entry: entry.at)
    except (BadZipFile, KeyError, TypeError, ValueError) as error:
        raise SourceError(f"{path.name} is no export of Slack: {error!r}.", "") from error


def _channel(archive: ZipFile, names: set[str], place: str, folder: str) -> Iterator[Entry]:
    for name in sorted(names):
        if name.startswith(f"{folder}/") and name.endswith(".json"):
            for message in _read(archive, name):
                if _is_of_a_person(message):
                    yield _entry(message, place)


def _is_of_a_person(message: dict[str, Any]) -> bool:
    plain = message.get("subtype") in (None, "thread_broadcast", "file_share")
    who = message.get("user") and not message.get("bot_id")
    return bool(message.get("type") == "message" and plain and who and message.get("text"))


def _entry(message: dict[str, Any], place: str) -> Entry:
    thread = str(message.get("thread_ts") or "")
    return Entry(
        talk=f"slack:{place}:chat",
        person=f"slack:{message['user']}",
        text=_plain(str(message["text"])),
        at=datetime.fromtimestamp(float(message["ts"]), UTC),
        thread=thread,
    )


def _plain(text: str) -> str:
    """The words of Slack's markup: labels instead of links, and ids of people."""
    text = _BARE.sub(r"\1", _LABELLED.sub(r"\2", text))
    for written, meant in _ENTITIES.items():
        text = text.replace(written, meant)
    return text


def _read(archive: ZipFile, name: str) -> list[dict[str, Any]]:
    if archive.getinfo(name).file_size > _LARGEST:
        raise ValueError(f"{name} is larger than {_LARGEST} bytes")
    value = json.loads(archive.read(name))
    return [item for item in value if isinstance(item, dict)]
