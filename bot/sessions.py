"""The session log: what was said to the bot and by it, turn by turn, with whose words they are.

A conversation is a thread, a topic or a chat. A session is a whole thread or topic, or a stretch of
a chat without a long pause.
`talk` says who may be reminded of a turn: the people of its place, or one person in private.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Literal, Protocol

from graph.model import Answer, Document, Outcome, Scope, SourceType

Role = Literal["question", "answer", "message"]

PAUSE = timedelta(hours=1)
"""After this long a conversation outside of threads begins a new session."""

STORED = 100
"""Turns of one session that are kept; the oldest go first."""


@dataclass(frozen=True, slots=True)
class SessionTurn:
    """One message. `person` is the key of who asked, said, or was answered: an answer goes with
    its question when that person is forgotten.

    `verified`: an answer whose statements all stand in documents. `behind`: the documents that it
    was drawn from; whoever may not read them may not read it either.
    """

    id: str  # unique for ever; the same when the same message is recorded again
    role: Role
    conversation: str  # as in Place.conversation, private rooms apart
    talk: str
    person: str
    text: str
    at: datetime
    question_id: str = ""  # what ties a question and its answer together
    scope: Scope = field(default_factory=Scope)  # of the audience that it was said to
    verified: bool = False
    behind: tuple[Document, ...] = ()
    link: str = ""  # opens the message, where the platform has such links
    said: str = ""  # a question as others saw it, where that differs
    session: str = ""  # set by the log

    def moved(self, old: str, new: str) -> SessionTurn:
        """The turn after its place "platform:id:" has got a new id."""
        conversation = _renamed(self.conversation, old, new)
        return replace(self, conversation=conversation, talk=_renamed(self.talk, old, new))


@dataclass(frozen=True, slots=True)
class Selection:
    """Which turns to forget: those that match all that is set. Nothing set matches nothing."""

    person: str = ""
    conversation: str = ""
    place: str = ""  # "platform:id:" of all its threads and topics


class SessionLog(Protocol):
    """Turns in the order they were said. All methods raise StorageError."""

    async def add(self, turns: Sequence[SessionTurn]) -> None:
        """Stores turns; one that is known by its id is replaced, and stays where it stood."""

    async def recent(self, conversation: str, limit: int) -> Sequence[SessionTurn]:
        """The last turns of a conversation by their time, oldest first."""

    async def all(self) -> Sequence[SessionTurn]:
        """Every turn, session by session, in the order they were said."""

    async def forget(self, selection: Selection) -> Sequence[SessionTurn]:
        """Removes the turns that match, and returns them."""

    async def move(self, old: str, new: str) -> None:
        """A place has a new id: `old` and `new` are "platform:id:"."""


def matches(turn: SessionTurn, selection: Selection) -> bool:
    """Whether `selection` means this turn."""
    if not (selection.person or selection.conversation or selection.place):
        return False
    return (
        selection.person in ("", turn.person)
        and selection.conversation in ("", turn.conversation)
        and turn.conversation.startswith(selection.place)
    )


def follows(turn: SessionTurn, last: SessionTurn | None, pause: timedelta = PAUSE) -> bool:
    """Whether `turn` belongs to the session of `last`, the turn before it in its conversation."""
    if last is None or turn.talk != last.talk:
        return False
    return is_threaded(turn) or abs(turn.at - last.at) <= pause


def is_threaded(turn: SessionTurn) -> bool:
    """Whether it was said in a thread or a topic, which is one session however long it rests."""
    return not turn.conversation.endswith(":")


def drawn_from(answer: Answer) -> tuple[Document, ...]:
    """The documents that an answer tells of: those it cites, those behind an earlier answer that
    it cites, and those it names as the nearest."""
    passages = [item.passage for item in answer.citations]
    passages += [item.passage for item in answer.nearest]
    found: dict[Document, None] = {}
    for passage in passages:
        if passage.source_type is SourceType.SESSION:
            found.update(dict.fromkeys(passage.behind))
        elif passage.source_type is not SourceType.WEB:
            found[passage.source, passage.document] = None
    return tuple(found)


def is_verified(answer: Answer) -> bool:
    """True for an answer whose statements all stand in documents: nothing from the web, nothing
    that was only said before, nothing half found."""
    cited = [item.passage.source_type for item in answer.citations]
    outside = (SourceType.WEB, SourceType.SESSION)
    return answer.outcome is Outcome.ANSWERED and bool(cited) and not set(cited) & set(outside)


def _renamed(key: str, old: str, new: str) -> str:
    return new + key.removeprefix(old) if key.startswith(old) else key
