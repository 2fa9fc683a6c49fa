"""What the index keeps of each file of a source."""

from __future__ import annotations

from collections.abc import Iterable

from bot.ingest.document import Document
from bot.ingest.fingerprint import Fingerprint
from bot.ports import FileRecord, FileState

_KEPT_DETAIL = 300  # characters of the problems kept with a file's record


def count_indexed(records: Iterable[FileRecord]) -> int:
    return sum(record.state is FileState.INDEXED for record in records)


def file_record(doc: Document, fingerprint: Fingerprint) -> FileRecord:
    """That a document is indexed, with what its owner should know of it."""
    notes = [f"read as {doc.encoding}"] if doc.encoding else []
    notes += [
        f"line {problem.line}: {problem.message}" if problem.line else problem.message
        for problem in doc.problems
    ]
    return FileRecord(
        path=doc.file.path,
        fingerprint=str(fingerprint),
        state=FileState.INDEXED,
        detail="; ".join(notes)[:_KEPT_DETAIL],
        chunks=len(doc.passages),
        title=doc.title,
        updated_at=doc.passages[0].updated_at,
    )
