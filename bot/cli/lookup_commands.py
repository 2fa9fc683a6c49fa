"""The words of `belay search` and `belay mcp`."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.cli.running import run

Kinds = Annotated[
    list[str] | None,
    typer.Option(
        "--type",
        metavar="TYPE",
        help="Only this type of source: folder, repo, vault, upload, manual; repeatable.",
    ),
]


def search(
    query: Annotated[
        list[str], typer.Argument(metavar="QUERY", help="What to look for; quotes are optional.")
    ],
    kind: Kinds = None,
    count: Annotated[
        int, typer.Option("--k", min=1, max=20, metavar="N", help="How many passages at most.")
    ] = 5,
    level: Annotated[
        str, typer.Option(metavar="LEVEL", help="Read only what this level may read.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Show the passages that fit a query best, without an answer.

    No model is asked. Passages below the floor, no better than unrelated ones, are left out.
    """
    from bot.cli.lookup import search as start

    run(start, " ".join(query), kinds=kind or (), count=count, level=level, as_json=as_json)


def mcp(
    http: Annotated[
        str,
        typer.Option(
            metavar="HOST:PORT",
            help="Serve over HTTP at this address of this machine, as in 127.0.0.1:8765; clients "
            "show the token of BELAY_MCP__TOKEN.",
        ),
    ] = "",
) -> None:
    """Serve the documents to agents (Model Context Protocol).

    Over standard input and output, as agents start it, or over HTTP. What they may read is in
    [mcp] of belay.toml: by default what the lowest level may read. Needs the extra `mcp`.
    """
    from bot.cli.lookup import serve

    run(serve, http)
