"""Telegram's own reading of message text, by TDLib: the code that the real Bot API server runs.

visible, entities = parsed("*bold* text\\\\.", "MarkdownV2")
detected("/ask@belay_bot see https://x.example")  # what clients make clickable by themselves
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import tdjson

Entity = dict[str, Any]

TEXT_UNITS = 4096  # UTF-16 units of a message, after parsing
_MODES = {
    "html": {"@type": "textParseModeHTML"},
    "markdownv2": {"@type": "textParseModeMarkdown", "version": 2},
    "markdown": {"@type": "textParseModeMarkdown", "version": 1},
}
_TYPES = {
    "BlockQuote": "blockquote",
    "ExpandableBlockQuote": "expandable_blockquote",
    "BotCommand": "bot_command",
    "EmailAddress": "email",
    "MentionName": "text_mention",
    "PhoneNumber": "phone_number",
    "PreCode": "pre",
    "TextUrl": "text_link",
    "BankCardNumber": "bank_card",
    "CustomEmoji": "custom_emoji",
    "MediaTimestamp": "",  # known to clients only
}
_KNOWN = frozenset(
    [
        "mention",
        "hashtag",
        "cashtag",
        "bot_command",
        "url",
        "email",
        "phone_number",
        "bold",
        "italic",
        "underline",
        "strikethrough",
        "spoiler",
        "blockquote",
        "expandable_blockquote",
        "code",
        "pre",
        "text_link",
        "text_mention",
        "custom_emoji",
        "date_time",
    ]
)
_OPAQUE = frozenset({"code", "pre", "text_link", "text_mention"})  # nothing is detected inside


class Refused(Exception):
    """An answer with ok=false. `parameters` as in ResponseParameters."""

    def __init__(self, code: int, description: str, **parameters: int) -> None:
        super().__init__(description)
        self.code = code
        self.description = description
        self.parameters = parameters


def bad(description: str, **parameters: int) -> Refused:
    return Refused(400, f"Bad Request: {description}", **parameters)


def units(text: str) -> int:
    """Length in UTF-16 units, as Telegram counts."""
    return len(text.encode("utf-16-le")) // 2


def piece(text: str, entity: Mapping[str, Any]) -> str:
    """The part of the text that an entity covers."""
    raw = text.encode("utf-16-le")
    start = entity["offset"] * 2
    return raw[start : start + entity["length"] * 2].decode("utf-16-le")


def parsed(text: str, mode: str) -> tuple[str, list[Entity]]:
    """Raises Refused with Telegram's words when the markup is wrong."""
    if mode.lower() not in _MODES:
        raise bad("unsupported parse_mode")
    result = _execute("parseTextEntities", text=text, parse_mode=_MODES[mode.lower()])
    if result["@type"] == "error":
        raise bad(result["message"][0].lower() + result["message"][1:])
    return result["text"], _entities(result["entities"])


def detected(text: str) -> list[Entity]:
    """Mentions, commands, addresses and the like that Telegram finds in plain text."""
    return _entities(_execute("getTextEntities", text=text)["entities"])


def message_text(text: str, mode: str | None, given: Sequence[Entity]) -> tuple[str, list[Entity]]:
    """Text and entities as the message shows them: parsed, checked, trimmed, with detected ones.

    Raises Refused for broken markup, entities outside the text, empty and too long text.
    """
    entities = [dict(entity) for entity in given]
    if mode:
        text, entities = parsed(text, mode)
    else:
        _check(text, entities)
    text, entities = _trimmed(text, entities)
    if not text:
        raise bad("message text is empty")
    if units(text) > TEXT_UNITS:
        raise bad("message is too long")
    return text, sorted([*entities, *_found(text, entities)], key=_order)


def _order(entity: Entity) -> tuple[int, int]:
    return entity["offset"], -entity["length"]


def _found(text: str, entities: Sequence[Entity]) -> list[Entity]:
    taken = [(e["offset"], e["offset"] + e["length"]) for e in entities if e["type"] in _OPAQUE]
    return [
        found
        for found in detected(text)
        if not any(a < found["offset"] + found["length"] and found["offset"] < b for a, b in taken)
    ]


def _check(text: str, entities: Sequence[Entity]) -> None:
    size = units(text)
    for entity in entities:
        start, length = entity.get("offset", -1), entity.get("length", 0)
        if entity.get("type") not in _KNOWN:
            raise bad(f"can't parse MessageEntity: unsupported type {entity.get('type')!r}")
        if start < 0 or length <= 0 or start + length > size:
            raise bad("ENTITY_BOUNDS_INVALID")
        if entity["type"] == "text_link" and not entity.get("url"):
            raise bad("ENTITY_URL_INVALID")
        try:
            piece(text, entity)
        except UnicodeDecodeError:
            raise bad("ENTITY_BOUNDS_INVALID") from None
    _check_nesting(sorted(entities, key=_order))


def _check_nesting(entities: Sequence[Entity]) -> None:
    """Entities nest or are apart; code holds nothing. Telegram itself would cut them up."""
    for index, outer in enumerate(entities):
        end = outer["offset"] + outer["length"]
        for inner in entities[index + 1 :]:
            if inner["offset"] >= end:
                break
            crossing = inner["offset"] + inner["length"] > end
            if crossing or outer["type"] in ("code", "pre"):
                raise bad("ENTITIES_OVERLAP")
            if inner["type"] in ("code", "pre") and not outer["type"].endswith("blockquote"):
                raise bad("ENTITIES_OVERLAP")


def _trimmed(text: str, entities: Sequence[Entity]) -> tuple[str, list[Entity]]:
    """White space at the borders goes, and with it the parts of entities that covered it."""
    kept = text.strip()
    cut = units(text) - units(text.lstrip())
    size = units(kept)
    result = []
    for entity in entities:
        start = max(entity["offset"] - cut, 0)
        end = min(entity["offset"] + entity["length"] - cut, size)
        if end > start:
            result.append({**entity, "offset": start, "length": end - start})
    return kept, result


def _entities(items: Sequence[Mapping[str, Any]]) -> list[Entity]:
    return [entity for item in items if (entity := _entity(item))["type"]]


def _entity(item: Mapping[str, Any]) -> Entity:
    kind = item["type"]
    name = kind["@type"].removeprefix("textEntityType")
    entity = {
        "type": _TYPES.get(name, name.lower()),
        "offset": item["offset"],
        "length": item["length"],
    }
    if name == "TextUrl":
        entity["url"] = kind["url"]
    if name == "PreCode" and kind["language"]:
        entity["language"] = kind["language"]
    return entity


def _execute(name: str, **fields: Any) -> dict[str, Any]:
    answer = tdjson.td_execute(json.dumps({"@type": name, **fields}).encode())
    assert answer is not None
    result = json.loads(answer)
    assert isinstance(result, dict)
    return result


_execute("setLogVerbosityLevel", new_verbosity_level=0)
