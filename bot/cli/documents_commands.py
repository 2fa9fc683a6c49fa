"""The words of `belay add`, `belay note` and `belay documents`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bot.cli.lookup_commands import Kinds
from bot.cli.running import run

documents = typer.Typer(
    help="List documents, and change those that were handed in.",
    invoke_without_command=True,
)

Title = Annotated[str, typer.Option(metavar="TITLE", help="Its title; that of its text otherwise.")]
Audience = Annotated[
    str,
    typer.Option(
        "--level", metavar="LEVEL", help="The lowest level that may read it; the lowest of all."
    ),
]
Labels = Annotated[
    list[str] | None,
    typer.Option("--label", metavar="LABEL", help="A brand or team that may read it; repeatable."),
]
Id = Annotated[str, typer.Argument(metavar="ID", help="As `belay documents` shows it.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def add(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE", help="Files in a format that Belay reads.")
    ],
    title: Title = "",
    level: Audience = "",
    label: Labels = None,
    expires: Annotated[
        str, typer.Option(metavar="DATE", help="The day from which it is not found: 2027-01-31.")
    ] = "",
) -> None:
    """Hand in files: they are kept and indexed."""
    from bot.cli.documents import About
    from bot.cli.documents import add as start

    run(start, files, About(title, level, tuple(label or ()), expires))


def note(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="TEXT", help="What to remember; standard input without it."),
    ] = None,
    title: Title = "",
    level: Audience = "",
    label: Labels = None,
    publish: Annotated[
        bool, typer.Option("--publish", help="Publish it at once instead of keeping a draft.")
    ] = False,
) -> None:
    """Write a note down: a draft until it is published."""
    from bot.cli.documents import About
    from bot.cli.documents import note as start

    text = " ".join(words or [])
    run(start, text, About(title, level, tuple(label or ())), publish=publish)


@documents.callback()
def list_(
    context: typer.Context,
    kind: Kinds = None,
    as_json: Json = False,
) -> None:
    """List documents, and change those that were handed in."""
    from bot.cli.documents import show_all

    if context.invoked_subcommand is None:
        run(show_all, kind or (), as_json)


@documents.command()
def show(name: Id) -> None:
    """Print a document that was handed in, and what is known of it."""
    from bot.cli.documents import show as start

    run(start, name)


@documents.command()
def publish(name: Id) -> None:
    """Make a draft findable."""
    from bot.cli.documents import publish as start

    run(start, name)


@documents.command()
def replace(
    name: Id,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Its new content.")],
) -> None:
    """Put a file in the place of a document: same id, same readers."""
    from bot.cli.documents import replace as start

    run(start, name, file)


@documents.command()
def delete(name: Id) -> None:
    """Take a document out of the index and the data folder."""
    from bot.cli.documents import delete as start

    run(start, name)
