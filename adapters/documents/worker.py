"""What runs in the process that reads documents: limits first, then one document after another."""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import IO, Any

from bot.ingest.parse import ConversionFailed, Converted
from bot.ingest.reader import Member, ReadingLimits, Refused
from bot.ingest.report import Reason

_OPEN_FILES = 64
OUT_OF_MEMORY = 3  # exit code
_DEPTH = 3000  # Python frames; deeper documents are refused, and the C stack holds that many


def main() -> None:
    """Serves requests on standard input until it is closed."""
    requests = sys.stdin.buffer
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints is no reply
    limits = ReadingLimits(**json.loads(requests.readline()))
    confine(limits)
    while line := requests.readline():
        head = json.loads(line)
        try:
            _serve(head["suffix"], requests.read(head["size"]), limits, replies)
        except MemoryError:
            os._exit(OUT_OF_MEMORY)


def confine(limits: ReadingLimits) -> None:
    """No file can be written, no core is dumped, memory has an end."""
    sys.setrecursionlimit(_DEPTH)
    size = limits.megabytes * 1024 * 1024
    for kind, limit in (
        (resource.RLIMIT_AS, size),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, _OPEN_FILES),
    ):
        with suppress(ValueError, OSError):  # macOS refuses some of them
            resource.setrlimit(kind, (limit, limit))


def _serve(suffix: str, data: bytes, limits: ReadingLimits, replies: IO[bytes]) -> None:
    """Answers one request. A process that ran out of memory is of no use any more, and ends."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    until = int(used.ru_utime + used.ru_stime + limits.seconds) + 1
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (until, hard))
    try:
        for head, body in _frames(suffix, data, limits):
            _send(replies, {**head, "size": len(body)}, body)
        _send(replies, {"end": True})
    except Refused as error:
        _send(replies, {"refused": error.reason, "detail": error.detail})
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    except RecursionError:
        _send(replies, {"refused": Reason.BROKEN, "detail": "nested too deeply"})
    except Exception:  # a parser raises whatever it trips over
        detail = "not readable; save or export it again"
        _send(replies, {"refused": Reason.BROKEN, "detail": detail})


def _frames(
    suffix: str, data: bytes, limits: ReadingLimits
) -> Iterator[tuple[dict[str, Any], bytes]]:
    if suffix == ".zip":
        for member in unpacked(data, limits):
            yield _about(member), member.data
    else:
        yield {}, _encoded(converted(suffix, data, limits))


def converted(suffix: str, data: bytes, limits: ReadingLimits) -> Converted:
    """The document as Markdown. Raises Refused, and whatever its parser raises."""
    if suffix == ".pdf":
        from adapters.documents.pdf import convert as convert_pdf  # noqa: PLC0415 - 0.2 s

        return convert_pdf(data, limits)
    if suffix in (".docx", ".docm"):
        from adapters.documents.docx import convert as convert_docx  # noqa: PLC0415 - 0.2 s

        return convert_docx(data, limits)
    if suffix in (".xlsx", ".xlsm"):
        from adapters.documents.xlsx import convert as convert_xlsx  # noqa: PLC0415 - 0.2 s

        return convert_xlsx(data, limits)
    from adapters.documents import create  # noqa: PLC0415 - the package imports no parser

    try:
        return create(limits)[suffix](data.decode())
    except ConversionFailed as error:
        raise Refused(Reason.BROKEN, str(error)) from error


def unpacked(data: bytes, limits: ReadingLimits) -> Iterator[Member]:
    from adapters.documents.archive import unpack  # noqa: PLC0415 - 0.1 s

    return unpack(data, limits)


def _about(member: Member) -> dict[str, Any]:
    return {
        "path": member.path,
        "format": member.format,
        "updated_at": member.updated_at.isoformat() if member.updated_at else "",
        "reason": member.reason,
        "detail": member.detail,
    }


def _encoded(document: Converted) -> bytes:
    return json.dumps(
        {
            "markdown": document.markdown,
            "title": document.title,
            "issues": [[issue.line, issue.message] for issue in document.issues],
            "anchors": document.anchors,
            "breaks": document.breaks,
        }
    ).encode()


def _send(replies: IO[bytes], head: dict[str, Any], body: bytes = b"") -> None:
    replies.write(json.dumps(head).encode() + b"\n" + body)
    replies.flush()
