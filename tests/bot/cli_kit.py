"""The installed command, as a person or a script runs it: in processes, on a folder of its own."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

BELAY = Path(sys.executable).with_name("belay")
EXAMPLES = Path(__file__).parents[2] / "examples" / "docs"
CUT_OFF = "what is the bank cut-off for payouts"  # the examples answer: 06:15 UTC
PATIENCE = 120.0  # seconds until a process that says nothing has failed the test
_CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_QUIET = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "LANGSMITH_TRACING": "false"}


@dataclass(frozen=True, slots=True)
class Ended:
    """What is left of a process."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    def failed(self, code: int, *words: str) -> None:
        """Asserts the exit code, each of these words on standard error, and no frames of Python."""
        assert (self.code, self.out) == (code, ""), self.err
        assert not [word for word in words if word not in self.err], self.err
        self.without_frames()

    def without_frames(self) -> None:
        assert "Traceback" not in self.out + self.err
        assert 'File "' not in self.out + self.err


@dataclass(frozen=True)
class Belay:
    """`belay` on one data folder, with settings from variables."""

    home: Path
    settings: dict[str, str] = field(default_factory=dict)

    def with_(self, **settings: str) -> Belay:
        """The same with more settings: `MODEL="m"` is BELAY_MODEL."""
        named = {f"BELAY_{name}": value for name, value in settings.items()}
        return Belay(self.home, {**self.settings, **named})

    def copy(self, home: Path) -> Belay:
        """The same index in another place, for a test to change; nothing was asked there."""
        shutil.copytree(self.home, home, ignore=shutil.ignore_patterns("audit.db*"))
        return Belay(home, self.settings)

    def __call__(self, *words: str | Path, typed: str | bytes = "") -> Ended:
        process = self.start(*words)
        return self.end(process, typed)

    def start(self, *words: str | Path, **options: Any) -> subprocess.Popen[bytes]:
        streams: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        return subprocess.Popen(
            [BELAY, *words], cwd=self.home.parent, env=self.environment(), **(streams | options)
        )

    def end(self, process: subprocess.Popen[bytes], typed: str | bytes = "") -> Ended:
        data = typed.encode() if isinstance(typed, str) else typed
        out, err = process.communicate(data, timeout=PATIENCE)
        return Ended(process.returncode, out.decode(), err.decode())

    @contextmanager
    def screen(self, *words: str) -> Iterator[Screen]:
        """The command in a terminal of 100 columns."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
        streams = dict.fromkeys(("stdin", "stdout", "stderr"), theirs)
        process = self.start(*words, **streams, preexec_fn=_own_terminal)
        os.close(theirs)
        try:
            yield Screen(process, ours)
        finally:
            process.kill()
            process.wait()
            os.close(ours)

    def environment(self) -> dict[str, str]:
        """What a login has, and the tests' cache."""
        names = ("PATH", "HOME", "BELAY_CACHE", "PYTHONPATH")
        inherited = {name: os.environ[name] for name in names if name in os.environ}
        chosen = {"BELAY_HOME": str(self.home), "BELAY_WEB": "off", **self.settings}
        return {**inherited, **_QUIET, "TERM": "xterm-256color", "LANG": "C.UTF-8", **chosen}


def _own_terminal() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # ignored by what a shell runs in the background
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Screen:
    """A terminal with a program in it: what it shows, and keys to press."""

    def __init__(self, process: subprocess.Popen[bytes], descriptor: int) -> None:
        self.process = process
        self.raw = ""
        self._descriptor = descriptor
        self._seen = 0  # characters, without codes, that `until` went past

    def press(self, keys: str) -> None:
        os.write(self._descriptor, keys.encode())

    def until(self, words: str) -> str:
        """Waits for these words; returns what was shown since the last wait, without codes."""
        end = time.monotonic() + PATIENCE
        while words not in (shown := _CODES.sub("", self.raw)[self._seen :]):
            assert time.monotonic() < end, f"no {words!r} in {shown!r}"
            if not self._more():
                raise AssertionError(f"ended without {words!r}: {shown!r}")
        passed = shown.index(words) + len(words)
        self._seen += passed
        return shown[:passed]

    def ended(self) -> int:
        """Waits for the end; returns the exit code."""
        while self._more():
            pass
        return self.process.wait(PATIENCE)

    def _more(self) -> bool:
        """Reads what there is; False when the program closed its terminal."""
        ready, _, _ = select.select([self._descriptor], [], [], PATIENCE)
        try:
            data = os.read(self._descriptor, 65536) if ready else b""
        except OSError:  # Linux says so when the other side is gone
            data = b""
        self.raw += data.decode(errors="replace")
        return bool(data)


def lines_until(process: subprocess.Popen[bytes], words: str) -> list[str]:
    """Reads standard output up to the line with these words."""
    assert process.stdout is not None
    found: list[str] = []
    for line in process.stdout:
        found.append(line.decode().rstrip())
        if words in found[-1]:
            return found
    raise AssertionError(f"ended without {words!r}: {found}")


def terminate(process: subprocess.Popen[bytes]) -> Ended:
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=PATIENCE)
    return Ended(process.returncode, out.decode(), err.decode())
