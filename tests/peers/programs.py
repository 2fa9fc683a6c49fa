"""Programs as processes of their own: the peers, and `belay run`."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from typing import Self

ROOT = Path(__file__).parents[2]
BELAY = Path(sys.executable).with_name("belay")
TOKEN = "123456789:AAexample-token-of-no-real-bot-at-all"
ANN = 42
STARTED = "answering on"
PATIENCE = 120.0  # seconds for a start or an end, while others have the processors


class Program:
    """What it writes, to stdout or stderr, is read line by line and kept in `said`."""

    def __init__(self, *command: object, folder: Path, variables: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [str(word) for word in command],
            cwd=folder,
            env={**_environment(), **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert self._process.stdout is not None
        self._output = self._process.stdout
        self.said = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self._output.close()

    def line(self, part: str = "") -> str:
        """The next line that contains `part`."""
        with self._patience():
            for line in self._output:
                self.said += line
                if part in line:
                    return line.strip()
        raise AssertionError(f"{part!r} was not said, but:\n{self.said}")

    def ends(self) -> int:
        """Its exit code after a SIGTERM."""
        self._process.terminate()
        with self._patience():
            self.said += self._output.read()
            return self._process.wait()

    @contextmanager
    def _patience(self) -> Iterator[None]:
        """Nothing is waited for longer: the process is killed then."""
        timer = Timer(PATIENCE, self._process.kill)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()


def _environment() -> dict[str, str]:
    """This one, without settings of Belay's and without proxies."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("BELAY_") and not name.lower().endswith("_proxy")
    }


def free_port() -> int:
    """For an address that has to be known before the process runs that listens there."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def telegram(api: str) -> dict[str, str]:
    """Settings for the Bot API at `api`. Ann is the admin."""
    return {
        "BELAY_TELEGRAM_TOKEN": TOKEN,
        "BELAY_TELEGRAM_API_URL": api,
        "BELAY_ADMINS": f"telegram:{ANN}",
    }


@contextmanager
def belay_run(folder: Path, variables: Mapping[str, str]) -> Iterator[Program]:
    """`belay run` with one document. It has to end well."""
    (folder / "docs").mkdir()
    (folder / "docs" / "billing.md").write_text("# Billing\n\nBilling listens on port 8081.\n")
    (folder / "belay.toml").write_text('[[sources]]\npath = "docs"\n')
    fixed = {
        "BELAY_HOME": "home",
        "BELAY_WEB": "off",
        "PYTHONPATH": str(ROOT),
    }
    with Program(BELAY, "run", folder=folder, variables={**fixed, **variables}) as belay:
        belay.line(STARTED)
        yield belay
        assert belay.ends() == 0, belay.said
