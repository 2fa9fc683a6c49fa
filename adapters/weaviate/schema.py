"""The collections of an index: chunks, what is known of files, and what is known of the index.

The analyzer's stems stand in one text that the server splits at white space and nowhere else: it
stems nothing, drops no words, and keeps identifiers whole. What is compared exactly has the
tokenizer `field`. Vectors come with the objects and are compared by their inner product, as they
have unit length; the server keeps them as they are, without quantization.

The tenant is a property like the other access rules, not one of Weaviate's tenants: one sync, one
count and one profile cover the whole index, and shards can be spread over nodes. Teams that must
not share an index have a prefix each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weaviate import WeaviateAsyncClient
from weaviate.classes.config import (
    Configure,
    ConsistencyLevel,
    DataType,
    Property,
    StopwordsPreset,
    Tokenization,
    VectorDistances,
)
from weaviate.collections.classes.types import WeaviateProperties
from weaviate.collections.collection import CollectionAsync
from weaviate.exceptions import UnexpectedStatusCodeError

from adapters.weaviate.options import Layout

SCHEMA = 2
"""Kept with the index's own facts; grows with every change of the collections.

2: `access`, `content` and `parts`, for copies of the index; see adapters/weaviate/earlier.py."""

Collection = CollectionAsync[WeaviateProperties, None]


def _exact(name: str, kind: DataType = DataType.TEXT) -> Property:
    return Property(
        name=name, data_type=kind, tokenization=Tokenization.FIELD, index_searchable=False
    )


def _kept(name: str) -> Property:
    """Read back, never searched in."""
    return Property(
        name=name, data_type=DataType.TEXT, index_filterable=False, index_searchable=False
    )


def _number(name: str) -> Property:
    return Property(
        name=name, data_type=DataType.INT, index_filterable=False, index_range_filters=True
    )


def _moment(name: str) -> Property:
    return Property(
        name=name, data_type=DataType.DATE, index_filterable=False, index_range_filters=True
    )


def _yes_or_no(name: str) -> Property:
    return Property(name=name, data_type=DataType.BOOL)


_STEMS = Property(
    name="stems",
    data_type=DataType.TEXT,
    tokenization=Tokenization.WHITESPACE,
    index_filterable=False,
    index_searchable=True,
)
_CHUNK = (
    _exact("document"),
    _exact("source"),
    _exact("text"),  # the access rule and the content hash, as one word
    _exact("language"),
    _exact("tenant"),
    _exact("audience"),
    _exact("labels", DataType.TEXT_ARRAY),
    _exact("status"),
    _exact("source_type"),
    _exact("place"),
    _moment("effective_from"),
    _moment("effective_until"),
    _yes_or_no("findable"),  # false: the same text is findable at another place
    _yes_or_no("first"),  # of its file and access rule
    _number("ordinal"),
    _number("spot"),
    _STEMS,
    _kept("passage"),
    _kept("terms"),
    _kept("access"),
    _kept("content"),  # the content hash alone
    _kept("parts"),  # how many of the stems are of the body, the heading, the name and the folders
)
CHUNK_NAMES = tuple(item.name for item in _CHUNK)
_FILE = (
    _exact("source"),
    _number("spot"),
    _number("held"),
    _kept("source_name"),
    _kept("path"),
    _kept("data"),
)
_FACT = (_exact("kind"), _number("spot"), _kept("stamp"), _kept("data"))
_PROPERTIES = {"Chunks": _CHUNK, "Files": _FILE, "Facts": _FACT}


def _traits(found: Any) -> tuple[object, ...]:
    """What of a stored property decides how it is searched in."""
    return found.data_type, found.tokenization, found.index_filterable, found.index_searchable


def _made(item: Property) -> tuple[object, ...]:
    """The same of a property that this module makes: the server sets what is left open."""
    words = item.dataType in (DataType.TEXT, DataType.TEXT_ARRAY)
    tokenization = item.tokenization or (Tokenization.WORD if words else None)
    filterable = item.indexFilterable is not False
    return item.dataType, tokenization, filterable, words and item.indexSearchable is not False


def _vectors() -> Any:
    return Configure.Vectors.self_provided(
        vector_index_config=Configure.VectorIndex.hnsw(
            distance_metric=VectorDistances.DOT, quantizer=Configure.VectorIndex.Quantizer.none()
        )
    )


@dataclass(frozen=True, slots=True)
class Collections:
    """The three collections of one index, named `<prefix><shelf>Chunks` and so on."""

    client: WeaviateAsyncClient
    layout: Layout
    shelf: str

    @property
    def chunks(self) -> Collection:
        return self._used("Chunks")

    @property
    def files(self) -> Collection:
        return self._used("Files")

    @property
    def facts(self) -> Collection:
        return self._used("Facts")

    async def ensure(self) -> None:
        """Makes those that are missing."""
        for part in _PROPERTIES:
            if not await self.client.collections.exists(self._name(part)):
                await self._create(part)

    async def strange(self) -> str:
        """The first property that is not as this module makes it, as `COLLECTION.PROPERTY`; ""
        when all are. One that an earlier schema did not have is not strange."""
        for part, wanted in _PROPERTIES.items():
            known = await self._known(part)
            for item in wanted:
                if item.name in known and _traits(known[item.name]) != _made(item):
                    return f"{self._name(part)}.{item.name}"
        return ""

    async def complete(self) -> None:
        """Adds the properties that an earlier schema did not have."""
        for part, wanted in _PROPERTIES.items():
            known = await self._known(part)
            for item in wanted:
                if item.name not in known:
                    await self._used(part).config.add_property(item)

    async def _known(self, part: str) -> Mapping[str, Any]:
        config = await self._used(part).config.get()
        return {item.name: item for item in config.properties}

    async def renew(self, *parts: str) -> None:
        """Empties these, whatever they hold; vectors may have another dimension then."""
        for part in parts:
            await self.client.collections.delete(self._name(part))
            await self._create(part)

    async def drop(self) -> None:
        for part in _PROPERTIES:
            await self.client.collections.delete(self._name(part))

    def _used(self, part: str) -> Collection:
        level = ConsistencyLevel[self.layout.consistency.upper()]
        return self.client.collections.use(self._name(part)).with_consistency_level(level)

    def _name(self, part: str) -> str:
        return f"{self.layout.prefix}{self.shelf}{part}"

    async def _create(self, part: str) -> None:
        try:
            await self.client.collections.create(
                self._name(part),
                properties=list(_PROPERTIES[part]),
                inverted_index_config=Configure.inverted_index(
                    stopwords_preset=StopwordsPreset.NONE
                ),
                vector_config=_vectors()
                if part == "Chunks"
                else Configure.Vectors.self_provided(
                    vector_index_config=Configure.VectorIndex.flat()
                ),
                replication_config=Configure.replication(factor=self.layout.replicas),
                sharding_config=Configure.sharding(desired_count=self.layout.shards or None),
            )
        except UnexpectedStatusCodeError:
            if not await self.client.collections.exists(self._name(part)):
                raise  # else another replica was faster
