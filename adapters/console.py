"""The terminal: bars, tables and Markdown for a person, plain text for a pipe."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Sequence
from functools import cached_property
from io import TextIOWrapper
from typing import TYPE_CHECKING, TextIO

from adapters.lines import lines, nothing
from bot.progress import Progress
from bot.terminal import Terminal, printable

if TYPE_CHECKING:
    from adapters.screen import Screen

_NOT_PRINTED = dict.fromkeys((7, 8, 11, 12, 13))  # bell, backspace, line and page controls
_TAB = 8


class Stream:
    """Standard output or standard error: a pipe, or a terminal with a screen."""

    def __init__(self, file: TextIO) -> None:
        if isinstance(file, TextIOWrapper):
            file.reconfigure(errors="replace")  # a character that cannot be written ends nothing
        self._file = file

    @cached_property
    def screen(self) -> Screen | None:
        """The screen of a real terminal; FORCE_COLOR does not make a pipe one."""
        if not self._file.isatty():
            return None
        from adapters.screen import Screen  # noqa: PLC0415 - Rich: a pipe need not pay for it

        return Screen(self._file)

    def write(self, text: str) -> None:
        self._file.write(text + "\n")
        self._file.flush()

    def note(self, text: str) -> None:
        if self.screen is not None:
            self.screen.line(text)
        else:
            self.write(text.translate(_NOT_PRINTED).expandtabs(_TAB))


class Bars(Progress):
    """One bar at a time on standard error; on a pipe one line when a piece of work begins."""

    def __init__(self, err: Stream) -> None:
        self._err = err

    def begin(self, what: str, total: int | None) -> None:
        self.end()
        if self._err.screen is None:
            self._err.note(f"{what} ...")
        else:
            self._err.screen.begin_bar(what, total)

    def advance(self, steps: int = 1) -> None:
        if self._err.screen is not None:
            self._err.screen.advance_bar(steps)

    def end(self) -> None:
        if self._err.screen is not None:
            self._err.screen.end_bar()


class Console(Terminal):
    def __init__(
        self,
        stdin: TextIO | None = None,
        stdout: TextIO | None = None,
        stderr: TextIO | None = None,
    ) -> None:
        self._in = stdin or sys.stdin or nothing()
        self._out = Stream(stdout or sys.stdout or nothing())
        self._err = Stream(stderr or sys.stderr or nothing())
        self._bars: Bars | None = None
        self._streamed = ""

    @property
    def interactive(self) -> bool:
        return self._in.isatty() and self._out.screen is not None

    def show(self, markdown: str) -> None:
        self._settle()
        if self._out.screen is not None:
            self._out.screen.markdown(markdown)
        else:
            self.plain(markdown)

    def plain(self, text: str) -> None:
        self._settle()
        self._out.write(text)

    def note(self, text: str) -> None:
        self._settle()
        self._err.note(text)

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> None:
        self._settle()
        rows = [[printable(cell) for cell in row] for row in rows]
        if self._out.screen is not None:
            self._out.screen.table(columns, rows, title)
        else:
            self._plain_table(columns, rows, title)

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
        screen = self._out.screen if self._in.isatty() else None
        while True:
            self._settle()
            if screen is None:
                line = await anext(typed, None)
            else:
                line = await _typed(screen, prompt, typed)
            if line is None:
                return
            yield line

    def stage(self, text: str) -> None:
        if self.interactive and self._out.screen is not None and not self._streamed:
            self._out.screen.update(text, "")

    def token(self, text: str) -> None:
        if self.interactive and self._out.screen is not None:
            self._streamed += text
            self._out.screen.update("", self._streamed)

    def close(self) -> None:
        self._settle()
        if self._bars is not None:
            self._bars.end()

    def _settle(self) -> None:
        if self._out.screen is not None:
            self._out.screen.settle()
        self._streamed = ""


async def _typed(screen: Screen, prompt: str, typed: AsyncIterator[str]) -> str | None:
    """What follows the prompt; None at Ctrl-D. Ends the prompt's line when nobody else does."""
    screen.prompt(prompt)
    line = None
    try:
        line = await anext(typed, None)
    finally:
        if line is None:
            screen.line("")
    return line


def create() -> Terminal:
    """The factory that bot/registry.py names."""
    return Console()
