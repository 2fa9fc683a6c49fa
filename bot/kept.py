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
from collections.abc import Iterator, Mapping, Sequence
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
_LONGEST_SUFFIX = 12
_MOMENTS = ("added_at", "expires", "draft_until")


@dataclass(frozen=True, slots=True)
class Kept:
    """One document. `audience` "" is the default of the settings; `origin` links to where it was
    said, `place` is the only place that may read it.

    A draft from a chat is kept until `draft_until`; published, it takes the place of the document
    `replaces`. Drafts of one message share a `batch`, the id of the first.
    """

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
    draft_until: datetime | None = None
    replaces: str = ""
    batch: str = ""

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
            found = list(_read(sorted(self._documents.glob("*.json"))))
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
        return same(data, self.all())

    def data(self, kept: Kept) -> bytes:
        with _told(self._contents):
            return (self._contents / kept.content).read_bytes()

    def add(self, kind: SourceType, name: str, data: bytes, by: str, **about: Any) -> Kept:
        """Keeps `data`; `about` are further fields of Kept."""
        content = self.keep(data)
        kept = Kept(
            secrets.token_hex(5), kind, file_name(name), content, len(data), by,
            datetime.now(UTC), **about,
        )  # fmt: skip
        try:
            self.put(kept)
        except BaseException:
            with suppress(StorageError):
                self.sweep(content)
            raise
        return kept

    def keep(self, data: bytes) -> str:
        """The content's name. A record that names it must follow."""
        content = sha256(data).hexdigest()
        with _told(self._contents):
            if not (self._contents / content).exists():
                _write(self._contents / content, data)
        return content

    def put(self, kept: Kept) -> None:
        """Its record is this one from now on. The content must be kept already."""
        plain = {**asdict(kept), **{name: _written(getattr(kept, name)) for name in _MOMENTS}}
        with _told(self._documents):
            text = json.dumps(plain, ensure_ascii=False, indent=1)
            _write(self._documents / f"{kept.id}.json", text.encode())

    def copy(self, home: Path) -> int:
        """Copies all of them into the data folder `home`, each checked; what is deleted meanwhile
        is left out. Returns how many."""
        other = KeptDocuments(home)
        copied = 0
        for kept in self.all():
            try:
                data = self.data(kept)
            except StorageError:
                if (self._documents / f"{kept.id}.json").exists():
                    raise
                continue
            if other.keep(data) != kept.content:
                raise StorageError(
                    f"{self._contents / kept.content} is damaged: it is not what was handed in.",
                    f"Take {kept.name} out with `belay documents delete {kept.id}`.",
                )
            other.put(kept)
            copied += 1
        return copied

    def drop(self, kept: Kept) -> None:
        """The record goes, the content stays until it is swept."""
        with _told(self._documents):
            (self._documents / f"{kept.id}.json").unlink(missing_ok=True)

    def delete(self, kept: Kept) -> None:
        """With its content, unless another document has the same."""
        self.drop(kept)
        self.sweep(kept.content)

    def sweep(self, content: str) -> None:
        """Drops a content that no document has any more."""
        if all(item.content != content for item in self.all()):
            with _told(self._contents):
                (self._contents / content).unlink(missing_ok=True)


def same(data: bytes, among: Sequence[Kept]) -> Kept | None:
    """The one of them with exactly this content."""
    content = sha256(data).hexdigest()
    return next((item for item in among if item.content == content), None)


def file_name(name: str) -> str:
    """The last part of a name that somebody else gave, fit for a path."""
    last = unicodedata.normalize("NFC", name).replace("\\", "/").rstrip("/").rpartition("/")[2]
    clean = "".join(letter for letter in last if letter.isprintable()).strip(". ")
    stem, dot, suffix = clean.rpartition(".")
    if not dot or len(suffix) > _LONGEST_SUFFIX:
        return clean[:_LONGEST_NAME].rstrip(". ") or "document.md"
    return f"{stem[: _LONGEST_NAME - len(suffix) - 1]}.{suffix}"


def _read(files: Sequence[Path]) -> Iterator[Kept]:
    for file in files:
        with suppress(FileNotFoundError):  # another process has just deleted it
            text = file.read_text(encoding="utf-8", errors="replace")
            try:
                yield _from_json(text)
            except (ValueError, KeyError, TypeError) as error:
                raise StorageError(
                    f"{file} is damaged: it does not tell what was handed in.",
                    "Move it away, or restore it from a backup; the others are found then.",
                ) from error


def _from_json(text: str) -> Kept:
    plain: dict[str, Any] = json.loads(text)
    return Kept(
        **{
            **plain,
            "kind": SourceType(plain["kind"]),
            "labels": tuple(plain["labels"]),
            **{name: _moment(plain.get(name)) for name in _MOMENTS},
        }
    )


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _written(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None


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
    except OSError as error:
        raise StorageError(
            f"The documents in {place} cannot be read or written: {error.strerror or error}.",
            "Check the space and the permissions of the data folder.",
        ) from error
