"""The terminal: bars, tables and Markdown for a person, plain text for a pipe."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Sequence
from io import TextIOWrapper
from typing import TextIO

from rich.console import Console as Rich
from rich.live import Live
from rich.markdown import Markdown
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.progress import Progress as RichProgress
from rich.table import Table
from rich.text import Text

from adapters.lines import lines, nothing
from bot.progress import Progress
from bot.terminal import Terminal


class Bars(Progress):
    """One bar at a time on standard error; on a pipe one line when a piece of work begins."""

    def __init__(self, err: Rich) -> None:
        self._err = err
        self._bars: RichProgress | None = None
        self._task: TaskID | None = None

    def begin(self, what: str, total: int | None) -> None:
        self.end()
        if not self._err.is_terminal:
            self._err.print(f"{what} ...", markup=False, highlight=False)
            return
        self._bars = RichProgress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=self._err,
            transient=True,
        )
        self._bars.start()
        self._task = self._bars.add_task(what, total=total)

    def advance(self, steps: int = 1) -> None:
        if self._bars is not None and self._task is not None:
            self._bars.advance(self._task, steps)

    def end(self) -> None:
        if self._bars is not None:
            self._bars.stop()
        self._bars = self._task = None


class Console(Terminal):
    def __init__(
        self,
        stdin: TextIO | None = None,
        stdout: TextIO | None = None,
        stderr: TextIO | None = None,
    ) -> None:
        self._in = stdin or sys.stdin or nothing()
        self._out = _rich(stdout or sys.stdout or nothing())
        self._err = _rich(stderr or sys.stderr or nothing())
        self._bars: Bars | None = None
        self._live: Live | None = None
        self._streamed = ""

    @property
    def interactive(self) -> bool:
        return self._in.isatty() and self._out.is_terminal

    def show(self, markdown: str) -> None:
        self._settle()
        if self._out.is_terminal:
            self._out.print(Markdown(markdown, hyperlinks=False))
        else:
            self.plain(markdown)

    def plain(self, text: str) -> None:
        self._settle()
        self._out.file.write(text + "\n")
        self._out.file.flush()

    def note(self, text: str) -> None:
        self._settle()
        self._err.print(text, markup=False, highlight=False, soft_wrap=True)

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> None:
        self._settle()
        if not self._out.is_terminal:
            self._plain_table(columns, rows, title)
            return
        table = Table(*columns, title=title or None, title_justify="left")
        for row in rows:
            table.add_row(*(Text(cell) for cell in row))
        self._out.print(table)

    def _plain_table(
        self, columns: Sequence[str], rows: Sequence[Sequence[str]], title: str
    ) -> None:
        cells = [list(columns), *(list(row) for row in rows)]
        widths = [max(len(row[place]) for row in cells) for place in range(len(columns))]
        lines = [title] if title else []
        for row in cells:
            padded = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            lines.append("  ".join(padded).rstrip())
        self.plain("\n".join(lines))

    def progress(self) -> Progress:
        self._bars = Bars(self._err)
        return self._bars

    async def questions(self, prompt: str) -> AsyncIterator[str]:
        typed = lines(self._in)
        while True:
            self._settle()
            if not self.interactive:
                line = await anext(typed, None)
            else:
                line = await self._typed(prompt, typed)
            if line is None:
                return
            yield line

    async def _typed(self, prompt: str, typed: AsyncIterator[str]) -> str | None:
        """What follows the prompt; None at Ctrl-D. Ends the prompt's line when nobody else does."""
        self._out.print(Text(prompt, style="bold"), end="")
        line = None
        try:
            line = await anext(typed, None)
        finally:
            if line is None:
                self._out.print()
        return line

    def stage(self, text: str) -> None:
        if self.interactive and not self._streamed:
            self._update(Text(text, style="dim"))

    def token(self, text: str) -> None:
        if self.interactive:
            self._streamed += text
            self._update(Markdown(self._streamed, hyperlinks=False))

    def close(self) -> None:
        self._settle()
        if self._bars is not None:
            self._bars.end()

    def _update(self, content: Text | Markdown) -> None:
        if self._live is None:
            self._live = Live(console=self._out, transient=True, vertical_overflow="ellipsis")
            self._live.start()
        self._live.update(content, refresh=True)

    def _settle(self) -> None:
        """Takes away what was shown while working: the final text replaces it."""
        if self._live is not None:
            self._live.stop()
        self._live, self._streamed = None, ""


def _rich(stream: TextIO) -> Rich:
    """Colours and bars for a real terminal only; FORCE_COLOR does not make a pipe one."""
    return Rich(file=_lenient(stream), force_terminal=stream.isatty())


def _lenient(stream: TextIO) -> TextIO:
    """`stream`, with a mark in place of what its encoding cannot hold: a bad byte ends nothing."""
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="replace")
    return stream


def create() -> Terminal:
    """The factory that bot/registry.py names."""
    return Console()
