"""A timetable in memory: for tests, and for a bot without a data folder."""

from __future__ import annotations

from collections.abc import Mapping

from bot.timetable import Entry, Leader, Timetable


class MemoryTimetable(Timetable):
    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}
        self._leader: Leader | None = None

    async def entries(self) -> Mapping[str, Entry]:
        return dict(self._entries)

    async def save(self, entry: Entry) -> None:
        self._entries[entry.source] = entry

    async def leader(self) -> Leader | None:
        return self._leader

    async def sign(self, leader: Leader) -> None:
        self._leader = leader
