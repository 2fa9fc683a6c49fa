"""`belay oncall`: who is on call, from the same calendars and in the same words as in the chat."""

from __future__ import annotations

from datetime import UTC

from bot.chat import Incoming, Kind, Person, Place
from bot.errors import SettingsError
from bot.oncall import make_watch
from bot.oncall_answer import answer, argument
from bot.settings import Settings
from bot.terminal import Terminal
from bot.texts import language_of
from bot.when import parse

_HERE, _SOMEBODY = Place("console", "terminal"), Person("console", "terminal")


async def oncall(settings: Settings, terminal: Terminal, team: str, at: str) -> None:
    watch = make_watch(settings.oncall, settings.home)
    if watch is None:
        raise SettingsError(
            "no on-call schedule is set up",
            "add [[oncall.schedules]] to belay.toml; see docs/oncall.md",
        )
    now = watch.now()
    if at:
        found = parse(f"at {at}", now, UTC)
        if found.when is None or found.rest:
            raise SettingsError(
                f"--at {at!r} is no time",
                'write 18:00, "tomorrow 9:00", "2026-12-01 18:00" or "in 2h"',
            )
    words = f"{team} at {at}" if at else team
    event = Incoming(Kind.QUESTION, _HERE, _SOMEBODY, "", text=words, at=now)
    reply = await answer(watch, argument(words, watch), event, language_of(words, ""))
    terminal.show(reply.markdown)
