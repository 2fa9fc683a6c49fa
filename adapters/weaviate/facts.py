"""What an index knows of itself: its tools and revision, its profile, its sources."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from typing import Any
from uuid import UUID

from weaviate.classes.data import DataObject
from weaviate.classes.query import Filter

from adapters.weaviate.collections import Collections
from adapters.weaviate.paging import delete_all, everything, insert
from adapters.weaviate.rows import object_id, record_to_json, source_from_json, spot
from adapters.weaviate.schema import SCHEMA
from bot.ports import SourceRecord


@dataclass(frozen=True, slots=True)
class Tools:
    """What the index was built with, and how often its chunks changed."""

    embedder: str = ""
    dimension: int = 0
    chunker: str = ""
    revision: int = 0
    schema: int = SCHEMA

    @property
    def names(self) -> tuple[str, int, str]:
        return self.embedder, self.dimension, self.chunker


@dataclass(frozen=True, slots=True)
class Stamp:
    """Tells one saved profile from another without reading it."""

    revision: int
    digest: str


class Facts:
    """Small objects of one generation, each replaced as a whole."""

    def __init__(self, collections: Collections) -> None:
        self._collections = collections
        self._generation = collections.generation

    async def tools(self) -> Tools:
        found = await self._read("tools", "", ("data",))
        return Tools(**json.loads(found["data"])) if found else Tools()

    async def save_tools(self, tools: Tools) -> None:
        await self._save("tools", "", json.dumps(asdict(tools)))

    async def grow_revision(self) -> None:
        """Before chunks change: what dies in between leaves a profile that is made again."""
        tools = await self.tools()
        await self.save_tools(replace(tools, revision=tools.revision + 1))

    async def stamp(self) -> Stamp | None:
        """Of the saved profile."""
        found = await self._read("profile", "", ("stamp",))
        return Stamp(**json.loads(found["stamp"])) if found else None

    async def profile(self) -> bytes:
        found = await self._read("profile", "", ("data",))
        return b64decode(found["data"]) if found else b""

    async def save_profile(self, revision: int, data: bytes) -> None:
        saved = await self.stamp()
        if saved is not None and saved.revision > revision:
            return
        stamp = Stamp(revision, blake2b(data, digest_size=8).hexdigest())
        await self._save("profile", "", b64encode(data).decode(), json.dumps(asdict(stamp)))

    async def forget_profile(self) -> None:
        await self._collections.facts.data.delete_by_id(self._id("profile", ""))

    async def sources(self) -> list[SourceRecord]:
        """By name."""
        wanted = Filter.by_property("kind").equal(self._kind("source"))
        found = await everything(self._collections.facts, wanted, ("data",))
        records = [source_from_json(item.properties["data"]) for item in found]
        return sorted(records, key=lambda record: record.name)

    async def save_source(self, record: SourceRecord) -> None:
        await self._save("source", record.name, record_to_json(record))

    async def forget_source(self, name: str) -> None:
        await self._collections.facts.data.delete_by_id(self._id("source", name))

    async def forget_all(self) -> None:
        """Of the first generation the tools stay: an earlier version of Belay, which looks for
        them there, reads in them that it is too old."""
        kinds = [self._kind("profile"), self._kind("source")]
        kinds += [self._kind("tools")] if self._generation else []
        wanted = Filter.by_property("kind").contains_any(kinds)
        await delete_all(self._collections.facts, wanted)

    async def _read(self, kind: str, name: str, names: tuple[str, ...]) -> Mapping[str, Any]:
        found = await self._collections.facts.query.fetch_object_by_id(
            self._id(kind, name), return_properties=list(names)
        )
        return found.properties if found else {}

    async def _save(self, kind: str, name: str, data: str, stamp: str = "") -> None:
        identity = self._id(kind, name)
        properties = {
            "kind": self._kind(kind),
            "spot": spot(identity),
            "stamp": stamp,
            "data": data,
        }
        await insert(self._collections.facts, [DataObject(properties=properties, uuid=identity)])

    def _id(self, kind: str, name: str) -> UUID:
        return object_id(self._kind(kind), name)

    def _kind(self, kind: str) -> str:
        return f"{kind}-{self._generation}" if self._generation else kind
