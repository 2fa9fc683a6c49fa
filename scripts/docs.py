"""Writes the generated parts of the documentation: the graph's picture and the command tables.

python scripts/docs.py           rewrites README.md and docs/architecture.md
python scripts/docs.py --check   changes nothing; fails when they are not up to date
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import typer.main
from typer.core import TyperGroup

from bot.access import Role
from bot.cli.commands import app
from bot.commands.table import COMMANDS
from graph.machine import build

ROOT = Path(__file__).resolve().parent.parent


def mermaid() -> str:
    """The corrective graph as LangGraph draws it."""
    return f"```mermaid\n{build().get_graph().draw_mermaid().strip()}\n```"


def commands() -> str:
    """Every command with the first sentence of its help."""
    group = typer.main.get_command(app)
    rows = ["| command | what it does |", "|---|---|"]
    assert isinstance(group, TyperGroup)
    for name, command in group.commands.items():
        rows.append(f"| `belay {name}` | {command.help.strip().splitlines()[0]} |")
    return "\n".join(rows)


def chat_commands() -> str:
    """Every command of the chats that is shown to people, with its other names."""
    rows = ["| command | what it does | also |", "|---|---|---|"]
    for command in COMMANDS:
        if command.listed:
            typed = f"{command.name} {command.usage.get('en', '')}".strip().replace("|", "\\|")
            others = ", ".join(f"`{name}`" for name in command.aliases)
            told = command.describe["en"] + (" (admins)" if command.role is Role.ADMIN else "")
            rows.append(f"| `{typed}` | {told} | {others} |")
    return "\n".join(rows)


BLOCKS: dict[str, tuple[str, Callable[[], str]]] = {
    "graph": ("docs/architecture.md", mermaid),
    "commands": ("README.md", commands),
    "chat-commands": ("README.md", chat_commands),
}


def replaced(text: str, name: str, content: str) -> str:
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    before, found, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise SystemExit(f"the marks {begin} … {end} are missing")
    return f"{before}{begin}\n{content}\n{end}{after}"


def main() -> None:
    stale = []
    for name, (path, render) in BLOCKS.items():
        text = (ROOT / path).read_text(encoding="utf-8")
        fresh = replaced(text, name, render())
        if fresh != text:
            stale.append(path)
            if "--check" not in sys.argv:
                (ROOT / path).write_text(fresh, encoding="utf-8")
    if stale and "--check" in sys.argv:
        raise SystemExit(f"not up to date: {', '.join(stale)}; run `make fix`")


if __name__ == "__main__":
    main()
