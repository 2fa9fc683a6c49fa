"""A sync that stood still while another one took over writes nothing when it goes on."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from adapters.sqlite import SqliteIndex
from tests.servers.redis_server import RedisServer

HERE = Path(__file__).parent
FILES = 12
LEASE = 2.0  # seconds
PATIENCE = 60.0  # seconds


class Machines:
    """Two machines with folders of the same documents, and one index for both."""

    def __init__(self, folder: Path, variables: Mapping[str, str]) -> None:
        self._folder, self._variables = folder, variables
        self._running: list[subprocess.Popen[str]] = []
        self.index = folder / "index.db"

    def write(self, name: str, said: str) -> None:
        folder = self._folder / name / "docs"
        folder.mkdir(parents=True, exist_ok=True)
        for number in range(FILES):
            text = f"# Runbook {number}\n\n{said} unit{number} at once.\n"
            (folder / f"f{number:03}.md").write_text(text, encoding="utf-8")

    def starts(self, name: str, *, stop: int = 0) -> subprocess.Popen[str]:
        """A sync on that machine; it stands still after `stop` texts."""
        words = [self._folder / name / "docs", str(LEASE), str(stop)]
        home = {"BELAY_HOME": str(self._folder / name), "BELAY_LOG_LEVEL": "ERROR"}
        process = subprocess.Popen(
            [sys.executable, HERE / "lead_process.py", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **self._variables, **home,
                 "PYTHONPATH": f"{HERE.parents[1]}{os.pathsep}{HERE}"},
        )  # fmt: skip
        self._running.append(process)
        if stop:
            assert process.stdout is not None
            assert process.stdout.readline() == "waiting\n"
        return process

    def takes_over(self, name: str) -> None:
        """Syncs there, as soon as nobody else may."""
        end = time.monotonic() + PATIENCE
        while True:
            process = self.starts(name)
            said, wrong = process.communicate(timeout=PATIENCE)
            if process.returncode == 0:
                assert said == "done\n"
                return
            assert process.returncode == 4, wrong
            assert "leads in 'sync'" in wrong
            assert time.monotonic() < end, "the lead of a process that stands still did not end"

    async def held(self) -> tuple[list[str], Sequence[object]]:
        """The texts of the index, and all else that it knows."""
        index = await SqliteIndex.open(self.index)
        texts = [passage.text async for passage, _, _ in index.chunks()]
        known = [await index.records("docs"), await index.sources(), await index.info()]
        await index.close()
        return texts, known

    def end(self) -> None:
        for process in self._running:
            process.kill()
            process.communicate()


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Machines]:
    machines = Machines(tmp_path, {})
    yield machines
    machines.end()


@pytest.fixture
def far(tmp_path: Path, redis_server: RedisServer) -> Iterator[Machines]:
    """The index is shared, and a Redis is there to lead in."""
    shared = {
        "BELAY_REDIS_URL": redis_server.url,
        "BELAY_REDIS__PREFIX": f"far{tmp_path.name}",
        "BELAY_WEAVIATE_URL": "http://127.0.0.1:9",
    }
    machines = Machines(tmp_path, shared)
    yield machines
    machines.end()


async def _stands_still(machines: Machines) -> None:
    """The first machine writes old words, stops half way, and wakes up when the second is done."""
    machines.write("first", "Restart")
    machines.write("second", "Drain")
    first = machines.starts("first", stop=8)
    first.send_signal(signal.SIGSTOP)
    (machines.index.parent / "first" / "sync.lock").unlink()
    await asyncio.to_thread(machines.takes_over, "second")
    done = await machines.held()
    first.send_signal(signal.SIGCONT)
    said, wrong = await asyncio.to_thread(first.communicate, "go on\n", PATIENCE)
    assert first.returncode == 4, wrong
    assert "done" not in said
    assert "nothing more is written" in wrong
    assert "Run it again" in wrong
    assert "Traceback" not in wrong
    assert await machines.held() == done
    assert len(done[0]) == FILES
    assert all("Drain" in text for text in done[0])


async def test_a_holder_that_stood_still_past_its_lease_writes_nothing(far: Machines) -> None:
    await _stands_still(far)


async def test_a_holder_whose_lock_file_was_deleted_writes_nothing(machines: Machines) -> None:
    """Somebody takes the lock of a sync that stands still for a leftover, in one data folder."""
    await _stands_still(machines)
