"""The session log in memory: for tests, and for a bot without a data folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from bot.sessions import PAUSE, STORED, Selection, SessionLog, SessionTurn, follows, matches


class MemorySessions(SessionLog):
    def __init__(self, *, stored: int = STORED, pause: timedelta = PAUSE) -> None:
        self._stored, self._pause = stored, pause
        self._turns: dict[str, SessionTurn] = {}

    async def add(self, turns: Sequence[SessionTurn]) -> None:
        for turn in turns:
            known = self._turns.get(turn.id)
            session = known.session if known else self._session(turn)
            self._turns[turn.id] = replace(turn, session=session)
            self._trim(session)

    async def recent(self, conversation: str, limit: int) -> Sequence[SessionTurn]:
        said = self._of(conversation)
        return said[-limit:] if limit else []

    async def all(self) -> Sequence[SessionTurn]:
        return sorted(self._turns.values(), key=lambda turn: (turn.session, turn.at))

    async def forget(self, selection: Selection) -> Sequence[SessionTurn]:
        gone = [turn for turn in self._turns.values() if matches(turn, selection)]
        for turn in gone:
            del self._turns[turn.id]
        return gone

    async def move(self, old: str, new: str) -> None:
        for turn in self._turns.values():
            self._turns[turn.id] = turn.moved(old, new)

    def _session(self, turn: SessionTurn) -> str:
        said = self._of(turn.conversation)
        last = said[-1] if said else None
        return last.session if last and follows(turn, last, self._pause) else turn.id

    def _of(self, conversation: str) -> list[SessionTurn]:
        said = [turn for turn in self._turns.values() if turn.conversation == conversation]
        return sorted(said, key=lambda turn: turn.at)

    def _trim(self, session: str) -> None:
        ids = [turn.id for turn in self._turns.values() if turn.session == session]
        for name in ids[: max(len(ids) - self._stored, 0)]:
            del self._turns[name]
