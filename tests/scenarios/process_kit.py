"""`belay run` as a process of its own, answering people on a loopback Telegram.

async with TelegramServer() as server:
    ann = server.user(7, "Ann")
    bot = await installed(tmp_path, server, [ann])
    with bot.running() as process:
        question = server.says(ann, ann, QUESTION)
        await server.until(lambda: server.sent(ann))
        assert await terminated(process) == 0
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from adapters.sqlite.roll import SqliteRoll
from bot.access import Grant
from bot.roll import ROLL_FILE
from bot.settings import Settings
from bot.stores import stores
from tests.servers.telegram_server import TelegramServer, User

ROOT = Path(__file__).parents[2]
BELAY = Path(sys.executable).with_name("belay")
PATIENCE = 120.0  # seconds, until a test has failed
QUESTION, FACT = "which port does billing listen on?", "8081"
DOCUMENT = "# Billing\n\nBilling listens on port 8081. It is owned by the payments team.\n"

Process = subprocess.Popen[bytes]


@dataclass(frozen=True)
class Installed:
    """One document in a folder, people who may ask, and the settings of `belay run`."""

    folder: Path
    variables: Mapping[str, str]

    @property
    def home(self) -> Path:
        return Path(self.variables["BELAY_HOME"])

    @property
    def document(self) -> Path:
        return self.folder / "docs" / "billing.md"

    @property
    def log(self) -> str:
        """What the processes wrote so far."""
        return (self.folder / "log").read_text(encoding="utf-8")

    @contextmanager
    def running(self, *words: str, **variables: str) -> Iterator[Process]:
        """`belay run` with more words and settings, killed with -9 at the end of the block unless
        it has ended before."""
        with (self.folder / "log").open("ab") as log:
            process = subprocess.Popen(
                [str(BELAY), "run", *words],
                cwd=self.folder,
                env={**os.environ, **self.variables, **variables},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    async def inbox_holds(self, questions: int) -> None:
        """Returns when so many are open in the inbox, which the process shares with us."""
        async with (
            stores(Settings(home=self.home), ["telegram"]) as kept,
            asyncio.timeout(PATIENCE),
        ):
            while await kept.inbox.waiting() != questions:
                await asyncio.sleep(0.1)  # a file has nothing to wait on


async def installed(folder: Path, server: TelegramServer, people: Sequence[User]) -> Installed:
    """`belay run` indexes the document when it starts."""
    variables = {
        "BELAY_HOME": str(folder / "home"),
        "BELAY_WEB": "off",
        "BELAY_TELEGRAM_TOKEN": server.token,
        "BELAY_TELEGRAM_API_URL": server.url,
        "BELAY_HTTP": "127.0.0.1:0",
        "BELAY_DESK__LEASE": "2",
        "BELAY_DESK__POLL": "0.1",
        "PYTHONPATH": str(ROOT),
    }
    bot = Installed(folder, variables)
    bot.document.parent.mkdir()
    bot.document.write_text(DOCUMENT, encoding="utf-8")
    (folder / "belay.toml").write_text('[[sources]]\npath = "docs"\n', encoding="utf-8")
    roll = SqliteRoll(bot.home / ROLL_FILE)
    for person in people:
        await roll.save(Grant(f"telegram:{person.id}", at=datetime.now(UTC)))
    return bot


async def ended(process: Process) -> int:
    """The exit code, once the process has ended by itself."""
    return await asyncio.to_thread(process.wait, PATIENCE)


async def terminated(process: Process) -> int:
    """The exit code after SIGTERM."""
    process.send_signal(signal.SIGTERM)
    return await ended(process)


def free_port() -> int:
    """For a webhook, whose address must be known before the process runs that listens there."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])
