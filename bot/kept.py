"""Documents that people handed in: files and notes, kept in the data folder with their readers.

    uploads/contents/<sha256>   what was handed in, byte for byte, once for equal contents
    uploads/documents/<id>.json what is known of it: name, readers, author, state

The index can always be made again from here. A document that waits for confirmation is kept, and
no source offers it.
"""

from __future__ import annotations

import json
import os
import secrets
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from bot.errors import SourceError, StorageError
from graph.model import EVERYBODY, Access, SourceType

FOLDER = "uploads"
NAMES: Mapping[SourceType, str] = {SourceType.UPLOAD: "uploads", SourceType.MANUAL: "notes"}
"""The sources of kept documents, by what they are."""

_LONGEST_NAME = 120  # characters of a file's name


@dataclass(frozen=True, slots=True)
class Kept:
    """One document. `audience` "" is the default of the settings; `origin` links to where it was
    said, `place` is the only place that may read it."""

    id: str
    kind: SourceType
    name: str
    content: str  # sha256
    size: int
    by: str
    added_at: datetime
    title: str = ""
    audience: str = ""
    labels: tuple[str, ...] = (EVERYBODY,)
    tenant: str = ""
    expires: datetime | None = None
    place: str = ""
    origin: str = ""
    draft: bool = False

    @property
    def path(self) -> str:
        """Inside its source."""
        return f"{self.id}/{self.name}"

    def access(self, default: Access) -> Access:
        """Who may read it at most, whatever its own text says."""
        return replace(
            default,
            tenant=self.tenant or default.tenant,
            audience=self.audience or default.audience,
            labels=frozenset(self.labels),
            effective_until=self.expires,
            source_type=self.kind,
            place=self.place,
        )


class KeptDocuments:
    """Each method is one step that happens wholly or not at all. All raise StorageError."""

    def __init__(self, home: Path) -> None:
        self._documents = home / FOLDER / "documents"
        self._contents = home / FOLDER / "contents"

    def all(self, kind: SourceType | None = None) -> list[Kept]:
        """Oldest first."""
        with _told(self._documents):
            files = sorted(self._documents.glob("*.json"))
            found = [_from_json(file.read_text(encoding="utf-8")) for file in files]
        wanted = [item for item in found if kind in (None, item.kind)]
        return sorted(wanted, key=lambda item: (item.added_at, item.id))

    def get(self, name: str) -> Kept:
        """Raises SourceError when there is no document with this id."""
        for item in self.all():
            if item.id == name:
                return item
        raise SourceError(f"There is no kept document {name!r}.", "`belay documents` lists them.")

    def holding(self, data: bytes) -> Kept | None:
        """The document with exactly this content."""
        content = sha256(data).hexdigest()
        return next((item for item in self.all() if item.content == content), None)

    def data(self, kept: Kept) -> bytes:
        with _told(self._contents):
            return (self._contents / kept.content).read_bytes()

    def add(self, kind: SourceType, name: str, data: bytes, by: str, **about: Any) -> Kept:
        """Keeps `data`; `about` are further fields of Kept."""
        content = self._store(data)
        kept = Kept(
            secrets.token_hex(5), kind, file_name(name), content, len(data), by,
            datetime.now(UTC), **about,
        )  # fmt: skip
        self._save(kept)
        return kept

    def replace(self, name: str, file: str, data: bytes) -> Kept:
        """Another content under the same id, for the same readers. Raises SourceError."""
        before = self.get(name)
        content = self._store(data)
        kept = replace(before, name=file_name(file), content=content, size=len(data))
        self._save(kept)
        self._sweep(before.content)
        return kept

    def publish(self, name: str) -> Kept:
        """Raises SourceError."""
        kept = replace(self.get(name), draft=False)
        self._save(kept)
        return kept

    def delete(self, name: str) -> Kept:
        """Raises SourceError."""
        kept = self.get(name)
        with _told(self._documents):
            (self._documents / f"{kept.id}.json").unlink(missing_ok=True)
        self._sweep(kept.content)
        return kept

    def _store(self, data: bytes) -> str:
        content = sha256(data).hexdigest()
        with _told(self._contents):
            if not (self._contents / content).exists():
                _write(self._contents / content, data)
        return content

    def _save(self, kept: Kept) -> None:
        plain = {**asdict(kept), "added_at": kept.added_at.isoformat()}
        plain["expires"] = kept.expires.isoformat() if kept.expires else None
        with _told(self._documents):
            text = json.dumps(plain, ensure_ascii=False, indent=1)
            _write(self._documents / f"{kept.id}.json", text.encode())

    def _sweep(self, content: str) -> None:
        """Drops a content that no document has any more."""
        if all(item.content != content for item in self.all()):
            with _told(self._contents):
                (self._contents / content).unlink(missing_ok=True)


def file_name(name: str) -> str:
    """The last part of a name that somebody else gave, fit for a path."""
    last = unicodedata.normalize("NFC", name).replace("\\", "/").rstrip("/").rpartition("/")[2]
    clean = "".join(letter for letter in last if letter.isprintable()).strip(". ")
    stem, dot, suffix = clean.rpartition(".")
    room = _LONGEST_NAME - len(suffix) - 1
    return (f"{stem[:room]}{dot}{suffix}" if dot else clean[:_LONGEST_NAME]) or "document.md"


def _from_json(text: str) -> Kept:
    plain: dict[str, Any] = json.loads(text)
    expires = plain["expires"]
    return Kept(
        **{
            **plain,
            "kind": SourceType(plain["kind"]),
            "labels": tuple(plain["labels"]),
            "added_at": datetime.fromisoformat(plain["added_at"]),
            "expires": datetime.fromisoformat(expires) if expires else None,
        }
    )


def _write(file: Path, data: bytes) -> None:
    """The whole file or nothing, also when the power fails."""
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    try:
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        unfinished.replace(file)
    except BaseException:
        with suppress(OSError):
            unfinished.unlink()
        raise


@contextmanager
def _told(place: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = getattr(error, "strerror", None) or "a file in it is damaged"
        raise StorageError(
            f"The documents in {place} cannot be read or written: {reason}.",
            "Check the space and the permissions of the data folder.",
        ) from error
