"""Makes what was said findable: an index of its own, kept in step with the session log.

A question with its verified answer is one passage, and so is each message that states something.
A question without a verified answer is kept as a stub: it is known to have been asked, and answers
nothing.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from uuid import UUID, uuid5

from bot.errors import IndexIncompatible
from bot.fenced import fenced
from bot.ingest.embed import embed, passage_text
from bot.ingest.fingerprint import digest
from bot.ingest.lock import held
from bot.ingest.options import SyncOptions
from bot.ingest.refresh import refresh
from bot.ports import (
    Chunk,
    FileRecord,
    FileState,
    KnowledgeIndex,
    SourceRecord,
    SyncState,
)
from bot.progress import Progress, Silent
from bot.sessions import SessionLog, SessionTurn
from graph.followup import cut
from graph.marks import without_marks
from graph.model import LEVELS, Access, Document, Passage, SourceType
from graph.ports import Embedder, Vector
from graph.recollection import joined
from graph.smalltalk import asks, is_blank, is_small_talk
from graph.terms import Fields, TermCounts
from graph.text import passage_language, tokens

SOURCE = "sessions"
VERSION = "sessions-1"
"""Changes whenever the same turns would give other passages: all are then indexed anew."""

_IDS = UUID("6f2b5a0e-9d0c-4c0e-8a53-6a1f4c1d7b52")
_TOPIC = 120  # characters
_STATEMENT = 5  # words
_STATING = frozenset({"надо", "нужно", "стоит", "можно", "must", "should", "shall", "may"})


@dataclass(frozen=True, slots=True)
class Remark:
    """A passage in the making. `topic` is what its session began with; `behind` are the documents
    that were drawn from so far: whoever may not read them may not read what was said after."""

    turn: SessionTurn
    text: str
    asked: str  # the question that it answers, "" for other messages
    topic: str
    behind: tuple[Document, ...]
    stub: bool = False

    @property
    def fingerprint(self) -> str:
        turn = self.turn
        scope = (turn.scope.tenant, turn.talk, turn.at, turn.link)
        return digest(
            repr((VERSION, scope, self.text, self.asked, self.topic, self.behind)).encode()
        )


@dataclass(frozen=True, slots=True)
class SessionReport:
    """What a run did, in passages and seconds."""

    known: int
    embedded: int
    removed: int
    seconds: float


async def index_sessions(
    log: SessionLog,
    index: KnowledgeIndex,
    embedder: Embedder,
    words: Embedder,
    *,
    lock: Path,
    lowest: str = LEVELS[0],
    progress: Progress | None = None,
) -> SessionReport:
    """Embeds what is new in the log, takes out what was forgotten, and calibrates when it must.

    `lowest` is the level that everybody has: who may read a turn is decided by its place and by
    the documents behind it. What another embedder indexed is indexed anew. Raises SyncBusy,
    StorageError, EmbedderError.
    """
    started = time.monotonic()
    with held(lock):
        index = await fenced(index)
        await _begin(index, embedder)
        known = await index.records(SOURCE)
        remarks = {remark.turn.id: remark for remark in remarks_of(await log.all())}
        fresh = [item for name, item in remarks.items() if _differs(item, known.get(name))]
        await _store(index, embedder, fresh, lowest, progress or Silent())
        removed = await _remove_forgotten(log, index, set(known), set(remarks))
        if known and not remarks:  # the profile still knows words that were said
            await index.reset()
            await _begin(index, embedder)
        await _note(index, len(remarks))
        await refresh(index, embedder, words)
    return SessionReport(len(remarks), len(fresh), removed, time.monotonic() - started)


async def forget_passages(index: KnowledgeIndex, turns: Iterable[SessionTurn]) -> None:
    """Takes the passages of turns out of the index. Raises StorageError."""
    ids = [turn.id for turn in turns]
    if ids:
        await index.remove(SOURCE, ids)


def remarks_of(turns: Sequence[SessionTurn]) -> Iterator[Remark]:
    """The passages of turns that stand session by session, in the order they were said."""
    for _, said in groupby(turns, key=lambda turn: turn.session):
        yield from _of_session(list(said))


def _of_session(turns: Sequence[SessionTurn]) -> Iterator[Remark]:
    answers = {turn.question_id: turn for turn in turns if turn.role == "answer"}
    topic = next((_line(turn.text) for turn in turns if turn.role != "answer"), "")
    behind: dict[Document, None] = {}
    for turn in turns:
        behind.update(dict.fromkeys(turn.behind))
        answer = answers.get(turn.question_id) if turn.role == "question" else None
        if answer is not None:
            behind.update(dict.fromkeys(answer.behind))
        if turn.role == "answer" or is_blank(turn.text) or is_small_talk(turn.text):
            continue
        if answer is not None and answer.verified:
            told = replace(turn, link=answer.link or turn.link)
            yield Remark(
                told, without_marks(answer.text).strip(), _line(turn.text), topic, tuple(behind)
            )
        else:
            stub = _only_asks(turn.text) or (turn.role == "question" and _is_short(turn.text))
            yield Remark(turn, turn.text, "", topic, tuple(behind), stub)


def _only_asks(text: str) -> bool:
    """Whether a message is a question. "Надо переключить базу" begins like one, and is none."""
    first = text.split(maxsplit=1)[0].casefold()
    return text.rstrip().endswith("?") or (asks(first) and first not in _STATING)


def _is_short(text: str) -> bool:
    """Whether what was said to the bot is a search in key words, and no statement: in a thread that
    it follows it hears what people tell each other, too."""
    return len(text.split()) < _STATEMENT


def _line(text: str) -> str:
    return cut(" ".join(text.split()), _TOPIC)


async def _begin(index: KnowledgeIndex, embedder: Embedder) -> None:
    tools = (embedder.name, embedder.dimension, VERSION)
    try:
        await index.begin(*tools)
    except IndexIncompatible:
        await index.reset()
        await index.begin(*tools)


def _differs(remark: Remark, known: FileRecord | None) -> bool:
    return known is None or known.fingerprint != remark.fingerprint


async def _store(
    index: KnowledgeIndex,
    embedder: Embedder,
    remarks: Sequence[Remark],
    lowest: str,
    progress: Progress,
) -> None:
    options = SyncOptions()
    progress.begin("Indexing conversations", len(remarks))
    try:
        for start in range(0, len(remarks), options.gather):
            part = remarks[start : start + options.gather]
            texts = [passage_text("", (item.topic, item.asked), item.text) for item in part]
            vectors = await embed(embedder, texts, batch=options.batch, parallel=options.parallel)
            for item, vector in zip(part, vectors, strict=True):
                await index.replace(SOURCE, _record(item), [_chunk(item, vector, lowest)])
                progress.advance()
    finally:
        progress.end()


async def _remove_forgotten(
    log: SessionLog, index: KnowledgeIndex, known: set[str], wanted: set[str]
) -> int:
    """Looks into the log again: what was forgotten while it was embedded goes, too."""
    left = {turn.id for turn in await log.all()}
    gone = sorted((known - wanted) | ((known | wanted) - left))
    return await index.remove(SOURCE, gone) if gone else 0


async def _note(index: KnowledgeIndex, passages: int) -> None:
    await index.save_source(
        SourceRecord(
            name=SOURCE,
            kind=SourceType.SESSION,
            location="",
            state=SyncState.COMPLETE,
            last_run=datetime.now(UTC),
            files=passages,
            chunks=passages,
        )
    )


def _record(remark: Remark) -> FileRecord:
    return FileRecord(
        path=remark.turn.id,
        fingerprint=remark.fingerprint,
        state=FileState.INDEXED,
        chunks=1,
        updated_at=remark.turn.at,
    )


def _chunk(remark: Remark, vector: Vector, lowest: str) -> Chunk:
    turn = remark.turn
    access = Access(
        tenant=turn.scope.tenant,
        audience=lowest,
        source_type=SourceType.SESSION,
        place=turn.talk,
    )
    passage = Passage(
        id=str(uuid5(_IDS, f"{turn.scope.tenant}\x1f{turn.id}")),
        source=SOURCE,
        source_type=SourceType.SESSION,
        document=turn.id,
        title=f"{turn.at.astimezone(UTC):%Y-%m-%d}",
        heading=(remark.asked,) if remark.asked else (),
        text=remark.text,
        uri=turn.link,
        language=passage_language(remark.text),
        updated_at=turn.at,
        stub=remark.stub,
        behind=remark.behind,
    )
    fields = Fields(
        body=tuple(dict.fromkeys((*tokens(remark.text), *tokens(joined(remark.text))))),
        heading=tuple(tokens(remark.asked)),
        folders=tuple(tokens(remark.topic)),  # what the talk was about, beside what was said
    )
    # Two messages of one wording are two: each has its own date and its own documents behind it.
    content = digest(f"{turn.id}\x1f{remark.text}".encode())
    return Chunk(passage, access, fields, TermCounts.of(fields), vector, content)
