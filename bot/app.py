"""The composition root: settings in, a running application out. The only place that wires ports."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from bot.engines import Content, chosen, open_store
from bot.errors import StorageError
from bot.ingest.secrets import hidden
from bot.ingest.version import CHUNKER_VERSION
from bot.ports import IndexInfo, KnowledgeIndex, SharedServer, Source
from bot.registry import factory
from bot.settings import Settings
from bot.shared import shared_server
from bot.vector_cache import CachedEmbedder
from graph.errors import StoreError
from graph.model import Question, Scope, Turn, levels_up_to
from graph.ports import ChatModel, Embedder, Ports, WebSearch

if TYPE_CHECKING:
    from graph.machine import Machine

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Library:
    """The index and the embedders that fill it. Opened with `opened_library`."""

    settings: Settings
    index: KnowledgeIndex
    embedder: Embedder
    words: Embedder  # the builtin one: glossary and query types
    sessions: KnowledgeIndex | None = field(default=None, kw_only=True)  # earlier conversations
    server: SharedServer | None = field(default=None, kw_only=True)  # the Redis of the settings
    fetched: Mapping[str, Source] = field(default_factory=dict, kw_only=True)
    """Sources that were read a moment ago, by name: one object reads one state of a repository."""


@dataclass(frozen=True, slots=True)
class App(Library):
    """Everything one process needs to answer. Opened with `opened`, which also closes it."""

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

        Bytes of a command line that are no text become question marks; secrets are masked, which
        documents do not hold either: nothing of them reaches a model or the answer.
        """
        text = hidden(text.encode("utf-8", "replace").decode("utf-8"))
        access = self.settings.access
        scope = Scope(
            tenant=access.tenant,
            levels=levels_up_to(access.chosen(level or self.settings.level), access.levels),
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
        opening = opened_library(settings, home=home, to_answer=True)
        library = await stack.enter_async_context(opening)
        from graph.machine import Machine  # noqa: PLC0415 - a second, while the embedder loads

        if check:
            await _check(library)
        sessions = await _sessions(stack, library, home or settings.home)
        ports = Ports(
            retriever=library.index,
            embedder=library.embedder,
            words=library.words,
            model=await _kept(stack, await make_model(settings)),
            web=web or await _kept(stack, make_web(settings)),
            sessions=sessions,
        )
        machine = Machine(
            ports,
            settings.policy(),
            settings.limit_values(),
            now=partial(datetime.now, zone(settings)),
        )
        yield App(
            settings,
            library.index,
            library.embedder,
            library.words,
            machine,
            sessions=sessions,
            server=library.server,
        )


@asynccontextmanager
async def opened_library(
    settings: Settings, *, home: Path | None = None, to_answer: bool = False
) -> AsyncIterator[Library]:
    """The index under `home` (default: the settings' home) without what answering needs.

    `to_answer`: the embedder will be needed soon and begins to load. Otherwise it waits until
    something must be embedded. Raises BotError, EmbedderError.
    """
    async with AsyncExitStack() as stack:
        builtin = factory("embedder.builtin")(ahead=to_answer, cache=settings.cache)
        words: Embedder = await _kept(stack, builtin)
        index: KnowledgeIndex = await _kept(stack, await open_index(settings, home))
        server, embedder = await _server(stack, settings), words
        if settings.embedder != "builtin":
            embedder = await _kept(stack, await make_embedder(settings, await index.info()))
            embedder = _cached(server, settings, embedder)
        yield Library(settings, index, embedder, words, server=server)


async def _server(stack: AsyncExitStack, settings: Settings) -> SharedServer | None:
    """Not connected before it is needed, and then once for everything in this process."""
    if not settings.redis_url:
        return None
    return await stack.enter_async_context(shared_server(settings, wait=False))


def _cached(server: SharedServer | None, settings: Settings, embedder: Embedder) -> Embedder:
    """Vectors of questions are shared with the other replicas, where there may be any."""
    seconds = settings.redis.vectors_seconds
    if server is None or not seconds:
        return embedder
    return CachedEmbedder(embedder, factory("cache.redis")(server), seconds)


async def _kept(stack: AsyncExitStack, port: Any) -> Any:
    """`port`, closed with `stack` when it can be closed."""
    close = getattr(port, "close", None)
    if close is not None:
        stack.push_async_callback(close)
    return port


async def _check(library: Library) -> None:
    """Refuses another embedder's index; fits the profile that a first sync, cut short, lacks, or
    that another version left."""
    info = await require_compatible(library.index, library.embedder)
    if info.chunks:
        await ensure_profile(library, info)


async def ensure_profile(library: Library, info: IndexInfo) -> None:
    """Raises StorageError, EmbedderError. A profile that cannot be read now keeps nobody from
    starting: it is read again for each question."""
    missing = info.profile_revision < 0
    if missing or await _is_outdated(library.index):
        from bot.first_profile import fit_first, fit_outdated  # noqa: PLC0415 - hardly ever needed

        await (fit_first if missing else fit_outdated)(library)


def zone(settings: Settings) -> ZoneInfo:
    """On whose clocks "today" and "now" are when nothing is known of the asker's."""
    return ZoneInfo(settings.oncall.zone)


async def _is_outdated(index: KnowledgeIndex) -> bool:
    try:
        return (await index.profile()).calibration.outdated
    except StoreError:
        return False


async def require_compatible(index: KnowledgeIndex, embedder: Embedder) -> IndexInfo:
    """Raises IndexIncompatible for an index of other tools; writes nothing into one that fits, so
    a full disk or a read-only folder keeps nobody from asking."""
    info = await index.info()
    tools = (embedder.name, embedder.dimension, CHUNKER_VERSION)
    if info.chunks and tools != (info.embedder, info.dimension, info.chunker):
        await index.begin(*tools)
    return info


async def open_index(settings: Settings, home: Path | None = None) -> KnowledgeIndex:
    """The index of `home` (default: the settings' home), made when it is not there: collections of
    the Weaviate server that the settings name, or else a file. Raises StorageError."""
    return await open_store(settings, chosen(settings), Content.DOCUMENTS, home)


async def open_sessions(library: Library, folder: Path) -> KnowledgeIndex:
    """The index of earlier conversations of `folder`, beside that of its documents; made when it is
    not there.

    It can always be made again from the session log: what was indexed with other tools is
    dropped, unless another process is indexing. Raises StorageError.
    """
    settings = library.settings
    index = await open_store(settings, chosen(settings), Content.SESSIONS, folder)
    try:
        if await of_other_tools(index, library.embedder):
            from bot.session_runs import begin_anew  # noqa: PLC0415 - hardly ever needed

            await begin_anew(library, index)
    except BaseException:
        await index.close()
        raise
    return index


async def of_other_tools(index: KnowledgeIndex, embedder: Embedder) -> bool:
    """Whether it holds vectors of another embedder. Raises StorageError."""
    info = await index.info()
    tools = (embedder.name, embedder.dimension)
    return bool(info.chunks) and tools != (info.embedder, info.dimension)


async def _sessions(stack: AsyncExitStack, library: Library, folder: Path) -> KnowledgeIndex | None:
    """None when they are not asked for, or cannot be opened: documents still answer."""
    if not library.settings.sessions.recall:
        return None
    try:
        index: KnowledgeIndex = await _kept(stack, await open_sessions(library, folder))
    except StorageError as error:
        _log.warning("earlier conversations cannot be searched: %s %s", error, error.remedy)
        return None
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
