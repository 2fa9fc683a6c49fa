"""Earlier conversations of an evaluation, indexed as the bot indexes its own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from bot.app import App
from bot.audience import DEFAULT_TENANT
from bot.errors import SourceError
from bot.evals.access_cases import moment
from bot.evals.rows import Fields
from bot.evals.run import SOURCE
from bot.ingest.sessions import index_sessions
from bot.ports import KnowledgeIndex
from bot.progress import Progress
from bot.registry import factory
from bot.sessions import SessionLog, SessionTurn
from graph.model import Scope

PLATFORM = "eval"
_BOT = "bot"
_BETWEEN = timedelta(seconds=1)  # turns


@asynccontextmanager
async def indexed_sessions(
    app: App, folder: Path, progress: Progress
) -> AsyncIterator[KnowledgeIndex | None]:
    """The index of `folder`/sessions/*.json; None without any. Raises BotError."""
    files = await asyncio.to_thread(lambda: sorted((folder / "sessions").glob("*.json")))
    if not files:
        yield None
        return
    home = app.settings.home / "eval" / "sessions"
    await asyncio.to_thread(_emptied, home)
    log: SessionLog = factory("sessions.sqlite")(home / "log.db")
    for file in files:
        await log.add(list(load_session(file)))
    index: KnowledgeIndex = await factory("index.sqlite")(home / "index.db")
    try:
        lowest = app.settings.access.levels[0]
        await index_sessions(
            log,
            index,
            app.embedder,
            app.words,
            lock=home / "lock",
            lowest=lowest,
            progress=progress,
        )
        yield index
    finally:
        await index.close()


def _emptied(home: Path) -> None:
    home.mkdir(parents=True, exist_ok=True)
    for file in home.iterdir():
        file.unlink()


def load_session(path: Path) -> Iterator[SessionTurn]:
    """The turns of one transcript: `{id, tenant, place {id, kind, members}, at, turns}`.

    What somebody says right before the bot is a question. Raises SourceError.
    """
    try:
        item: Any = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise SourceError(f"cannot read {path}: {error}", "a JSON object is expected") from None
    if not isinstance(item, dict):
        raise SourceError(f"{path} is no session", "a JSON object is expected")
    fields = Fields(item, str(path))
    place, turns = fields.object("place"), fields.objects("turns")
    spot, members = place.required("id"), place.texts("members")
    private = place.text("kind") == "dm"
    talk = f"{PLATFORM}:{members[0]}:private" if private and members else ""
    start = moment(fields.required("at"), str(path))
    who = [turn.required("who") for turn in turns]
    asker = ""
    for number, turn in enumerate(turns):
        asker = asker if who[number] == _BOT else who[number]
        asks = who[number + 1 : number + 2] == [_BOT]
        yield SessionTurn(
            id=f"{fields.required('id')}#{number}",
            role="answer" if who[number] == _BOT else "question" if asks else "message",
            conversation=f"{PLATFORM}:{spot}:",
            talk=talk or f"{PLATFORM}:{spot}:chat",
            person=f"{PLATFORM}:{asker}",
            text=turn.text("text"),
            at=start + number * _BETWEEN,
            question_id=f"{fields.required('id')}#{number + asks}",
            scope=Scope(tenant=fields.text("tenant") or DEFAULT_TENANT),
            verified=bool(turn.texts("docs")),
            behind=tuple((SOURCE, document) for document in turn.texts("docs")),
        )
