"""The minutes: what is said to the bot and by it goes to the session log, and comes back from it.

A turn that cannot be stored costs nobody an answer. What is forgotten goes from the log, from the
index of what was said, from the traces of `belay why`, and from the memory of this process; with a
person also their votes go, and what the audit has of them.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, replace

from bot.access import talk_key
from bot.audit import Audit, AuditQuery
from bot.chat import Incoming, Place
from bot.errors import StorageError
from bot.feedback import FeedbackLog
from bot.ingest.secrets import mask
from bot.ingest.sessions import forget_passages
from bot.ports import KnowledgeIndex
from bot.recall import Exchange, Recall, room
from bot.sessions import Selection, SessionLog, SessionTurn, drawn_from, is_verified
from graph.followup import cut
from graph.model import Answer, Question

_log = logging.getLogger(__name__)

_CHARACTERS = 4000  # of one turn; more is cut in the middle
_LOOKED_THROUGH = 100  # turns, for the question of an answer
_ALONE = 1000  # questions that only this process remembers

Link = Callable[[Place, str], str]
"""Opens a message of a place by its id; "" where there is no such link."""

Drop = Callable[[Collection[str]], Awaitable[None]]
"""Forgets what is kept of questions, by their ids."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """How many turns, votes and rows of the audit went. `complete` is False while the index still
    holds some of the turns, which go with its next run, or a cache or the traces some of what was
    answered, which go after their time."""

    count: int
    complete: bool = True
    votes: int = 0
    audited: int = 0


class Minutes:
    """`index` is that of earlier conversations; `audit` and `feedback` forget people with them,
    and each `drop` what else is kept of a question: traces, answers."""

    def __init__(
        self,
        log: SessionLog,
        *,
        index: KnowledgeIndex | None = None,
        drop: Sequence[Drop] = (),
        audit: Audit | None = None,
        feedback: FeedbackLog | None = None,
        link: Link | None = None,
    ) -> None:
        self._log, self._index = log, index
        self._drop, self._link = tuple(drop), link
        self._audit, self._feedback = audit, feedback
        self._alone: deque[str] = deque(maxlen=_ALONE)  # questions that the log could not take

    async def record(self, question: Question, event: Incoming, answer: Answer) -> None:
        """Keeps a question and its answer, for the audience that it was answered for."""
        link = self._link(event.place, event.message_id) if self._link else ""
        asked = SessionTurn(
            f"{question.id}:question",
            "question",
            room(event).conversation,
            talk_key(event, told=True),
            event.person.key,
            _kept(question.text),
            event.at,
            question_id=question.id,
            scope=question.scope,
            link=link,
            said=_kept(event.text),
        )
        told = replace(
            asked,
            id=f"{question.id}:answer",
            role="answer",
            text=_kept(answer.text),
            verified=is_verified(answer),
            behind=drawn_from(answer),
            said="",
        )
        try:
            await self._log.add([asked, told])
        except StorageError as error:
            _log.warning("a turn was not kept: %s", error)
            self._alone.append(question.id)

    async def refresh(self, recall: Recall, place: Place) -> None:
        """Gives a memory the last turns of a conversation, as all processes heard it: after a
        restart, and when another one answered in between or was told to forget."""
        limit = 2 * recall.bounds.exchanges
        try:
            turns = await self._log.recent(place.conversation, limit)
        except StorageError as error:
            _log.warning("a conversation could not be read: %s", error)
            if not recall.knows(place):
                recall.refresh(place, (), whole=False)
            return
        recall.refresh(place, _exchanges(turns), alone=self._alone, whole=len(turns) < limit)

    async def asked(self, event: Incoming, question_id: str) -> SessionTurn | None:
        """The question of an answer that stands where `event` happens, when its person could see
        it. Raises StorageError."""
        rooms = {room(replace(event, private=private)).conversation for private in (False, True)}
        for conversation in sorted(rooms):
            for turn in await self._log.recent(conversation, _LOOKED_THROUGH):
                own = turn.talk != f"{turn.person}:private" or turn.person == event.person.key
                if (turn.question_id, turn.role) == (question_id, "question") and own:
                    return turn
        return None

    async def move(self, place: Place, new_id: str) -> None:
        """Raises StorageError."""
        await self._log.move(f"{place.platform}:{place.id}:", f"{place.platform}:{new_id}:")

    async def forget(
        self, selection: Selection, recall: Recall, questions: Collection[str] = ()
    ) -> Forgotten:
        """Removes the turns that match, wherever they are kept, and the traces of `questions`.
        Raises StorageError when the log cannot be written: then they are all still there."""
        gone = await self._log.forget(selection)
        remembered = recall.forget_selected(selection)
        traced = {turn.question_id for turn in gone if turn.question_id} | remembered
        turns = {turn.id for turn in gone}
        turns |= {f"{name}:{role}" for name in remembered for role in ("question", "answer")}
        complete = await self._forget_passages(gone)
        for drop in self._drop:
            try:
                await drop(traced.union(questions))
            except StorageError as error:
                _log.error("not all is forgotten: %s %s", error, error.remedy)
                complete = False
        return Forgotten(len(turns), complete)

    async def forget_person(self, key: str, recall: Recall) -> Forgotten:
        """Removes all that a person asked and was told, in every place, their votes, and from the
        audit what its settings say. Raises StorageError.

        The audit is asked first: it knows questions that the log has no room for any more.
        """
        asked: list[str] = []
        votes = audited = 0
        if self._audit is not None:
            asked = [row.question_id for row in await self._audit.find(AuditQuery(person=key))]
            audited = await self._audit.forget(key)
        if self._feedback is not None:
            votes = await self._feedback.forget(key)
        gone = await self.forget(Selection(person=key), recall, asked)
        return replace(gone, votes=votes, audited=audited)

    async def _forget_passages(self, turns: Sequence[SessionTurn]) -> bool:
        if self._index is None:
            return True
        try:
            await forget_passages(self._index, turns)
        except StorageError as error:
            _log.error("forgotten turns are still indexed: %s %s", error, error.remedy)
            return False
        return True


def _kept(text: str) -> str:
    return mask(cut(text, _CHARACTERS))


def _exchanges(turns: Sequence[SessionTurn]) -> list[Exchange]:
    """Questions that have an answer, oldest first."""
    answers = {turn.question_id: turn for turn in turns if turn.role == "answer"}
    return [
        Exchange(
            turn.question_id,
            turn.person,
            turn.text,
            answers[turn.question_id].text,
            turn.scope,
            turn.said,
            answers[turn.question_id].behind,
        )
        for turn in turns
        if turn.role == "question" and turn.question_id in answers
    ]
