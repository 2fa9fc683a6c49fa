"""Archives: the documents inside, each on its own path; exports of Confluence page by page."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime

from adapters.documents import confluence_export
from adapters.documents.package import content, files, opened, safe_path
from bot.ingest.formats import ARCHIVES, SUFFIXES, suffix_of
from bot.ingest.reader import Member, ReadingLimits, Refused
from bot.ingest.report import Reason

_UTF8_NAME = 0x800  # general purpose bit flag, APPNOTE 4.4.4
_TYPE, _LINK = 0o170000, 0o120000  # of the mode that Unix systems write, inode(7)
_CYRILLIC = range(0x0400, 0x0500)
_LOOKED_AT = 20  # pages read to tell an export from a folder of web pages


def unpack(data: bytes, limits: ReadingLimits) -> Iterator[Member]:
    """The documents in the order of the archive; what is none, with the reason. Raises Refused."""
    archive = opened(data, limits)
    entities = [m for m in files(archive) if m.filename.rpartition("/")[2] == "entities.xml"]
    if entities:
        yield from confluence_export.pages(content(archive, entities[0], limits))
        yield from _attachments(archive)
        return
    export = _is_export(archive, limits)
    for member in files(archive):
        yield _member(archive, member, limits, export=export)


def _attachments(archive: zipfile.ZipFile) -> Iterator[Member]:
    for member in files(archive):
        path = safe_path(member.filename)
        if path.startswith("attachments/"):
            yield Member(path, reason=Reason.ATTACHMENT)


def _is_export(archive: zipfile.ZipFile, limits: ReadingLimits) -> bool:
    pages = [m for m in files(archive) if m.filename.lower().endswith(".html")][:_LOOKED_AT]
    for page in pages:
        try:
            if confluence_export.is_page(content(archive, page, limits)):
                return True
        except Refused:
            continue
    return False


def _member(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, limits: ReadingLimits, *, export: bool
) -> Member:
    name = _name(member)
    path = safe_path(name)
    if not path:
        return Member(name.replace("..", "_").lstrip("/\\"), reason=Reason.UNSAFE,
                      detail="its path leads out of the archive")  # fmt: skip
    if (member.external_attr >> 16) & _TYPE == _LINK:
        return Member(path, reason=Reason.UNSUPPORTED, detail="symbolic link")
    reason, detail = _refused(path, export=export)
    if reason is not None:
        return Member(path, reason=reason, detail=detail)
    try:
        data = content(archive, member, limits)
    except Refused as error:
        return Member(path, reason=error.reason, detail=error.detail)
    page = confluence_export.page(data) if export else None
    if page is not None:
        return Member(page, data, ".confluence", _date(member))
    return Member(path, data, updated_at=_date(member))


def _refused(path: str, *, export: bool) -> tuple[Reason | None, str]:
    """Why a member is not even unpacked, by its path."""
    suffix = suffix_of(path)
    if any(part.startswith(".") or part == "__MACOSX" for part in path.split("/")):
        return Reason.HIDDEN, ""
    if export and (suffix != ".html" or path.endswith("index.html")):
        return Reason.ATTACHMENT, ""
    if suffix in ARCHIVES:
        return Reason.UNSAFE, "an archive in an archive; unpack it"
    if suffix and suffix not in SUFFIXES:
        return Reason.UNSUPPORTED, suffix
    return None, ""


def _name(member: zipfile.ZipInfo) -> str:
    """A name in UTF-8 or in code page 866 or 1251, not marked as such."""
    if member.flag_bits & _UTF8_NAME or member.filename.isascii():
        return member.filename
    raw = member.filename.encode("cp437", "replace")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        names = [raw.decode(page, "replace") for page in ("cp866", "cp1251")]
    return next((name for name in names if _is_cyrillic(name)), member.filename)


def _is_cyrillic(name: str) -> bool:
    """Whether its letters are Cyrillic or ASCII, and none is drawn as a frame."""
    return all(ch.isascii() or ord(ch) in _CYRILLIC for ch in name)


def _date(member: zipfile.ZipInfo) -> datetime | None:
    try:
        return datetime(*member.date_time, tzinfo=UTC)
    except ValueError:
        return None
