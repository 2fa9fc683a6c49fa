"""Values of the domain as text that any store can keep, and back."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from functools import lru_cache

from graph.model import Access, Passage, SourceType, Status

_KEPT = 2048  # passages, about 10 KB each


def access_to_json(access: Access) -> str:
    """The same text for equal values, so that each is stored once."""
    value = {
        "tenant": access.tenant,
        "audience": access.audience,
        "labels": sorted(access.labels),
        "status": access.status,
        "effective_from": moment_to_text(access.effective_from),
        "effective_until": moment_to_text(access.effective_until),
        "source_type": access.source_type,
    }
    if access.place:  # left out else, as in files that were written before there were places
        value["place"] = access.place
    return json.dumps(value, ensure_ascii=False)


def access_from_json(text: str) -> Access:
    value = json.loads(text)
    return Access(
        tenant=value["tenant"],
        audience=value["audience"],
        labels=frozenset(value["labels"]),
        status=Status(value["status"]),
        effective_from=moment_from_text(value["effective_from"]),
        effective_until=moment_from_text(value["effective_until"]),
        source_type=SourceType(value["source_type"]),
        place=value.get("place", ""),
    )


def passage_to_json(passage: Passage) -> str:
    """All of a passage but `also_at`, which the index knows better."""
    value = asdict(passage)
    del value["also_at"]
    if not passage.behind:
        del value["behind"]
    return json.dumps(value, ensure_ascii=False, default=datetime.isoformat)


@lru_cache(maxsize=_KEPT)
def passage_from_json(text: str, places: str) -> Passage:
    """The passage of `text`; `places` is a JSON list. Passages asked for often are remembered."""
    value = json.loads(text)
    for name in ("updated_at", "effective_from", "effective_until"):
        value[name] = moment_from_text(value[name])
    value["source_type"] = SourceType(value["source_type"])
    value["status"] = Status(value["status"])
    value["heading"] = tuple(value["heading"])
    value["lines"] = tuple(value["lines"])
    value["behind"] = tuple((source, path) for source, path in value.get("behind", ()))
    return Passage(**value, also_at=tuple(json.loads(places)))


def moment_to_text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).isoformat()


def moment_from_text(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
