"""What `belay doctor` says of figures and traces."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.servers.otlp_server import OtlpServer

ROOT = Path(__file__).parents[2]
DOCTOR = "import sys; from bot.cli import main; sys.argv = ['belay', 'doctor', '--json']; main()"


def told(home: Path, **variables: str) -> dict[str, Any]:
    environment = {**os.environ, "BELAY_HOME": str(home), "BELAY_WEB": "off", **variables}
    done = subprocess.run(
        [sys.executable, "-c", DOCTOR], cwd=ROOT, env=environment, capture_output=True, check=False
    )
    (row,) = [row for row in json.loads(done.stdout) if row["check"] == "telemetry"]
    return dict(row)


def test_without_a_collector_the_pages_are_named(tmp_path: Path) -> None:
    row = told(tmp_path, BELAY_HTTP="127.0.0.1:8099", BELAY_TELEMETRY__METRICS="false")
    assert (row["state"], row["message"]) == ("ok", "/readyz on 127.0.0.1:8099; no traces")


async def test_a_collector_is_looked_for(tmp_path: Path) -> None:
    async with OtlpServer() as collector:
        there = await asyncio.to_thread(told, tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)
    assert there["state"] == "ok"
    assert "traces go to 127.0.0.1" in there["message"]
    gone = told(tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9")
    assert gone["state"] == "note"
    assert "127.0.0.1:9" in gone["message"]
