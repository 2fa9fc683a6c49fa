"""The words of `belay audit` and `belay gaps`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bot.cli.running import run

Since = Annotated[
    str, typer.Option(metavar="TIME", help="From then on: 24h, 7d, 2026-11-30, 2026-11-30T18:00.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def audit(
    *,
    since: Since = "",
    person: Annotated[
        str, typer.Option(metavar="KEY", help="Asked by them: telegram:42, slack:U012AB3CD.")
    ] = "",
    place: Annotated[
        str,
        typer.Option(metavar="PLACE", help="Asked there: telegram:-100, slack:C012AB, or a title."),
    ] = "",
    outcome: Annotated[
        list[str] | None,
        typer.Option(metavar="OUTCOME", help="That ended so, such as not_found; may be repeated."),
    ] = None,
    contains: Annotated[
        str, typer.Option(metavar="TEXT", help="With this text in the question.")
    ] = "",
    limit: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="The newest N; 50 in a table.")
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write them to a file that ends in .jsonl or .csv."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show who asked what, where, and what was found.

    Newest first, with votes. Secrets in questions are masked; [audit] days in belay.toml says how
    long questions are kept.
    """
    from bot.cli.audit import Wanted
    from bot.cli.audit import audit as start

    wanted = Wanted(since, person, place, tuple(outcome or ()), contains, limit)
    run(start, wanted, export, as_json)


def gaps(
    *,
    since: Since = "",
    limit: Annotated[int, typer.Option(metavar="N", min=1, help="The N largest.")] = 20,
    as_json: Json = False,
) -> None:
    """Show what the documents lack, by what was asked.

    Questions without an answer or with a bad vote, those that mean the same together: how often,
    from where, since when, and the documents that came nearest. No names of people.
    """
    from bot.cli.gaps import gaps as start

    run(start, since, limit, as_json)
