"""Chunks that schema 1 stored: what they lack is worked out from what they have.

Nothing is written for it: a chunk has the new properties once its file changes. What was worked
out is checked against the words and the key that are stored, so nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from adapters.stored_text import access_to_json
from adapters.weaviate.rows import access_of, fields_of, passage, stems_of, text_key
from bot.errors import IndexIncompatible
from bot.ingest.document import content_hash
from graph.model import Passage
from graph.text import tokens


def completed(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    """The properties with `access`, `content` and `parts`.

    The server keeps dates of a bounded range only; the passage has those that were meant. Raises
    IndexIncompatible when they cannot be worked out.
    """
    found = passage(properties, ())
    access = access_to_json(
        replace(
            access_of(properties),
            effective_from=found.effective_from,
            effective_until=found.effective_until,
        )
    )
    content, parts = content_hash(found), _parts(found, properties["stems"] or "")
    if not parts or text_key(access, content) != properties["text"]:
        raise IndexIncompatible(
            f"{found.source}/{found.document} was stored by an earlier version of Belay, in a way "
            "that cannot be copied.",
            "Run `belay sync --rebuild` to store it as this version does.",
        )
    return {**properties, "access": access, "content": content, "parts": parts}


def _parts(found: Passage, stems: str) -> str:
    """The lengths of the fields: all but the heading's are known from the passage. "" when the
    stems are of other words."""
    place = PurePosixPath(found.document)
    body, name = len(tokens(found.text)), len(tokens(place.stem))
    folders = len(tokens(" ".join(place.parent.parts)))
    heading = (len(stems.split()) - body - 2 * name - folders) // 2
    parts = f"{body} {heading} {name} {folders}"
    return parts if heading >= 0 and stems_of(fields_of(stems, parts)) == stems else ""
