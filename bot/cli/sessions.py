"""Earlier conversations on the command line: `belay sessions index`, `import` and `list`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from bot.app import Library, open_sessions, opened_library
from bot.cli.output import to_json
from bot.histories.load import load_history
from bot.session_runs import TASK, index_said, opened_log
from bot.sessions import SessionLog, SessionTurn
from bot.settings import Settings
from bot.sync_lead import sole_writer
from bot.terminal import Terminal


async def index(settings: Settings, terminal: Terminal) -> None:
    async with opened_library(settings) as library, opened_log(settings) as log:
        await _index(library, log, terminal)


async def load(settings: Settings, terminal: Terminal, files: Sequence[Path]) -> None:
    async with opened_library(settings) as library, opened_log(settings) as log:
        for path in files:
            loaded = await load_history(path, log, library.index, settings.access.tenant)
            terminal.plain(f"{path.name}: {loaded.sessions} sessions, {loaded.turns} turns")
        await _index(library, log, terminal)


async def _index(library: Library, log: SessionLog, terminal: Terminal) -> None:
    sessions = await open_sessions(library, library.settings.home)
    progress = terminal.progress()
    try:
        async with sole_writer(library.settings, TASK, sessions, server=library.server) as written:
            report = await index_said(library, log, written, progress=progress)
    finally:
        progress.end()
        await sessions.close()
    terminal.plain(
        f"earlier conversations: {report.known} passages, {report.embedded} new, "
        f"{report.removed} removed, {report.seconds:.1f} s"
    )


async def show(settings: Settings, terminal: Terminal, as_json: bool) -> None:
    """Places, and how much is kept of each; never what was said."""
    places: dict[str, list[SessionTurn]] = defaultdict(list)
    async with opened_log(settings) as log:
        for turn in await log.all():
            places[turn.talk].append(turn)
    rows = [_row(talk, turns) for talk, turns in sorted(places.items())]
    if as_json:
        terminal.plain(to_json(rows))
    elif not rows:
        terminal.note("Nothing was said yet. Import a history: belay sessions import FILE")
    else:
        columns = ("place", "sessions", "turns", "answers", "last")
        terminal.table(columns, [[str(value) for value in row.values()] for row in rows])


def _row(talk: str, turns: Sequence[SessionTurn]) -> dict[str, object]:
    last = max(turn.at for turn in turns)
    return {
        "place": talk,
        "sessions": len({turn.session for turn in turns}),
        "turns": len(turns),
        "answers": sum(turn.verified for turn in turns),
        "last": f"{last:%Y-%m-%d %H:%M}",
    }
