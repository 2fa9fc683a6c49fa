"""A real browser, to see a page as its reader does."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome")  # as in scripts/peers
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--hide-scrollbars", "--enable-logging=stderr",
)  # fmt: skip


def found() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)


@dataclass(frozen=True, slots=True)
class Opened:
    """A page after it was loaded: its elements as HTML, and what its console said."""

    dom: str
    console: tuple[str, ...]


class Browser:
    def __init__(self, program: str) -> None:
        self._program = program

    def open(self, file: Path) -> Opened:
        done = self._run(file, "--dump-dom", "--virtual-time-budget=3000")
        lines = tuple(line for line in done.stderr.splitlines() if "CONSOLE" in line)
        return Opened(done.stdout, lines)

    def picture(self, file: Path, to: Path, *, width: int, height: int, dark: bool = False) -> None:
        shade = ("--force-dark-mode",) if dark else ()
        self._run(file, f"--screenshot={to}", f"--window-size={width},{height}", *shade)

    def _run(self, file: Path, *flags: str) -> subprocess.CompletedProcess[str]:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
            command = [self._program, *FLAGS, f"--user-data-dir={profile}", *flags, file.as_uri()]
            return subprocess.run(command, check=True, text=True, capture_output=True, timeout=120)
