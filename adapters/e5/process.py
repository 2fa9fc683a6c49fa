"""One worker process and the pipe to it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Literal

import numpy as np

from graph.errors import EmbedderError
from graph.ports import Matrix

Kind = Literal["query", "passage"]

_SCRIPT = Path(__file__).with_name("worker.py")


class WorkerDied(Exception):
    """The worker ended without a reply; `how` says by which signal or with which code."""

    def __init__(self, how: str) -> None:
        super().__init__(f"the worker process ended ({how})")
        self.how = how


class Worker:
    """Starts its process at the first request and again after it died. One request at a time.

    All methods block: call them in a thread.
    """

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._process: subprocess.Popen[bytes] | None = None
        self._turn = threading.Lock()
        self._closed = False

    def embed(self, kind: Kind, texts: Sequence[str]) -> Matrix:
        """One row a text. A process that crashes is replaced and asked once more.

        Raises EmbedderError after a second crash, an error reply, or `timeout` seconds.
        """
        request = json.dumps({"kind": kind, "texts": list(texts)}).encode() + b"\n"
        with self._turn:
            try:
                return self._exchange(request)
            except WorkerDied:
                try:
                    return self._exchange(request)
                except WorkerDied as error:
                    raise EmbedderError(f"the e5 embedder crashed twice ({error.how})") from error

    def close(self) -> None:
        """Ends the process for good; a request that waits for it raises EmbedderError."""
        self._closed = True
        process = self._process
        if process is not None:
            process.kill()  # before our turn: the present request may take long
        with self._turn:
            if self._process is not None:
                self._end(self._process)

    def _exchange(self, request: bytes) -> Matrix:
        process = self._running()
        late = threading.Event()

        def give_up() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(self._timeout, give_up)
        timer.start()
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(request)
            process.stdin.flush()
            return _reply(process.stdout)
        except (OSError, EOFError, ValueError) as error:
            self._end(process)
            if late.is_set():
                raise EmbedderError(f"the e5 embedder took over {self._timeout:g} s") from error
            raise WorkerDied(_how(process.returncode)) from error
        finally:
            timer.cancel()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._closed:
            raise EmbedderError("the e5 embedder is closed")
        if self._process is None or self._process.poll() is not None:
            if self._process is not None:
                self._end(self._process)
            self._process = _start()
        return self._process

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        self._process = None
        process.kill()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                _close(pipe)
        process.wait()


def _start() -> subprocess.Popen[bytes]:
    command = [sys.executable, "-P", str(_SCRIPT)]  # -P: files beside the script are no modules
    try:
        return subprocess.Popen(  # noqa: S603 - our own script, no shell
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for the bot, which may still have to answer
        )
    except OSError as error:
        raise EmbedderError("the e5 worker process could not be started") from error


def _reply(stream: IO[bytes]) -> Matrix:
    """Raises EOFError when the stream ends early, EmbedderError for an error reply."""
    line = stream.readline()
    if not line.endswith(b"\n"):
        raise EOFError
    head = json.loads(line)
    if "error" in head:
        raise EmbedderError(f"the e5 embedder failed: {head['error']}")
    rows, dimension = int(head["rows"]), int(head["dimension"])
    size = rows * dimension * 4
    body = stream.read(size)
    if len(body) < size:
        raise EOFError
    return np.frombuffer(body, "<f4").reshape(rows, dimension)


def _close(pipe: IO[bytes]) -> None:
    try:
        pipe.close()
    except BrokenPipeError:  # unsent bytes for a process that is gone
        return


def _how(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"
