"""Events of an earlier version, which wait in an inbox while the bot is updated."""

from __future__ import annotations

import json

from adapters.event_json import event_from_json, event_to_json
from bot.chat import Incoming, Kind, Person, Place, Quote


def test_an_event_of_a_version_without_files_is_read() -> None:
    place, person = Place("slack", "C1", "channel"), Person("slack", "U1")
    asked = Incoming(Kind.QUESTION, place, person, "1.5", "why?", quote=Quote("disk full", "Bot"))
    plain = json.loads(event_to_json(asked))
    del plain["files"], plain["nearby"], plain["quote"]["message_id"]
    assert event_from_json(json.dumps(plain)) == asked
