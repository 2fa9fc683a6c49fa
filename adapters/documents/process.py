"""The process that reads documents: one for a whole sync, replaced when a file breaks it.

A request is a line of JSON and the bytes of the file; the reply is a series of frames, each a
line of JSON and its bytes, the last of them marked as the end.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from adapters.documents.worker import OUT_OF_MEMORY
from bot.ingest.frontmatter import Issue
from bot.ingest.parse import Converted
from bot.ingest.reader import Member, Reader, ReadingLimits, Refused
from bot.ingest.report import Reason

_ROOT = Path(__file__).parents[2]
_BOOT = (
    "import sys; sys.path[:0] = [sys.argv[1]]; from adapters.documents.worker import main; main()"
)
_GRACE = 5.0  # seconds more on the clock than on the processor: other processes run too


class ReaderProcess(Reader):
    """Starts its process at the first document and again after a crash, a hang, or a document
    that needed more memory than allowed. One document at a time."""

    def __init__(self, limits: ReadingLimits) -> None:
        self._limits = limits
        self._process: subprocess.Popen[bytes] | None = None
        self._turn = threading.Lock()  # held for a whole document
        self._hand = threading.Lock()  # held to start, replace or end the process

    def read(self, suffix: str, data: bytes) -> Converted:
        with self._turn:
            frames = list(self._exchange({"suffix": suffix}, data))
        if not frames:
            raise Refused(Reason.BROKEN, "the parser gave nothing back")
        reply = json.loads(frames[0][1])
        return Converted(
            markdown=reply["markdown"],
            title=reply["title"],
            issues=tuple(Issue(line, message) for line, message in reply["issues"]),
            anchors=tuple((line, anchor) for line, anchor in reply["anchors"]),
            breaks=tuple(reply["breaks"]),
        )

    def unpack(self, data: bytes) -> Iterator[Member]:
        with self._turn:
            frames = list(self._exchange({"suffix": ".zip"}, data))
        for head, body in frames:
            stamp = head["updated_at"]
            yield Member(
                path=head["path"],
                data=body,
                format=head["format"],
                updated_at=datetime.fromisoformat(stamp) if stamp else None,
                reason=head["reason"],
                detail=head["detail"],
            )

    def close(self) -> None:
        """Ends the process, also in the middle of a document, which is then refused; the next
        one starts another process. Waits for no document, not even for one that begins now."""
        with self._hand:
            self._end()

    def _exchange(
        self, head: dict[str, Any], data: bytes
    ) -> Iterator[tuple[dict[str, Any], bytes]]:
        """The frames of a reply. Raises Refused, also for a process that died of the file."""
        process = self._running()
        late = threading.Event()

        def give_up() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(self._limits.seconds + _GRACE, give_up)
        timer.start()
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            request = json.dumps({**head, "size": len(data)}).encode() + b"\n"
            process.stdin.write(request)
            process.stdin.write(data)
            process.stdin.flush()
            yield from _frames(process.stdout)
        except (OSError, EOFError, ValueError) as error:
            _ended(process)
            raise self._death(process.returncode, late=late.is_set()) from error
        finally:
            timer.cancel()

    def _death(self, code: int, *, late: bool) -> Refused:
        limits = self._limits
        if late or code == -signal.SIGXCPU:
            return Refused(Reason.OVER_LIMIT, f"reading it took over {limits.seconds:g} s")
        if code == OUT_OF_MEMORY:
            return Refused(Reason.OVER_LIMIT, f"reading it needs over {limits.megabytes} MB")
        return Refused(Reason.BROKEN, f"the parser crashed on it (exit code {code})")

    def _running(self) -> subprocess.Popen[bytes]:
        with self._hand:
            if self._process is None or self._process.poll() is not None:
                self._end()
                self._process = self._start()
            return self._process

    def _start(self) -> subprocess.Popen[bytes]:
        """A process without this one's environment, which holds tokens, and with its own limits."""
        command = [sys.executable, "-B", "-P", "-c", _BOOT, str(_ROOT)]
        try:
            process = subprocess.Popen(  # noqa: S603 - our own module, no shell
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={},
                start_new_session=True,  # Ctrl-C ends the sync, which then ends this process
            )
        except OSError as error:
            raise Refused(Reason.BROKEN, "the parser could not be started") from error
        assert process.stdin is not None
        process.stdin.write(json.dumps(asdict(self._limits)).encode() + b"\n")
        return process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            _ended(process)


def _ended(process: subprocess.Popen[bytes]) -> None:
    """Killed, with its pipes closed; whoever reads from them is given an end of file."""
    process.kill()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            _close(pipe)
    process.wait()


def _frames(stream: IO[bytes]) -> Iterator[tuple[dict[str, Any], bytes]]:
    """Raises EOFError when the stream ends early, Refused for a reply that is a refusal."""
    while True:
        line = stream.readline()
        if not line.endswith(b"\n"):
            raise EOFError
        head = json.loads(line)
        if "end" in head:
            return
        if "refused" in head:
            raise Refused(head["refused"], head["detail"])
        body = stream.read(head["size"])
        if len(body) < head["size"]:
            raise EOFError
        yield head, body


def _close(pipe: IO[bytes]) -> None:
    try:
        pipe.close()
    except BrokenPipeError:  # unsent bytes for a process that is gone
        return
