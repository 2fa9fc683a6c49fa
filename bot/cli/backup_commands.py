"""The words of `belay backup` and `belay restore`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bot.cli.running import run


def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE.tar.gz", help="A file that is new.")],
    *,
    index: Annotated[
        bool, typer.Option("--index", help="The index too; `belay sync` can make it again.")
    ] = False,
) -> None:
    """Write what cannot be made again into one archive.

    Who may ask, the audit, what was said, votes, threads and questions without an answer. A bot may
    run meanwhile.
    """
    from bot.cli.backup import backup as start

    run(start, file, index)


def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE.tar.gz", help="As `belay backup` made it.")],
    *,
    without_inbox: Annotated[
        bool, typer.Option("--without-inbox", help="Leave out questions that waited back then.")
    ] = False,
) -> None:
    """Put a backup into an empty data folder."""
    from bot.cli.backup import restore as start

    run(start, file, not without_inbox)
