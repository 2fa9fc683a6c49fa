"""How well the local classifier tells factual, analytical and synthesis questions apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bot.errors import SourceError
from bot.evals.metrics import share
from bot.evals.rows import load_objects
from graph.model import QueryType
from graph.ports import Embedder
from graph.query_type import QueryTypeModel
from graph.text import spaced

_BATCH = 64


async def types_report(path: Path, words: Embedder) -> dict[str, Any]:
    """Accuracy overall, by type and by language. Raises SourceError, EmbedderError."""
    rows = [item for _, item in load_objects(path)]
    known = {item.value for item in QueryType}
    for item in rows:
        if item.get("type") not in known:
            raise SourceError(
                f"{path}: {item.get('id', item['question'])!r} has type {item.get('type')!r}",
                f"use one of {', '.join(sorted(known))}",
            )
    decided = await _decide([item["question"] for item in rows], words)
    hits: dict[str, list[bool]] = defaultdict(list)
    for item, found in zip(rows, decided, strict=True):
        hit = item["type"] == found
        hits["all"].append(hit)
        hits[f"type:{item['type']}"].append(hit)
        hits[f"lang:{item.get('lang', '?')}"].append(hit)
    return {
        "n": len(rows),
        "accuracy": share(hits["all"]),
        "by_type": _named(hits, "type:"),
        "by_lang": _named(hits, "lang:"),
    }


async def _decide(questions: Sequence[str], words: Embedder) -> list[str]:
    model = QueryTypeModel.shipped()
    found: list[str] = []
    for start in range(0, len(questions), _BATCH):
        batch = questions[start : start + _BATCH]
        vectors = await words.embed_questions([spaced(question) for question in batch])
        found += [
            model.decide(question, vector).query_type.value
            for question, vector in zip(batch, vectors, strict=True)
        ]
    return found


def _named(hits: dict[str, list[bool]], prefix: str) -> dict[str, Any]:
    return {
        name.removeprefix(prefix): {"n": len(flags), "accuracy": share(flags)}
        for name, flags in sorted(hits.items())
        if name.startswith(prefix)
    }
