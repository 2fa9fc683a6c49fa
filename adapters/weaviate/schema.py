"""The collections of an index: chunks, what is known of files, and what is known of the index.

The analyzer's stems stand in one text that the server splits at white space and nowhere else: it
stems nothing, drops no words, and keeps identifiers whole. What is compared exactly has the
tokenizer `field`. Vectors come with the objects and are compared by their inner product, as they
have unit length; the server keeps them as they are, without quantization.

The tenant of an access rule is a property like the others, and every search filters by it. Whole
indexes are parted by a prefix of their collections, or by Weaviate's own tenants: collections.py.
"""

from __future__ import annotations

from typing import Any

from weaviate.classes.config import (
    Configure,
    DataType,
    Property,
    StopwordsPreset,
    Tokenization,
    VectorDistances,
)
from weaviate.collections.classes.types import WeaviateProperties
from weaviate.collections.collection import CollectionAsync

from adapters.weaviate.options import Layout

SCHEMA = 3
"""Kept with the index's own facts; grows with every change of the collections.

2: `access`, `content` and `parts`, for copies of the index; see adapters/weaviate/earlier.py.
3: generations, which an earlier version does not follow; see adapters/weaviate/generations.py."""

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
PROPERTIES = {"Chunks": _CHUNK, "Files": _FILE, "Facts": _FACT}


def traits(found: Any) -> tuple[object, ...]:
    """What of a stored property decides how it is searched in."""
    return found.data_type, found.tokenization, found.index_filterable, found.index_searchable


def made(item: Property) -> tuple[object, ...]:
    """The same of a property that this module makes: the server sets what is left open."""
    words = item.dataType in (DataType.TEXT, DataType.TEXT_ARRAY)
    tokenization = item.tokenization or (Tokenization.WORD if words else None)
    filterable = item.indexFilterable is not False
    return item.dataType, tokenization, filterable, words and item.indexSearchable is not False


def config(part: str, layout: Layout) -> dict[str, Any]:
    """How the collection of a part is made."""
    return {
        "properties": list(PROPERTIES[part]),
        "inverted_index_config": Configure.inverted_index(stopwords_preset=StopwordsPreset.NONE),
        "vector_config": _vectors() if part == "Chunks" else _no_vectors(),
        "replication_config": Configure.replication(factor=layout.replicas),
        **_shards(layout),
    }


def _shards(layout: Layout) -> dict[str, Any]:
    """A tenant is one shard: the server takes no number of shards beside tenants."""
    if not layout.tenant:
        return {"sharding_config": Configure.sharding(desired_count=layout.shards or None)}
    tenants = Configure.multi_tenancy(auto_tenant_creation=False, auto_tenant_activation=True)
    return {"multi_tenancy_config": tenants}


def _no_vectors() -> Any:
    return Configure.Vectors.self_provided(vector_index_config=Configure.VectorIndex.flat())


def _vectors() -> Any:
    return Configure.Vectors.self_provided(
        vector_index_config=Configure.VectorIndex.hnsw(
            distance_metric=VectorDistances.DOT, quantizer=Configure.VectorIndex.Quantizer.none()
        )
    )
