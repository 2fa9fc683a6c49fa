"""`belay calibration` as it is typed, over the example documents."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bot.app import opened
from bot.ingest.shipped import probes
from bot.settings import Settings

EXAMPLES = Path(__file__).parents[2] / "examples" / "docs"
BELAY = Path(sys.executable).with_name("belay")


def belay(home: Path, *words: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(BELAY), *words],
        check=False,
        cwd=home.parent,
        env={**os.environ, "BELAY_HOME": str(home), "BELAY_WEB": "off"},
        input=typed,
        text=True,
        capture_output=True,
    )


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of the examples of which two things were asked, and one thing said."""
    home = tmp_path_factory.mktemp("calibration") / "home"
    assert belay(home, "sync", str(EXAMPLES)).returncode == 0
    typed = "when is the bank cut-off for payouts\nгде лежат резервные копии\nthanks\n"
    assert belay(home, "chat", typed=typed).returncode == 0
    return home


@pytest.fixture(scope="module")
def figures(home: Path) -> dict[str, Any]:
    """What `--json` prints, which is the whole of standard output."""
    found: dict[str, Any] = json.loads(belay(home, "calibration", "--json").stdout)
    return found


def test_tables_show_anchors_scores_and_shares(home: Path) -> None:
    shown = belay(home, "calibration")
    assert shown.returncode == 0, shown.stderr
    assert "use-multilingual" in shown.stdout
    assert "questions   2 asked here" in shown.stdout
    for words in ("Anchors", "floor 0.44", "certain 0.85", "everyday", "asked here so far: 2"):
        assert words in shown.stdout


def test_json_says_what_the_scale_is_from(figures: dict[str, Any]) -> None:
    assert figures["origin"] == "blended"
    assert figures["chunks"] == figures["fitted_chunks"] > 30
    assert figures["outgrown"] is False


def test_json_holds_three_kinds_of_questions_a_language(figures: dict[str, Any]) -> None:
    for language in ("en", "ru"):
        kinds = figures["questions"][language]
        assert kinds["everyday"]["n"] == len(probes()[language])
        assert kinds["foreign"]["n"] > 0
        assert kinds["asked"]["n"] == 1
        shares = list(kinds["foreign"]["reaching"].values())
        assert shares == sorted(shares, reverse=True)


def test_thresholds_are_those_of_the_settings(home: Path) -> None:
    (home.parent / "belay.toml").write_text("[thresholds]\nfactual = 0.8\n", encoding="utf-8")
    try:
        data = json.loads(belay(home, "calibration", "--json").stdout)
    finally:
        (home.parent / "belay.toml").unlink()
    assert data["thresholds"]["factual"]["relevance"] == 0.8


def test_plot_is_a_png_and_its_place_is_told(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "calibration.png"
    shown = belay(home, "calibration", "--plot", str(file))
    assert shown.returncode == 0, shown.stderr
    assert str(file) in shown.stderr.replace("\n", "")
    assert file.read_bytes().startswith(b"\x89PNG")


def test_plot_that_cannot_be_written_is_a_sentence(home: Path, tmp_path: Path) -> None:
    shown = belay(home, "calibration", "--plot", str(tmp_path / "gone" / "x.png"))
    assert shown.returncode != 0
    assert "cannot be written" in shown.stderr
    assert "Traceback" not in shown.stderr


def test_without_an_index_the_sync_command_is_named(tmp_path: Path) -> None:
    shown = belay(tmp_path / "new", "calibration")
    assert shown.returncode == 3
    assert "belay sync" in shown.stderr
    assert shown.stdout == ""


async def test_everyday_questions_score_in_a_chat_as_they_did_in_the_calibration(
    home: Path, figures: dict[str, Any]
) -> None:
    """The shares are of use only when they speak about the machine that answers."""
    async with opened(Settings(home=home, web=False)) as app:
        for question in probes()["en"][:5]:
            found = await app.machine.answer(app.question(question))
            best = found.trace.candidates[0].u
            values = figures["questions"]["en"]["everyday"]["values"]
            assert min(abs(best - value) for value in values) < 0.05, question
