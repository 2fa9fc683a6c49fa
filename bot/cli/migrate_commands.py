"""The words of `belay migrate`."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.cli.running import run
from bot.engines import Engine


def migrate(
    origin: Annotated[Engine, typer.Option("--from", help="The engine that has the index.")],
    target: Annotated[Engine, typer.Option("--to", help="The engine that is to have it.")],
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Empty the target first, whatever it holds.")
    ] = False,
) -> None:
    """Copy the index from one engine to another.

    Documents and earlier conversations, with their vectors: nothing is embedded again. It may be
    interrupted at any moment and run again. Ends with code 0 when counts and sampled searches are
    the same in both.
    """
    from bot.cli.migrate import migrate as start

    run(start, origin, target, overwrite)
