"""Values of the domain as objects of Weaviate, and back."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any
from uuid import UUID, uuid5
from zlib import crc32

import numpy as np
from weaviate.classes.data import DataObject

from adapters.stored_text import (
    access_from_json,
    access_to_json,
    moment_from_text,
    passage_from_json,
    passage_to_json,
)
from bot.ports import Chunk, FileRecord, FileState, SourceRecord, Stored, SyncState
from graph.model import Access, Document, Passage, SourceType, Status
from graph.ports import Candidate
from graph.terms import Fields, TermCounts

Properties = Mapping[str, Any]
SPOTS = 2**32
"""Every object has a spot in this range, by which pages of a listing are told apart."""

_NAMES = UUID("5b0d1c5e-7f0e-4f0b-9a55-5f8f8a3c2d11")  # of the ids of Belay's objects
# Weaviate keeps dates as nanoseconds in 64 bits: what lies outside of these years is for ever.
_EARLIEST, _LATEST = datetime(1700, 1, 1, tzinfo=UTC), datetime(2250, 1, 1, tzinfo=UTC)


def exact(value: str) -> str:
    """A value that filters compare: in quotes, because the server cuts spaces off and would not
    find an empty one."""
    return json.dumps(value, ensure_ascii=False)


def document_key(document: Document) -> str:
    return json.dumps(list(document), ensure_ascii=False)


def document_of(key: str) -> Document:
    source, path = json.loads(key)
    return source, path


def moment(value: datetime | None, *, absent: datetime = _EARLIEST) -> datetime:
    """A date that the server can keep, in UTC."""
    return min(max((value or absent).astimezone(UTC), _EARLIEST), _LATEST)


def object_id(*parts: str) -> UUID:
    return uuid5(_NAMES, json.dumps(parts, ensure_ascii=False))


def spot(identity: UUID) -> int:
    return crc32(identity.bytes)


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """A chunk as it lies in its collection. Its id covers all that it holds, so that a chunk that
    changed is another object, and one that did not is never written twice."""

    id: UUID
    text: str
    properties: Properties
    vector: list[float]

    def to_object(self, *, findable: bool) -> DataObject[Any, None]:
        properties = {**self.properties, "findable": findable}
        return DataObject(properties=properties, uuid=self.id, vector=self.vector)


def chunk_rows(source: str, path: str, chunks: Iterable[Chunk]) -> list[ChunkRow]:
    """Each text of the file once, where it stands first."""
    distinct: dict[str, Chunk] = {}
    for chunk in chunks:
        distinct.setdefault(_text(chunk), chunk)
    rows, accesses = [], set()
    for ordinal, (text, chunk) in enumerate(distinct.items()):
        first = chunk.access not in accesses
        accesses.add(chunk.access)
        rows.append(_chunk_row((source, path), ordinal, text, chunk, first))
    return rows


def _chunk_row(document: Document, ordinal: int, text: str, chunk: Chunk, first: bool) -> ChunkRow:
    vector = np.asarray(chunk.vector, dtype="<f4")
    passage, terms = passage_to_json(chunk.passage), chunk.terms.to_bytes()
    stems = stems_of(chunk.fields)
    digest = blake2b(digest_size=16)
    for part in (passage.encode(), terms, stems.encode(), vector.tobytes(), bytes([first])):
        digest.update(part)
    identity = object_id("chunk", *document, str(ordinal), text, digest.hexdigest())
    properties = {
        "document": document_key(document),
        "source": exact(document[0]),
        "text": text,
        "language": chunk.passage.language,
        **_access_properties(chunk),
        "first": first,
        "ordinal": ordinal,
        "spot": spot(identity),
        "stems": stems,
        "passage": passage,
        "terms": b64encode(terms).decode(),
        "access": access_to_json(chunk.access),
        "content": chunk.content_hash,
        "parts": " ".join(str(len(field)) for field in _parts(chunk.fields)),
    }
    return ChunkRow(identity, text, properties, vector.tolist())


def _access_properties(chunk: Chunk) -> Properties:
    access = chunk.access
    return {
        "tenant": exact(access.tenant),
        "audience": exact(access.audience),
        "labels": [exact(label) for label in sorted(access.labels)],
        "status": exact(access.status),
        "source_type": exact(access.source_type),
        "place": exact(access.place),
        "effective_from": moment(access.effective_from),
        "effective_until": moment(access.effective_until, absent=_LATEST),
    }


def access_of(properties: Properties) -> Access:
    """As the filters have it: without its dates."""
    return Access(
        tenant=json.loads(properties["tenant"]),
        audience=json.loads(properties["audience"]),
        labels=frozenset(map(json.loads, properties["labels"])),
        status=Status(json.loads(properties["status"])),
        source_type=SourceType(json.loads(properties["source_type"])),
        place=json.loads(properties["place"]),
    )


def _text(chunk: Chunk) -> str:
    return text_key(access_to_json(chunk.access), chunk.content_hash)


def text_key(access: str, content: str) -> str:
    """One word for a text under its access rule."""
    return blake2b(f"{access} {content}".encode(), digest_size=16).hexdigest()


def _parts(fields: Fields) -> tuple[tuple[str, ...], ...]:
    return fields.body, fields.heading, fields.name, fields.folders


def fields_of(stems: str, parts: str) -> Fields:
    """The fields that `stems` were put together from; `parts` are their lengths."""
    words = stems.split()
    body, heading, name, _ = map(int, parts.split())
    head, named = body + 2 * heading, body + 2 * heading + 2 * name
    return Fields(
        body=tuple(words[:body]),
        heading=tuple(words[body : body + heading]),
        name=tuple(words[head : head + name]),
        folders=tuple(words[named:]),
    )


def stems_of(fields: Fields) -> str:
    return " ".join(_stems(fields))


def _stems(fields: Fields) -> Iterable[str]:
    """Heading and name count double, as in graph/terms.py; the server only picks candidates."""
    return (*fields.body, *fields.heading * 2, *fields.name * 2, *fields.folders)


def stored(properties: Properties, vector: Sequence[float]) -> Stored:
    """Of an object that has all properties of the present schema."""
    chunk = Chunk(
        passage=passage(properties, ()),
        access=access_from_json(properties["access"]),
        fields=fields_of(properties["stems"] or "", properties["parts"]),
        terms=TermCounts.from_bytes(b64decode(properties["terms"])),
        vector=np.asarray(vector, dtype=np.float32),
        content_hash=properties["content"],
    )
    return Stored(chunk, bool(properties["findable"]))


def candidate(properties: Properties, vector: Sequence[float], also_at: Iterable[str]) -> Candidate:
    return Candidate(
        passage(properties, also_at),
        np.asarray(vector, dtype=np.float32),
        TermCounts.from_bytes(b64decode(properties["terms"])),
    )


def passage(properties: Properties, also_at: Iterable[str]) -> Passage:
    places = json.dumps(sorted(also_at), ensure_ascii=False)
    return passage_from_json(str(properties["passage"]), places)


def record_to_json(record: FileRecord | SourceRecord) -> str:
    return json.dumps(asdict(record), ensure_ascii=False, default=datetime.isoformat)


def file_from_json(text: str) -> FileRecord:
    value = json.loads(text)
    value["state"] = FileState(value["state"])
    value["updated_at"] = moment_from_text(value["updated_at"])
    return FileRecord(**value)


def source_from_json(text: str) -> SourceRecord:
    value = json.loads(text)
    value["kind"] = SourceType(value["kind"])
    value["state"] = SyncState(value["state"])
    value["last_run"] = moment_from_text(value["last_run"])
    return SourceRecord(**value)
