"""Turns of conversations, and the scopes they were said in, as JSON."""

from __future__ import annotations

import json
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

from bot.sessions import SessionTurn
from graph.model import Scope, SourceType


def turn_json(turn: SessionTurn) -> str:
    """The whole turn but its session, which the log decides."""
    value = {item.name: getattr(turn, item.name) for item in fields(turn)}
    del value["session"]
    value |= {"at": turn.at.astimezone(UTC).isoformat(), "scope": scope_json(turn.scope)}
    return json.dumps(value)


def turn_of(text: str, session: str) -> SessionTurn:
    """The turn behind `turn_json`."""
    value = json.loads(text)
    value["at"] = datetime.fromisoformat(value["at"])
    value["scope"] = scope_of(value["scope"])
    value["behind"] = tuple((source, path) for source, path in value["behind"])
    return SessionTurn(**value, session=session)


def scope_json(scope: Scope) -> str:
    """What later decides whether the turn may be recalled; the private names are not kept."""
    value = {item.name: _plain(getattr(scope, item.name)) for item in fields(scope)}
    del value["private_names"]
    return json.dumps(value, ensure_ascii=False)


def scope_of(text: str) -> Scope:
    """The scope behind `scope_json`."""
    value = {name: _whole(item) for name, item in json.loads(text).items()}
    value["now"] = datetime.fromisoformat(value["now"])
    if value["source_types"] is not None:
        value["source_types"] = frozenset(map(SourceType, value["source_types"]))
    return Scope(**value)


def _plain(value: Any) -> Any:
    if isinstance(value, frozenset):
        return sorted(map(_plain, value))
    return value.astimezone(UTC).isoformat() if isinstance(value, datetime) else value


def _whole(value: Any) -> Any:
    return frozenset(map(_whole, value)) if isinstance(value, list) else value
