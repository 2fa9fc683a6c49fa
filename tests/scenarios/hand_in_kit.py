"""A team whose curators hand files in: the real bot on loopback Telegram and Slack.

Anna is admin, Boris a curator, Dora may ask, and Eve was never let in.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from adapters.memory.audit import MemoryAudit
from adapters.memory.conversation import MemoryConversation
from adapters.memory.files import MemoryFiles
from adapters.memory.roll import MemoryRoll
from bot.access import Access
from bot.attachments import Attachment, Download
from bot.auditor import Auditor
from bot.chat import Incoming, Kind, Person, Place
from bot.curating import Curating
from bot.kept import Kept, KeptDocuments
from bot.ports import Conversation, KnowledgeIndex, Linking
from graph.machine import Machine
from graph.ports import Ports
from tests.adapters import slack_kit, telegram_kit
from tests.bot.answering_kit import ANN, BORIS, BOSS, GROUP, OTHER_GROUP, Bot, value
from tests.scenarios.kit import NOW, Files, Team
from tests.servers.slack_server import Sent as SlackSent
from tests.servers.telegram_server import Sent as TelegramSent

DOCS: Files = {"pool.md": "# Pool\n\nRestart the pool of pgbouncer with pgbctl.\n"}
PORTER = (
    "# Night porter\n\n## Tallinn\n\nThe night porter in Tallinn answers at 112-233.\n\n"
    "## Riga\n\nThe night porter in Riga answers at 445-566.\n"
)
OTHER = PORTER.replace("112-233", "778-899")
ASKED = "which number does the night porter in Tallinn answer at?"


@dataclass
class Way:
    """To the platform that does not exist yet when the bot is made."""

    platform: Any = None
    now: datetime = NOW
    fetched: list[str] = field(default_factory=list)

    def link(self, place: Place, message_id: str) -> str:
        known = isinstance(self.platform, Linking)
        return self.platform.link(place, message_id) if known else ""

    async def fetch(self, name: str, file: Attachment, limit: int) -> Download:
        self.fetched.append(file.name)
        got: Download = await self.platform.download(file, limit)
        return got


def curators_bot(
    team: Team,
    way: Way,
    admin: Person,
    curator: Person,
    sessions: KnowledgeIndex | None = None,
    **more: Any,
) -> tuple[Bot, MemoryAudit]:
    own, roll, audit = team.app.embedder, MemoryRoll(), MemoryAudit(now=lambda: way.now)
    gate = Access(roll, frozenset({admin.key}), now=lambda: way.now)
    curating = Curating(
        team.app,
        gate,
        curators=frozenset({curator.key}),
        auditor=Auditor(audit),
        link=way.link,
        fetch=way.fetch,
        roots={"slack": "belay"},
        now=lambda: way.now,
    )
    machine = Machine(Ports(team.app.index, own, own, sessions=sessions), now=lambda: way.now)
    options = {"curating": curating, "roots": {"slack": "belay"}, **more}
    return Bot(machine, options, now=way.now, roll=roll, admins=frozenset({admin.key})), audit


@dataclass
class Memory:
    """The bot without a platform around it."""

    bot: Bot
    way: Way
    files: MemoryFiles
    audit: MemoryAudit


async def in_memory(team: Team, **more: Any) -> Memory:
    files = MemoryFiles()
    way = Way(files)
    bot, audit = curators_bot(team, way, BOSS, ANN, **more)
    for who in (ANN, BORIS, GROUP, OTHER_GROUP):
        await bot.let_in(who)
    return Memory(bot, way, files, audit)


@asynccontextmanager
async def on_telegram(team: Team, **more: Any) -> AsyncIterator[tuple[telegram_kit.At, Way]]:
    way = Way()
    anna, boris = Person("telegram", "7"), Person("telegram", "8")
    bot, _ = curators_bot(team, way, anna, boris)
    for number in ("8", "9"):
        await bot.let_in(Person("telegram", number))
    await bot.let_in(Place("telegram", "-1001234", "group"))
    async with telegram_kit.office(answering=bot.handler, **more) as at:
        way.platform = at.telegram
        at.server.user(9, "Dora")
        at.server.user(10, "Eve")
        yield at, way


@asynccontextmanager
async def on_slack(team: Team, **more: Any) -> AsyncIterator[tuple[slack_kit.At, Way]]:
    way = Way()
    ann, boris = Person("slack", "U0ANN"), Person("slack", "U0BORIS")
    bot, _ = curators_bot(team, way, ann, boris)
    for name in ("U0BORIS", "U0DORA"):
        await bot.let_in(Person("slack", name))
    await bot.let_in(Place("slack", "C0OPS", "channel"))

    async def handle(event: Incoming, conversation: Conversation) -> None:
        await bot.handler(event, conversation, 1, late=False)

    async with slack_kit.office(handle, reads=bot.access.admits, **more) as at:
        way.platform = at.slack
        at.server.user("U0DORA", "Dora")
        at.server.user("U0EVE", "Eve")
        yield at, way


def kept(team: Team) -> list[Kept]:
    return KeptDocuments(team.home).all()


def plain(sent: TelegramSent | SlackSent) -> str:
    """What a reader sees, without marks."""
    shown = sent.shown if isinstance(sent, SlackSent) else sent.text
    return re.sub(r"[\\*`]", "", shown)


def press(sent: TelegramSent | SlackSent, letter: str) -> str:
    name = "value" if isinstance(sent, SlackSent) else "callback_data"
    values: list[str] = [button[name] for button in sent.buttons]
    return next(value for value in values if value.startswith(f"{letter}:"))


async def sends(
    at: Memory,
    who: Person,
    *files: Attachment,
    text: str = "add this",
    place: Place = GROUP,
    language: str = "en",
) -> MemoryConversation:
    return await at.bot.handled(message(at, who, *files, text=text, place=place, language=language))


def message(
    at: Memory,
    who: Person,
    *files: Attachment,
    text: str = "add this",
    place: Place = GROUP,
    language: str = "en",
) -> Incoming:
    at.bot.messages += 1
    return Incoming(
        Kind.QUESTION,
        place,
        who,
        f"f{at.bot.messages}",
        text=text,
        at=at.bot.now,
        attachments=tuple(file.name for file in files),
        files=files,
        language=language,
    )


async def number(at: Memory, place: Place = GROUP) -> str:
    """Which number of the porter the bot tells to those in a place."""
    shown = (await at.bot.says(BORIS, ASKED, place)).shown
    return next((found for found in ("112-233", "778-899") if found in shown), "")


async def published(at: Memory, text: str = PORTER, name: str = "porter.md") -> MemoryConversation:
    seen = await sends(at, ANN, at.files.put(name, text.encode()))
    await at.bot.presses(ANN, value(seen, "k"), GROUP)
    return seen
