"""The bot's own page in a messenger: what it has read, how fresh that is, how to ask.

Whoever was not let in sees only how to ask for access.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bot.access import Access, Role
from bot.chat import Incoming, Kind, Person, Place
from bot.commands.table import menu
from bot.ports import SourceRecord, Sources
from bot.texts import language_of, text
from graph.model import Language, Scope

_SHOWN = 25  # sources


@dataclass(frozen=True, slots=True)
class Section:
    """Lines under a heading. In both, stretches between backticks are to be typed as they are;
    everything else is plain text."""

    heading: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Page:
    greeting: str
    sections: tuple[Section, ...] = ()


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A first message that a person can send with one tap."""

    title: str
    message: str


Pages = Callable[[Person, str], Awaitable[Page]]
"""The page for a person whose interface has this language; raises StorageError."""


class Home:
    """`command` is how a platform spells commands: "/belay " before their names, or "/"."""

    def __init__(
        self,
        access: Access,
        sources: Sources,
        command: str = "/",
    ) -> None:
        self._access, self._sources, self._command = access, sources, command

    async def __call__(self, person: Person, language: str) -> Page:
        spoken = language_of("", language)
        role = await self._access.role(person)
        visit = Incoming(Kind.ADDED, Place(person.platform, person.id), person, "")
        scope = await self._access.scope(visit)
        if role is Role.STRANGER or scope is None:
            return Page(await self._how_to_get_in(visit, spoken))
        commands = [
            f"`{self._command}{name}` {description}"
            for name, description in menu(spoken, private=True, admin=role is Role.ADMIN)
        ]
        read = Section(text("home_sources", spoken), await self._read(scope, spoken))
        asked = Section(text("home_commands", spoken), tuple(commands))
        return Page(text("help_private", spoken), (read, asked))

    async def _how_to_get_in(self, visit: Incoming, language: Language) -> str:
        code = await self._access.code(visit)
        return text("ask_access", language, code=code.text, allow=f"{self._command}allow")

    async def _read(self, scope: Scope, language: Language) -> tuple[str, ...]:
        records = await self._sources(scope)
        if not records:
            return (text("sources_none", language),)
        return tuple(_line(record, language) for record in records[:_SHOWN])


def suggestions(language: str) -> tuple[Suggestion, ...]:
    """What to offer in an empty conversation."""
    spoken = language_of("", language)
    return tuple(
        Suggestion(text(f"suggest_{name}", spoken), name) for name in ("sources", "oncall", "help")
    )


def _line(record: SourceRecord, language: Language) -> str:
    last = record.last_run
    date = f"{last:%Y-%m-%d %H:%M} UTC" if last else text("never", language)
    state = text(f"sync_{record.state}", language)
    name = record.name.replace("`", "'")
    shown = {"name": name, "files": record.files, "s": "s" * (record.files != 1)}
    return text("home_source", language, **shown, date=date, state=state)
