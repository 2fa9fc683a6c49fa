"""The stores that the settings can name, each with documents and with what was said.

Both lie apart in every engine: two files of the data folder, or two shelves of collections.
"""

from __future__ import annotations

import asyncio
from enum import StrEnum
from pathlib import Path

from bot.errors import SettingsError
from bot.ports import KnowledgeIndex
from bot.registry import factory
from bot.settings import Settings
from bot.weaviate_settings import tenant_of_weaviate


class Engine(StrEnum):
    SQLITE = "sqlite"
    WEAVIATE = "weaviate"


class Content(StrEnum):
    DOCUMENTS = "documents"
    SESSIONS = "sessions"


REBUILT = "rebuild.db"
"""An index that is being built beside the one that answers, whatever the engine of that is."""


FILES = {Content.DOCUMENTS: "index.db", Content.SESSIONS: "sessions.db"}
SHELVES = {Content.DOCUMENTS: "Documents", Content.SESSIONS: "Sessions"}


def chosen(settings: Settings) -> Engine:
    return Engine.WEAVIATE if settings.weaviate_url else Engine.SQLITE


def reachable(settings: Settings, engine: Engine) -> None:
    """Raises SettingsError when the settings do not say where `engine` is."""
    if engine is Engine.WEAVIATE and not settings.weaviate_url:
        raise SettingsError(
            "BELAY_WEAVIATE_URL is not set: there is no Weaviate to copy from or to.",
            "Let it name the server, such as http://weaviate:8080.",
        )


async def open_store(
    settings: Settings, engine: Engine, content: Content, home: Path | None = None
) -> KnowledgeIndex:
    """The store of `home` (default: the settings' home), made when it is not there.

    What belongs to another home, as that of an evaluation, lies apart from what people ask.
    Raises StorageError.
    """
    folder = home or settings.home
    if engine is Engine.SQLITE:
        index: KnowledgeIndex = await factory("index.sqlite")(folder / FILES[content])
        return index
    shelf = SHELVES[content]
    if folder != settings.home:
        shelf = f"Scratch{folder.name}{shelf if content is Content.SESSIONS else ''}"
    opening = await asyncio.to_thread(factory, "index.weaviate")
    served: KnowledgeIndex = await opening(
        settings.weaviate_url,
        grpc=settings.weaviate_grpc,
        key=settings.weaviate_key.get_secret_value(),
        shelf=shelf,
        tenant=tenant_of_weaviate(settings.weaviate, settings.access.tenant),
        **settings.weaviate.model_dump(exclude={"multi_tenancy"}),
    )
    return served
