"""`belay sessions`: a history goes in, becomes findable, and is listed without its words."""

from __future__ import annotations

import json
from pathlib import Path

from cli_kit import Belay

SESSION = {
    "place": "slack:C1",
    "at": "2026-09-01T09:00:00Z",
    "turns": [
        {"who": "slack:U1", "text": "the codeword for the window tonight is ORCA-77"},
        {"who": "slack:U2", "text": "noted, I wait for the codeword before I begin"},
    ],
}


def test_a_history_is_imported_indexed_and_listed(indexed: Belay, tmp_path: Path) -> None:
    belay = indexed.copy(tmp_path / "home")
    history = tmp_path / "history.jsonl"
    history.write_text(json.dumps(SESSION), encoding="utf-8")
    done = belay("sessions", "import", str(history))
    assert done.code == 0, done.err
    assert "history.jsonl: 1 sessions, 2 turns" in done.out
    assert "2 passages, 2 new, 0 removed" in done.out
    assert "2 passages, 0 new, 0 removed" in belay("sessions", "index").out
    (row,) = belay("sessions", "list", "--json").json
    assert (row["place"], row["turns"]) == ("slack:C1:chat", 2)
    assert "ORCA" not in belay("sessions", "list").out


def test_what_was_said_is_told_in_no_terminal(indexed: Belay, tmp_path: Path) -> None:
    """A terminal is no place of a conversation: the documents alone answer there."""
    belay = indexed.copy(tmp_path / "home")
    history = tmp_path / "history.jsonl"
    history.write_text(json.dumps(SESSION), encoding="utf-8")
    belay("sessions", "import", str(history))
    assert "ORCA" not in belay("ask", "what was the codeword for the window").out


def test_a_file_that_is_no_history_is_named(indexed: Belay, tmp_path: Path) -> None:
    belay = indexed.copy(tmp_path / "home")
    wrong = tmp_path / "notes.csv"
    wrong.write_text("a;b", encoding="utf-8")
    belay("sessions", "import", str(wrong)).failed(3, "notes.csv", ".jsonl")
