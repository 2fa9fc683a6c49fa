"""The composition root: settings in, a running application out. The only place that wires ports."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bot.ingest.chunk import CHUNKER_VERSION
from bot.ingest.refresh import refresh
from bot.ports import IndexInfo, KnowledgeIndex
from bot.registry import factory
from bot.settings import Settings
from graph.machine import Machine
from graph.model import Question, Scope, Turn, levels_up_to
from graph.ports import ChatModel, Embedder, Ports, WebSearch

INDEX_FILE = "index.db"


@dataclass(frozen=True, slots=True)
class App:
    """Everything one process needs to answer. Opened with `opened`, which also closes it."""

    settings: Settings
    index: KnowledgeIndex
    embedder: Embedder
    words: Embedder
    machine: Machine

    @property
    def model(self) -> ChatModel | None:
        return self.machine.ports.model

    def question(
        self,
        text: str,
        *,
        history: Sequence[Turn] = (),
        level: str = "",
        web: bool = True,
    ) -> Question:
        """A question of the person at the terminal, who reads what `level` may read.

        Bytes of a command line that are no text become question marks.
        """
        text = text.encode("utf-8", "replace").decode("utf-8")
        scope = Scope(
            levels=levels_up_to(level or self.settings.level),
            now=datetime.now(UTC),
            private_names=frozenset(self.settings.web_search.private_names),
        )
        return Question(text, uuid.uuid4().hex[:12], scope, tuple(history), web)


@asynccontextmanager
async def opened(
    settings: Settings,
    *,
    home: Path | None = None,
    web: WebSearch | None = None,
    check: bool = True,
) -> AsyncIterator[App]:
    """An App on the index under `home` (default: the settings' home), closed at the end.

    `web` replaces the configured web search. With `check` the index must have been built with
    the configured embedder. Raises BotError, EmbedderError.
    """
    async with AsyncExitStack() as stack:

        async def kept(port: Any) -> Any:
            close = getattr(port, "close", None)
            if close is not None:
                stack.push_async_callback(close)
            return port

        index: KnowledgeIndex = await kept(await open_index(home or settings.home))
        words: Embedder = await kept(factory("embedder.builtin")())
        embedder = words
        if settings.embedder != "builtin":
            embedder = await kept(await make_embedder(settings, await index.info()))
        if check:
            await _check(index, embedder, words)
        ports = Ports(
            retriever=index,
            embedder=embedder,
            words=words,
            model=await kept(await make_model(settings)),
            web=web or await kept(make_web(settings)),
        )
        machine = Machine(ports, settings.policy(), settings.limit_values())
        yield App(settings, index, embedder, words, machine)


async def _check(index: KnowledgeIndex, embedder: Embedder, words: Embedder) -> None:
    """Refuses another embedder's index; fits the profile that a first sync, cut short, lacks."""
    info = await require_compatible(index, embedder)
    if info.chunks and info.profile_revision < 0:
        await refresh(index, embedder, words)


async def require_compatible(index: KnowledgeIndex, embedder: Embedder) -> IndexInfo:
    """Raises IndexIncompatible for an index of other tools; writes nothing into one that fits, so
    a full disk or a read-only folder keeps nobody from asking."""
    info = await index.info()
    tools = (embedder.name, embedder.dimension, CHUNKER_VERSION)
    if info.chunks and tools != (info.embedder, info.dimension, info.chunker):
        await index.begin(*tools)
    return info


async def open_index(folder: Path) -> KnowledgeIndex:
    """The index in `folder`, made when it is not there. Raises StorageError."""
    index: KnowledgeIndex = await factory("index.sqlite")(folder / INDEX_FILE)
    return index


async def make_embedder(settings: Settings, info: IndexInfo | None = None) -> Embedder:
    """The main embedder that the settings name. Raises SettingsError, EmbedderError.

    A remote one is asked for its dimension only when `info`, of the index, does not tell: while
    its server is down, questions are still answered by keywords.
    """
    if settings.embedder == "e5":
        e5: Embedder = await asyncio.to_thread(factory("embedder.e5"))
        return e5
    remote = await asyncio.to_thread(
        factory("embedder.openai"),
        model=settings.embedder.removeprefix("openai:"),
        base_url=settings.model_url,
        api_key=settings.model_key.get_secret_value(),
        timeout=settings.limits.embed_timeout,
        dimension=info.dimension if info and info.embedder == settings.embedder else None,
    )
    await remote.probe()
    embedder: Embedder = remote
    return embedder


async def make_model(settings: Settings) -> ChatModel | None:
    """The chat model, or None when the settings name none: answers are then extractive."""
    if not settings.model:
        return None
    model: ChatModel = await asyncio.to_thread(
        factory("model.openai"),
        model=settings.model,
        base_url=settings.model_url,
        api_key=settings.model_key.get_secret_value(),
        timeout=settings.limits.model_timeout,
    )
    return model


def make_web(settings: Settings) -> WebSearch | None:
    if not settings.web:
        return None
    web: WebSearch = factory("web.duckduckgo")(
        backends=settings.web_search.backends,
        region=settings.web_search.region,
        deadline=settings.limits.web_timeout,
        proxy=settings.web_search.proxy,
        ca_file=settings.web_search.ca_file,
    )
    return web
