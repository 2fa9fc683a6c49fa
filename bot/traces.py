"""The traces of the last questions, for `belay why`: one JSON line each, secrets masked."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import Collection
from pathlib import Path
from typing import Any, BinaryIO

from bot.ingest.secrets import mask
from graph.trace import Trace

_log = logging.getLogger(__name__)

KEPT = 200
_SLACK = 50  # lines over KEPT before the file is cut back


class TraceLog:
    """A bounded file in the home folder. A trace that cannot be written is not worth an answer."""

    def __init__(self, home: Path) -> None:
        self._path = home / "why.jsonl"

    async def add(self, trace: Trace) -> None:
        await asyncio.to_thread(self._add, json.dumps(_masked(trace.to_json())))

    async def all(self) -> list[dict[str, Any]]:
        """What is kept, oldest first."""
        return await asyncio.to_thread(self._rows)

    async def last(self) -> dict[str, Any] | None:
        rows = await asyncio.to_thread(self._rows)
        return rows[-1] if rows else None

    async def by_id(self, question_id: str) -> dict[str, Any] | None:
        rows = await asyncio.to_thread(self._rows)
        return next((row for row in reversed(rows) if row["question_id"] == question_id), None)

    async def forget(self, question_ids: Collection[str]) -> None:
        """Drops the traces of these questions."""
        await asyncio.to_thread(self._forget, frozenset(question_ids))

    def _forget(self, question_ids: frozenset[str]) -> None:
        rows = self._rows()
        left = [row for row in rows if row["question_id"] not in question_ids]
        if len(left) < len(rows):
            text = "".join(f"{json.dumps(row)}\n" for row in left)
            try:
                self._path.write_text(text, encoding="utf-8")
            except OSError as error:
                _log.error("traces of forgotten questions are still there: %s", error)

    def _add(self, line: str) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab+") as file:
                file.write(f"{_cut(file)}{line}\n".encode())
            lines = self._lines()
            if len(lines) > KEPT + _SLACK:
                self._path.write_text("\n".join(lines[-KEPT:]) + "\n", encoding="utf-8")
        except OSError:
            return

    def _lines(self) -> list[str]:
        """What a crash of the machine left is no text, maybe; the lines beside it are."""
        return self._path.read_text(encoding="utf-8", errors="replace").splitlines()

    def _rows(self) -> list[dict[str, Any]]:
        try:
            lines = self._lines()
        except OSError:
            return []
        rows: list[dict[str, Any]] = []
        for line in lines:
            try:
                row = json.loads(line)
            except ValueError:  # a line that a killed process left half written
                continue
            if isinstance(row, dict) and "question_id" in row:
                rows.append(row)
        return rows


def _cut(file: BinaryIO) -> str:
    """What ends a line that was left half written, so that the next one stands alone."""
    if not file.seek(0, os.SEEK_END):
        return ""
    file.seek(-1, os.SEEK_END)
    return "" if file.read(1) == b"\n" else "\n"


def _masked(value: Any) -> Any:
    """`value` with the secrets of each text masked; inside JSON, escapes would hide them."""
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, dict):
        return {key: _masked(item) for key, item in value.items()}
    return [_masked(item) for item in value] if isinstance(value, list | tuple) else value
