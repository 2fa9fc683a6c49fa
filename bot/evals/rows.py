"""Labelled questions, one JSON object a line."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.errors import SourceError


@dataclass(frozen=True, slots=True)
class Part:
    """One fact that the answer needs: any of `documents` holds it."""

    documents: frozenset[str]
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A question with what a right answer needs. Paths are relative to the documents' folder."""

    id: str
    question: str
    lang: str
    category: str
    answerable: bool
    coverage: str  # "full", "half" or "none": how much of the question the documents answer
    parts: tuple[Part, ...]
    type: str = ""
    gate: str = ""  # "must_answer" or "must_abstain": a release may not get these wrong

    @property
    def full(self) -> bool:
        return self.answerable and self.coverage != "half"


def load_rows(path: Path) -> list[Row]:
    """Raises SourceError naming the file and line of what cannot be read."""
    return [_row(item, path, line) for line, item in load_objects(path)]


def load_objects(path: Path) -> list[tuple[int, dict[str, Any]]]:
    """(line number, object) for each line of a JSONL file. Raises SourceError."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"cannot read {path}: {error}", "name a JSONL file in UTF-8") from None
    found: list[tuple[int, dict[str, Any]]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            found.append((number, _object(line, path, number)))
    if not found:
        raise SourceError(f"{path} holds no questions", "one JSON object a line is expected")
    return found


def _object(line: str, path: Path, number: int) -> dict[str, Any]:
    try:
        item = json.loads(line)
    except ValueError as error:
        raise SourceError(f"{path}:{number}: {error}", "one JSON object a line") from None
    if not isinstance(item, dict) or not isinstance(item.get("question"), str):
        raise SourceError(f'{path}:{number}: no "question"', 'every line needs a "question"')
    return item


def _row(item: dict[str, Any], path: Path, line: int) -> Row:
    answerable = bool(item.get("answerable", bool(item.get("gold_docs"))))
    return Row(
        id=str(item.get("id", f"{path.stem}:{line}")),
        question=item["question"],
        lang=str(item.get("lang", "")),
        category=str(item.get("category", "")),
        answerable=answerable,
        coverage=str(item.get("coverage") or ("full" if answerable else "none")),
        parts=_parts(item),
        type=str(item.get("type") or ""),
        gate=str(item.get("gate") or ""),
    )


def _parts(item: dict[str, Any]) -> tuple[Part, ...]:
    parts = item.get("gold_parts") or []
    if parts:
        return tuple(
            Part(frozenset((part["doc"], *part.get("alt_docs", ()))), part.get("quote", ""))
            for part in parts
        )
    documents = item.get("gold_docs") or []
    alternatives = item.get("alt_docs") or []
    return tuple(Part(frozenset((path, *alternatives))) for path in documents)
