"""From the start of the process to its first answer."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from asyncio.subprocess import Process
from collections.abc import Mapping
from pathlib import Path

from benchmarks.table import Figure, median

_ASK = "import sys; from bot.cli import main; sys.argv = ['belay', *sys.argv[1:]]; main()"
RUNS = 5


def costs(home: Path, docs: Path, question: str) -> list[Figure]:
    environment = {**os.environ, "BELAY_HOME": str(home), "BELAY_WEB": "off"}
    subprocess.run(command("sync", str(docs)), env=environment, check=True, capture_output=True)
    seconds: list[float] = []
    megabytes: list[float] = []
    for _ in range(RUNS):
        begun = time.perf_counter()
        process = subprocess.Popen(
            command("ask", question), env=environment, stdout=subprocess.DEVNULL
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)  # it has been waited for
        seconds.append(time.perf_counter() - begun)
        megabytes.append(usage.ru_maxrss / 1024)
    return [
        Figure("process start to first answer and exit", f"{median(seconds):.1f} s",
               f"median of {RUNS}"),
        Figure("peak memory of that process", f"{median(megabytes):.0f} MB", f"median of {RUNS}"),
    ]  # fmt: skip


def command(*words: str) -> list[str]:
    """`belay` with these words, on the interpreter of this process."""
    return [sys.executable, "-c", _ASK, *words]


async def started(*words: str, variables: Mapping[str, str]) -> Process:
    """`belay` with these words as a process that says nothing."""
    return await asyncio.create_subprocess_exec(
        *command(*words),
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
