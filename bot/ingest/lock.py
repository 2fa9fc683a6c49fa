"""One sync of a data folder at a time. The lock dies with its process."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from bot.errors import StorageError, SyncBusy
from bot.ports import SourceRecord, SyncState

_PATIENCE = 0.2  # seconds: `is_held` of another process takes the lock for an instant
_NO_FOLDER = "Check that the data folder exists, is writable and has space left."


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Holds the lock file at `path`. Raises SyncBusy, naming who holds it, or StorageError."""
    lock = _lock(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=_PATIENCE)
    except Timeout as error:
        raise SyncBusy(
            f"Another process is syncing this data folder ({_holder(path)}).",
            "Wait until it is done; a lock of a process that died is taken over by itself.",
        ) from error
    except OSError as error:
        raise StorageError(f"The lock file {path} cannot be written.", _NO_FOLDER) from error
    try:
        _sign(path)
        yield
    finally:
        _note(path).unlink(missing_ok=True)
        lock.release()


def is_held(path: Path) -> bool:
    """True while a living process syncs."""
    if not path.exists():
        return False
    lock = _lock(path)
    try:
        lock.acquire()
    except (Timeout, OSError):
        return True
    lock.release()
    return False


def as_seen(record: SourceRecord, path: Path) -> SourceRecord:
    """The record with its true state: a sync that says it runs while nobody holds the lock was
    interrupted."""
    if record.state is SyncState.RUNNING and not is_held(path):
        return replace(record, state=SyncState.INTERRUPTED)
    return record


def _lock(path: Path) -> FileLock:
    return FileLock(path, timeout=0, thread_local=False)


def _note(path: Path) -> Path:
    return path.with_name(path.name + ".holder")


def _sign(path: Path) -> None:
    note = {"pid": os.getpid(), "since": datetime.now(UTC).isoformat(timespec="seconds")}
    try:
        _note(path).write_text(json.dumps(note), encoding="utf-8")
    except OSError as error:
        raise StorageError(f"{_note(path)} cannot be written.", _NO_FOLDER) from error


def _holder(path: Path) -> str:
    try:
        note = json.loads(_note(path).read_text(encoding="utf-8"))
        return f"process {int(note['pid'])}, since {datetime.fromisoformat(note['since'])}"
    except (OSError, ValueError, KeyError, TypeError):
        return "process unknown"
