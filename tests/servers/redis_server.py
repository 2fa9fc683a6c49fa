"""A real redis-server on a free port of the loopback interface, started and ended by a test.

with RedisServer(tmp_path) as server:
    inbox = RedisInbox(Server(server.url))
    server.kill()
    server.start()
"""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

import redis

PROGRAM = "redis-server"
NEEDED = f"needs {PROGRAM}: apt-get install redis-server (make peers does)"
_PATIENCE = 20.0  # seconds


def available() -> bool:
    return shutil.which(PROGRAM) is not None


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def until(condition: Callable[[], bool]) -> None:
    """Waits for something that a server says nothing of when it comes true."""
    end = time.monotonic() + _PATIENCE
    while not condition():
        assert time.monotonic() < end, "a Redis did not come up"
        time.sleep(0.02)


class RedisServer:
    """Keeps its port and its folder over restarts. `options` are words of its command line."""

    def __init__(self, folder: Path, *options: str, port: int = 0) -> None:
        self.folder, self.port = folder, port or free_port()
        self.options = options
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    def __enter__(self) -> RedisServer:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()

    def start(self, *, wait: bool = True) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        words = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir"]
        with (self.folder / "redis.log").open("ab") as log:
            self._process = subprocess.Popen(
                [PROGRAM, *words, str(self.folder), *self.options], stdout=log, stderr=log
            )
        if wait:
            until(self._answers)

    def kill(self) -> None:
        """With -9, as a machine that runs out of memory does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def stop(self) -> None:
        """As an update of the package does."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
            self._process = None

    def freeze(self) -> None:
        """It is there, and answers nothing."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def client(self) -> redis.Redis:
        """For looking at what is stored."""
        return redis.Redis(port=self.port, decode_responses=True)

    def command(self, *words: str) -> object:
        with self.client() as client:
            return client.execute_command(*words)

    def _answers(self) -> bool:
        try:
            return bool(self.command("PING"))
        except redis.exceptions.AuthenticationError:
            return True
        except redis.exceptions.ConnectionError:
            return False
