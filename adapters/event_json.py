"""Events and replies as JSON: how every inbox that outlives its process keeps them."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import datetime
from typing import Any

from bot.attachments import Attachment
from bot.chat import Button, Incoming, Kind, Person, Place, Quote, Reply


def event_to_json(event: Incoming) -> str:
    return json.dumps(asdict(event), default=datetime.isoformat)


def event_from_json(text: str) -> Incoming:
    value: dict[str, Any] = json.loads(text)
    value["kind"] = Kind(value["kind"])
    value["place"] = Place(**value["place"])
    value["person"] = Person(**value["person"])
    value["at"] = datetime.fromisoformat(value["at"])
    value["quote"] = Quote(**value["quote"]) if value["quote"] else None
    value["attachments"] = tuple(value["attachments"])
    for name in ("files", "nearby"):  # events of earlier versions have none
        value[name] = tuple(Attachment(**file) for file in value.get(name, ()))
    value["context"] = tuple(Quote(**quote) for quote in value.get("context", ()))
    return Incoming(**value)


def reply_to_json(reply: Reply) -> str:
    """What is shown of a reply; the Answer it was made from is not kept."""
    buttons = [[button.label, button.value] for button in reply.buttons]
    mentions = [asdict(person) for person in reply.mentions]
    return json.dumps([reply.markdown, buttons, reply.private, mentions])


def reply_from_json(text: str) -> Reply:
    markdown, buttons, private, *later = json.loads(text)
    return Reply(
        markdown,
        tuple(Button(*pair) for pair in buttons),
        mentions=tuple(Person(**person) for person in (later[0] if later else ())),
        private=private,
    )
