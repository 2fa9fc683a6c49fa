"""Whether a sync has a chat model write lines beside documents, and where these are kept."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from bot.app import make_model
from bot.errors import SettingsError
from bot.ingest.expansion import Expander, Wanted
from bot.registry import factory
from bot.settings import Settings
from graph.ports import ChatModel

LINES_FILE = "lines.db"
_DAY = 86400.0


@asynccontextmanager
async def expanding(settings: Settings) -> AsyncIterator[Expander | None]:
    """None where `[expansion]` is off, or no chat model is named. The model is made when the first
    document needs it, and closed at the end."""
    if not _is_on(settings):
        yield None
        return
    async with AsyncExitStack() as stack:

        async def model() -> ChatModel:
            made = await make_model(settings)
            if made is None:
                raise SettingsError("BELAY_MODEL is missing.", "Name the chat model.")
            if close := getattr(made, "close", None):
                stack.push_async_callback(close)
            return made

        cache = factory("cache.sqlite")(settings.home / LINES_FILE)
        yield Expander(settings.model, model, cache, _wanted(settings))


def expansion_mark(settings: Settings) -> str:
    """What changes when documents would get other lines; "" where they get none."""
    return _wanted(settings).mark(settings.model) if _is_on(settings) else ""


def _is_on(settings: Settings) -> bool:
    return settings.expansion.enabled and bool(settings.model)


def _wanted(settings: Settings) -> Wanted:
    chosen = settings.expansion
    return Wanted(
        lines=chosen.lines,
        languages=chosen.languages,
        characters=chosen.characters,
        parallel=chosen.parallel,
        seconds=settings.limits.model_timeout,
        kept=chosen.kept_days * _DAY,
    )
