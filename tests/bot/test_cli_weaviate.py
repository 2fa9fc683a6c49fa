"""The command line with an index in a Weaviate server."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_kit import Belay
from contract.index_chunks import NEEDS_WEAVIATE

AWAY = {"WEAVIATE_URL": "http://127.0.0.1:9", "WEAVIATE__START_TIMEOUT": "0.1"}
PAGE = "# Zebra\n\nThe zebra service listens on port 4711.\n"
TO_SQLITE = ("--from", "weaviate", "--to", "sqlite")
QUESTION = "Which port does the zebra service listen on?"


@pytest.mark.parametrize("command", [("doctor",), ("ask", QUESTION), ("sync",), ("sources",)])
def test_a_server_that_is_away_is_named(tmp_path: Path, command: tuple[str, ...]) -> None:
    """With what to do, and without a trace of Python."""
    said = Belay(tmp_path / "home").with_(**AWAY)(*command)
    assert said.code != 0
    text = said.out + said.err
    assert "Weaviate does not answer: http://127.0.0.1:9." in text
    assert "BELAY_WEAVIATE_URL" in text
    assert "Traceback" not in text


@NEEDS_WEAVIATE
def test_homes_share_what_one_of_them_synced(tmp_path: Path, weaviate: dict[str, str]) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "zebra.md").write_text(PAGE)
    first = Belay(tmp_path / "first").with_(**weaviate)
    assert "1 indexed" in first("sync", str(tmp_path / "docs")).out
    second = Belay(tmp_path / "second").with_(**weaviate)
    assert "4711" in second("ask", QUESTION).out
    assert "answers and takes changes" in second("doctor").out
    assert not list(tmp_path.glob("*/index.db"))


@NEEDS_WEAVIATE
def test_teams_share_collections_and_nothing_else(tmp_path: Path, weaviate: dict[str, str]) -> None:
    """Each answers from its own documents, before and after it built its index anew."""
    other = PAGE.replace("4711", "5822")
    teams = []
    for name, page in (("acme", PAGE), ("globex", other)):
        docs = tmp_path / f"docs-{name}"
        docs.mkdir()
        (docs / "zebra.md").write_text(page)
        belay = Belay(tmp_path / name).with_(
            **weaviate, WEAVIATE__MULTI_TENANCY="true", ACCESS__TENANT=name
        )
        assert "1 indexed" in belay("sync", docs).out
        teams.append(belay)
    acme, globex = teams
    rebuilt = acme("sync", "--rebuild")
    assert rebuilt.code == 0, rebuilt.err
    for belay, port in ((acme, "4711"), (globex, "5822")):
        assert port in belay("ask", QUESTION).out
    assert "tenant 'acme' is active" in acme("doctor").out
    acme.with_(WEAVIATE__MULTI_TENANCY="false")("sources").failed(6, "with tenants")
    there = acme("migrate", *TO_SQLITE)
    assert "1 copied" in there.out, there.err
