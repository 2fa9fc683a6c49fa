"""`belay migrate`: from one engine to the other."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Final

from bot.engines import FILES, Content, Engine, open_store, reachable
from bot.errors import SettingsError, SourceError
from bot.fenced import behind
from bot.ingest.lock import held
from bot.library import LOCK_FILE as SYNC_LOCK
from bot.migration import Copied, Migration
from bot.session_runs import LOCK_FILE as SESSIONS_LOCK
from bot.session_runs import TASK as SESSIONS_TASK
from bot.settings import Settings
from bot.sync_lead import TASK as SYNC_TASK
from bot.sync_lead import sole
from bot.terminal import Terminal

_TASKS = {Content.DOCUMENTS: SYNC_TASK, Content.SESSIONS: SESSIONS_TASK}
_NEXT: Final = {
    Engine.WEAVIATE: "Keep BELAY_WEAVIATE_URL set, and the bot answers from there; the files in "
    "{home} stay as they are.",
    Engine.SQLITE: "Unset BELAY_WEAVIATE_URL, and the bot answers from {home}; the collections "
    "in Weaviate stay as they are.",
}


async def migrate(
    settings: Settings, terminal: Terminal, origin: Engine, target: Engine, overwrite: bool
) -> None:
    """Nobody syncs meanwhile, on this machine or another. Raises BotError."""
    if origin is target:
        raise SettingsError(
            f"--from and --to are both {origin}.", "Name the other one: sqlite or weaviate."
        )
    for engine in (origin, target):
        reachable(settings, engine)
    if origin is Engine.SQLITE:
        _there(settings.home)
    with held(settings.home / SYNC_LOCK), held(settings.home / SESSIONS_LOCK):
        await _copy(settings, terminal, (origin, target), overwrite)
    terminal.note(_NEXT[target].format(home=settings.home))


async def _copy(
    settings: Settings, terminal: Terminal, engines: tuple[Engine, Engine], overwrite: bool
) -> None:
    """No other machine syncs, or indexes what was said, meanwhile."""
    async with AsyncExitStack() as stack:
        leads = {
            content: await stack.enter_async_context(sole(settings, task))
            for content, task in _TASKS.items()
        }
        for content in _contents(settings, engines[0]):
            migration = await _opened(stack, settings, engines, content)
            lead = leads[content]
            if lead is not None:
                migration = replace(migration, target=behind(migration.target, lead))
            await _one(migration, terminal, content, overwrite)


def _there(home: Path) -> None:
    """Raises SourceError when there is no index to copy: none is made for it."""
    path = home / FILES[Content.DOCUMENTS]
    if not path.is_file():
        raise SourceError(
            f"There is nothing to copy: {path} does not exist.",
            "Let BELAY_HOME name the data folder, or fill the target with `belay sync`.",
        )


def _contents(settings: Settings, origin: Engine) -> list[Content]:
    said = settings.home / FILES[Content.SESSIONS]
    if origin is Engine.SQLITE and not said.is_file():
        return [Content.DOCUMENTS]
    return list(Content)


async def _opened(
    stack: AsyncExitStack, settings: Settings, engines: tuple[Engine, Engine], content: Content
) -> Migration:
    stores = []
    for engine in engines:
        store = await open_store(settings, engine, content)
        stack.push_async_callback(store.close)
        stores.append(store)
    return Migration(stores[0], stores[1], derived=content is Content.SESSIONS)


async def _one(migration: Migration, terminal: Terminal, content: Content, overwrite: bool) -> None:
    if content is Content.SESSIONS and await migration.empty():
        return
    await migration.check(overwrite=overwrite)
    progress = terminal.progress()
    try:
        copied = await migration.run(progress, overwrite=overwrite)
    finally:
        progress.end()
    terminal.plain(_told(content, copied))


def _told(content: Content, copied: Copied) -> str:
    kept = copied.files - copied.fresh
    return (
        f"{content}: {copied.files} files with {copied.chunks} chunks, {copied.fresh} copied"
        f"{f', {kept} were there' if kept else ''}; "
        f"{copied.asked} sampled searches find the same in both"
    )
