"""What the command line needs from a terminal. adapters/console.py is the real one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from bot.progress import Progress


def printable(text: str) -> str:
    """One line, whatever a name holds: what moves the cursor is written as an escape."""
    if text.isprintable():
        return text
    return "".join(ch if ch.isprintable() else ascii(ch)[1:-1] for ch in text)


class Terminal(Protocol):
    """Answers go to standard output, everything about the work to standard error."""

    @property
    def interactive(self) -> bool:
        """True when a person types; False when questions come from a pipe or a file."""

    def show(self, markdown: str) -> None:
        """Canonical Markdown: rendered for a person, as it is for a pipe."""

    def plain(self, text: str) -> None:
        """Text as it is, on standard output."""

    def note(self, text: str) -> None:
        """A remark about the work, on standard error."""

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> None:
        """Columns aligned for a person."""

    def progress(self) -> Progress:
        """Bars on standard error."""

    def questions(self, prompt: str) -> AsyncIterator[str]:
        """What is typed or piped in, a line each, until the end of input."""

    def stage(self, text: str) -> None:
        """What is being done right now; shown to a person only, gone with the next output."""

    def token(self, text: str) -> None:
        """A piece of the answer as it comes; shown to a person only."""

    def close(self) -> None:
        """Leaves the screen as a program that was interrupted should: no bar, a visible cursor."""
