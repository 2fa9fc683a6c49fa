"""What is drawn on a real terminal: bars, tables, Markdown. A pipe never loads this."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from rich.console import Console
from rich.live import Live
from rich.markdown import Markdown
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table
from rich.text import Text


class Screen:
    """A terminal that a person looks at."""

    def __init__(self, stream: TextIO) -> None:
        self._console = Console(file=stream, force_terminal=True)
        self._live: Live | None = None
        self._bars: Progress | None = None
        self._task: TaskID | None = None

    def markdown(self, text: str) -> None:
        self._console.print(_rendered(text))

    def line(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def prompt(self, text: str) -> None:
        self._console.print(Text(text, style="bold"), end="")

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[str]], title: str) -> None:
        table = Table(*columns, title=title or None, title_justify="left")
        for row in rows:
            table.add_row(*(Text(cell) for cell in row))
        self._console.print(table)

    def update(self, stage: str, answer: str) -> None:
        """What is shown until `settle`: the answer so far, or the stage before there is one."""
        if self._live is None:
            self._live = Live(console=self._console, transient=True, vertical_overflow="ellipsis")
            self._live.start()
        self._live.update(_rendered(answer) if answer else Text(stage, style="dim"), refresh=True)

    def settle(self) -> None:
        """Takes away what was shown while working: the final text replaces it."""
        if self._live is not None:
            self._live.stop()
        self._live = None

    def begin_bar(self, what: str, total: int | None) -> None:
        self._bars = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=self._console,
            transient=True,
        )
        self._bars.start()
        self._task = self._bars.add_task(what, total=total)

    def advance_bar(self, steps: int) -> None:
        if self._bars is not None and self._task is not None:
            self._bars.advance(self._task, steps)

    def end_bar(self) -> None:
        if self._bars is not None:
            self._bars.stop()
        self._bars = self._task = None


def _rendered(text: str) -> Markdown:
    return Markdown(text, hyperlinks=False)
