"""What makes a file the same file: its content and the rules it was read by, never its date.

The hash of the bytes tells at once that nothing changed. The hash of the text also holds when
only line breaks or the encoding changed, and then nothing is embedded either.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

from bot.ingest.options import SyncOptions
from bot.ingest.version import CHUNKER_VERSION
from bot.ports import SourceFile
from graph.model import Access

_SIZE = 12  # bytes of each hash
_SUPERSEDED = "superseded"


def digest(data: bytes) -> str:
    return blake2b(data, digest_size=_SIZE).hexdigest()


def content(file: SourceFile, data: bytes) -> str:
    """The hash of a file's `data`, and of what its source says beside it."""
    if file.access is None and not file.title and not file.uri:
        return digest(data)
    access = file.access or Access()
    beside = (
        access.tenant,
        access.audience,
        sorted(access.labels),
        access.effective_until,
        access.place,
        file.title,
        file.uri,
    )
    return digest(data + repr(beside).encode())


def rules(options: SyncOptions, access: Access) -> str:
    """The hash of everything but the file that decides what is stored for it."""
    parts = (
        CHUNKER_VERSION,
        access.tenant,
        access.audience,
        sorted(access.labels),
        access.status,
        access.effective_from,
        access.effective_until,
        access.source_type,
        _folders(options),
        options.levels,
        options.mask_secrets,
        options.chunking,
        options.reading.pages,
        options.reading.rows,
        *([options.links] if options.links else []),
    )
    return digest(repr(parts).encode())


def _folders(options: SyncOptions) -> list[tuple[object, ...]]:
    """In a form that is the same in every process; that of a set is not."""
    return [
        (rule.path, rule.source, rule.audience, sorted(rule.labels), rule.tenant)
        for rule in options.folders
    ]


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """`text` is empty for a file that was not decoded; `revision` is the source's name of the
    content, and empty where the file has to be read to know what it replaces."""

    data: str
    text: str
    rules: str
    superseded: bool = False
    revision: str = ""

    def __str__(self) -> str:
        mark = _SUPERSEDED if self.superseded else ""
        return ".".join((self.data, self.text, self.rules, mark, self.revision)).rstrip(".")

    @classmethod
    def parse(cls, value: str) -> Fingerprint:
        """The fingerprint of a record; one that matches no file when the form is unknown."""
        data, text, rule, mark, revision, *_ = [*value.split("."), "", "", "", "", ""]
        return cls(data, text, rule, mark == _SUPERSEDED, revision)
