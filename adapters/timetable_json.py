"""What a timetable holds, as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from bot.timetable import Entry, Leader

_TIMES = ("started", "ended", "succeeded")


def entry_json(entry: Entry) -> str:
    value: dict[str, Any] = asdict(entry)
    value |= {name: _told(value[name]) for name in _TIMES}
    return json.dumps(value, ensure_ascii=False)


def entry_of(text: str | bytes) -> Entry:
    """The entry behind `entry_json`; what a newer version wrote besides is left out."""
    value = {key: item for key, item in json.loads(text).items() if key in Entry.__slots__}
    value |= {name: _read(value.get(name)) for name in _TIMES}
    return Entry(**value)


def leader_json(leader: Leader) -> str:
    return json.dumps({"name": leader.name, "until": _told(leader.until)}, ensure_ascii=False)


def leader_of(text: str | bytes) -> Leader:
    value = json.loads(text)
    return Leader(value["name"], datetime.fromisoformat(value["until"]))


def _told(time: datetime | None) -> str | None:
    return time.astimezone(UTC).isoformat() if time is not None else None


def _read(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text is not None else None
