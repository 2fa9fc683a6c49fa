"""Zip containers looked at before any parser sees them: sizes, paths, and XML without entities."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any
from xml.parsers import expat

from bot.ingest.reader import ReadingLimits, Refused
from bot.ingest.report import Reason

_RATIO_FROM = 1024 * 1024  # bytes; a smaller member is no bomb whatever its ratio
_ENCRYPTED = 0x1  # general purpose bit flag, APPNOTE 4.4.4
_DEPTH = 2000  # nested elements; no office program writes as many


def opened(data: bytes, limits: ReadingLimits) -> zipfile.ZipFile:
    """The archive, its directory checked. Raises Refused."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError) as error:
        raise Refused(
            Reason.BROKEN, "not readable as a ZIP archive; save or export it again"
        ) from error
    members = archive.infolist()
    if len(members) > limits.members:
        detail = f"{len(members)} files inside, limit {limits.members}"
        raise Refused(Reason.OVER_LIMIT, detail)
    total = sum(member.file_size for member in members)
    if total > limits.unpacked_bytes:
        detail = f"{total} bytes unpacked, limit {limits.unpacked_bytes}"
        raise Refused(Reason.OVER_LIMIT, detail)
    return archive


def content(archive: zipfile.ZipFile, member: zipfile.ZipInfo, limits: ReadingLimits) -> bytes:
    """The bytes of one member, as many as its entry says and no more. Raises Refused."""
    if member.flag_bits & _ENCRYPTED:
        raise Refused(Reason.ENCRYPTED, "pack it without a password")
    packed = max(member.compress_size, 1)
    if member.file_size > _RATIO_FROM and member.file_size / packed > limits.ratio:
        raise Refused(Reason.UNSAFE, f"unpacks to over {limits.ratio} times its size")
    try:
        with archive.open(member) as stream:
            data = stream.read(member.file_size + 1)
    except (zipfile.BadZipFile, NotImplementedError, EOFError, OSError, ValueError) as error:
        raise Refused(Reason.BROKEN, "damaged inside the archive") from error
    except Exception as error:  # zlib.error and lzma.LZMAError have no common base
        raise Refused(Reason.BROKEN, "damaged inside the archive") from error
    if len(data) > member.file_size:
        raise Refused(Reason.UNSAFE, "unpacks to more than its directory says")
    return data


def office_parts(data: bytes, limits: ReadingLimits) -> dict[str, bytes]:
    """The XML parts of an Office document by name, none of which declares a document type.

    Entities can be declared in one only, so neither an outside file nor an expansion without end
    can be asked for. Raises Refused.
    """
    archive = opened(data, limits)
    found: dict[str, bytes] = {}
    for member in archive.infolist():
        if not member.filename.lower().endswith((".xml", ".rels")):
            continue
        found[member.filename] = content(archive, member, limits)
        refuse_entities(found[member.filename], member.filename)
    if "[Content_Types].xml" not in found:
        raise Refused(Reason.MISNAMED, "a ZIP archive, but no Office document")
    return found


def refuse_entities(xml: bytes, name: str) -> None:
    """Raises Refused for XML that declares a document type, is broken, or is nested without end."""
    parser = expat.ParserCreate()
    depth = 0

    def doctype(*_about: Any) -> None:
        raise Refused(Reason.UNSAFE, f"{name} declares a document type")

    def opens(*_element: Any) -> None:
        nonlocal depth
        depth += 1
        if depth > _DEPTH:
            raise Refused(Reason.UNSAFE, f"{name} is nested too deeply")

    def closes(_element: str) -> None:
        nonlocal depth
        depth -= 1

    parser.StartDoctypeDeclHandler = doctype
    parser.StartElementHandler = opens
    parser.EndElementHandler = closes
    try:
        parser.Parse(xml, True)
    except expat.ExpatError as error:
        raise Refused(Reason.BROKEN, f"{name} is not well-formed") from error


def safe_path(name: str) -> str:
    """A member's path, or empty when it leads out of the archive."""
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or (path.parts and ":" in path.parts[0]):
        return ""
    return "/".join(path.parts)


def files(archive: zipfile.ZipFile) -> Iterator[zipfile.ZipInfo]:
    return (member for member in archive.infolist() if not member.is_dir())
