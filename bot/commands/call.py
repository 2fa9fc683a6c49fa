"""What a command is, and what it is called with."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from bot.access import Access, Role, Roll
from bot.chat import Incoming, Reply
from bot.ports import SourceRecord
from bot.recall import Recall
from graph.model import Language, Scope

_COMMAND = re.compile(r"\s*/([^\W\d_]\w{0,31})(?:@\w+)?(?:\s+(.*))?\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Ask:
    """A command's result that is a question: it goes to the machine like any other."""

    text: str


Sources = Callable[[Scope], Awaitable[Sequence[SourceRecord]]]
"""The sources that a scope may read something of, with the number of files that it may read."""


@dataclass(frozen=True, slots=True)
class Desk:
    """What commands work with."""

    access: Access
    roll: Roll
    recall: Recall
    sources: Sources


@dataclass(frozen=True, slots=True)
class Call:
    """One use of a command. `scope` is None where nobody may ask; `role` counts here and now:
    whoever may ask in this place is at least a member."""

    event: Incoming
    argument: str
    language: Language
    role: Role
    scope: Scope | None
    desk: Desk

    @property
    def private(self) -> bool:
        return self.event.place.kind == "private"


@dataclass(frozen=True, slots=True)
class Command:
    """A row of the table. `role` is the lowest that may use it."""

    name: str
    run: Callable[[Call], Awaitable[Reply | Ask]]
    describe: Mapping[Language, str]
    role: Role = Role.MEMBER
    aliases: tuple[str, ...] = ()
    private_only: bool = False
    listed: bool = True  # in help and in the platform's menu
    changes: bool = False  # its reply is delivered like an answer: a retry must not run it again
    usage: str = ""  # what follows the name


_RANK = (Role.STRANGER, Role.MEMBER, Role.ADMIN)


def may_use(command: Command, role: Role) -> bool:
    return _RANK.index(role) >= _RANK.index(command.role)


def parse(text: str) -> tuple[str, str] | None:
    """The command word and what follows it; None for a text that is no command.

    A path such as `/etc/hosts` is none.
    """
    match = _COMMAND.fullmatch(text)
    return (match[1].casefold(), (match[2] or "").strip()) if match else None
