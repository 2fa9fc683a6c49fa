"""The words of `belay sessions`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bot.cli.running import run

sessions = typer.Typer(
    help="Index, import and list earlier conversations.",
    no_args_is_help=True,
)


@sessions.command("index")
def index() -> None:
    """Make what was said since the last run findable.

    A running bot does this by itself: at its start, every two hours, and when it ends.
    """
    from bot.cli.sessions import index as start

    run(start)


@sessions.command("import")
def import_(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE", help="JSON lines, a Slack export (.zip), a Telegram export (.json)."
        ),
    ],
) -> None:
    """Take in the history that a team has already, and index it.

    What was said in a channel can be recalled in that channel only.
    """
    from bot.cli.sessions import load as start

    run(start, files)


@sessions.command("list")
def list_(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """List the places whose conversations are kept, without what was said."""
    from bot.cli.sessions import show as start

    run(start, as_json)
