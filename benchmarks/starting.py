"""From the start of the process to its first answer."""

from __future__ import annotations

import os
import subprocess
import sys
import time
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
        started = time.perf_counter()
        process = subprocess.Popen(
            command("ask", question), env=environment, stdout=subprocess.DEVNULL
        )
        _, _, usage = os.wait4(process.pid, 0)
        seconds.append(time.perf_counter() - started)
        megabytes.append(usage.ru_maxrss / 1024)
    return [
        Figure("process start to first answer and exit", f"{median(seconds):.1f} s",
               f"median of {RUNS}"),
        Figure("peak memory of that process", f"{median(megabytes):.0f} MB", f"median of {RUNS}"),
    ]  # fmt: skip


def command(*words: str) -> list[str]:
    """`belay` with these words, on the interpreter of this process."""
    return [sys.executable, "-c", _ASK, *words]
