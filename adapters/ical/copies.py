"""The last good copy of each calendar, on disk: what is answered from while its server is down."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import tempfile
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path

from adapters.ical.reading import Text

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Copies:
    """One file a schedule, readable by its owner only. A copy from another address is none.

    Copies are a convenience: a disk that is full or read-only is logged and nothing else.
    """

    folder: Path

    def load(self, schedule: str, identity: str) -> Text | None:
        try:
            kept = json.loads(self._path(schedule).read_text(encoding="utf-8"))
            if kept["origin"] != _digest(identity):
                return None
            return Text(kept["calendar"], datetime.fromisoformat(kept["read_at"]))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            _log.warning("the copy of a calendar is damaged: %s", type(error).__name__)
            return None

    def save(self, schedule: str, identity: str, text: Text) -> None:
        kept = {
            "origin": _digest(identity),
            "read_at": text.read_at.isoformat(),
            "calendar": text.calendar,
        }
        try:
            self._replace(self._path(schedule), json.dumps(kept, ensure_ascii=False))
        except OSError as error:
            _log.warning("a calendar cannot be kept: %s", error.strerror)

    def _path(self, schedule: str) -> Path:
        return self.folder / f"{_digest(schedule)}.json"

    def _replace(self, path: Path, content: str) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=self.folder, suffix=".new")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(content)
            Path(name).replace(path)
        except OSError:
            with contextlib.suppress(OSError):
                Path(name).unlink()
            raise


def _digest(words: str) -> str:
    return sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:32]
