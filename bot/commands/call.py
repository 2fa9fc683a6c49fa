"""What a command is, and what it is called with."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from bot.access import Access, Role, Roll
from bot.asking import Readable, Way
from bot.chat import Incoming, Reply
from bot.commands.spoken import Rule, alone, spelled
from bot.curating import Curating
from bot.minutes import Minutes
from bot.oncall import Watch
from bot.ports import Sources
from bot.recall import Recall
from bot.source_types import Types
from bot.threads import FollowedThreads
from graph.model import Language, Scope

_COMMAND = re.compile(r"\s*/([^\W\d_]\w{0,31})(?:@\w+)?(?:\s+(.*))?\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Ask:
    """A command's result that is a question: it is answered like any other, in this way, from
    sources of these types."""

    text: str
    way: Way = Way.ASK
    types: Types = field(default_factory=Types)


@dataclass(frozen=True, slots=True)
class Desk:
    """What commands work with. `roots` names the platforms whose commands are sub-words of one
    slash command, and that command's name; `readable` tells which documents are open today."""

    access: Access
    roll: Roll
    recall: Recall
    sources: Sources
    readable: Readable
    threads: FollowedThreads | None = None
    roots: Mapping[str, str] = field(default_factory=dict)
    watch: Watch | None = None
    minutes: Minutes | None = None
    curating: Curating | None = None

    def spelled(self, platform: str, command: str) -> str:
        """A command as people of this platform type it: `/help`, `/belay help`."""
        return spelled(self.roots, platform, command)


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
    progress: Callable[[str], Awaitable[None]] | None = None  # shows what is being done

    @property
    def private(self) -> bool:
        return self.event.place.kind == "private"

    @property
    def confidential(self) -> bool:
        """Nobody but the caller sees the call and its reply."""
        return self.private or self.event.private

    def spelled(self, command: str) -> str:
        return self.desk.spelled(self.event.place.platform, command)


@dataclass(frozen=True, slots=True)
class Command:
    """A row of the table. `role` is the lowest that may use it."""

    name: str
    run: Callable[[Call], Awaitable[Reply | Ask]]
    describe: Mapping[Language, str]
    role: Role = Role.MEMBER
    aliases: tuple[str, ...] = ()
    private_only: bool = False
    group_only: bool = False
    listed: bool = True  # in help and in the platform's menu
    changes: bool = False  # its reply is delivered like an answer: a retry must not run it again
    postable: bool = False  # a private reply may be posted to the channel
    usage: Mapping[Language, str] = field(default_factory=dict)  # what follows the name
    spoken: Rule = alone  # whether it is meant by its name without a slash
    slash_only: tuple[str, ...] = ()  # aliases that are too common to be spoken

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *self.aliases)

    def offered(self, role: Role, *, private: bool) -> bool:
        """Whether help and menus show it to a person of `role`, in private or in a group."""
        elsewhere = self.group_only if private else self.private_only
        return self.listed and not elsewhere and may_use(self, role)


_RANK = (Role.STRANGER, Role.MEMBER, Role.ADMIN)


def may_use(command: Command, role: Role) -> bool:
    return _RANK.index(role) >= _RANK.index(command.role)


def parse(text: str) -> tuple[str, str] | None:
    """The command word and what follows it; None for a text that is no command.

    A path such as `/etc/hosts` is none.
    """
    match = _COMMAND.fullmatch(text)
    return (match[1].casefold(), (match[2] or "").strip()) if match else None
