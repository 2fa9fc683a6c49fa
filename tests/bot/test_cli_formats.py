"""`belay sync` and `belay ask` over documents of every format, as a team has them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_kit import Belay

from tests.adapters.document_kit import Paper, excel, heavy_word, packed, pdf, sheet, word

MAILER = """<html><head><title>OPS : Restart the mailer</title></head><body>
<ol id="breadcrumbs"><li>Operations</li><li>Mail</li></ol><div id="main-content">
<h2>Steps</h2><p>Stop the mailer queue first.</p>
<div class="confluence-information-macro confluence-information-macro-warning">
<p>Never restart the mailer before 06:40 UTC.</p></div></div></body></html>"""
NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "source": "# Drill\nThe failover drill is every second Tuesday."}
    ]
}
ANSWERS = [
    ("how long must the gateway drain?", "90 seconds", "gateway.pdf#page=2"),
    ("when does the ledger close?", "23:40 UTC", "ledger.docx"),
    ("what is the staging port of svc-083?", "9083", "services.xlsx#Ports!A"),
    ("what is the retention of orders-q117?", "117h", "queues.csv#L"),
    ("when is the failover drill?", "second Tuesday", "drill.ipynb"),
    ("when must the mailer never be restarted?", "06:40", "export.zip#Operations/Mail/Restart"),
    ("what happens to carts when the cache is purged?", "dropped", "purge.md#L"),
]


def gateway(paper: Paper) -> None:
    paper.title_line("Restarting")
    paper.text_block("The gateway must drain for 90 seconds before it is restarted.")


def folder(place: Path) -> Path:
    place.mkdir()
    ports = [["service", "prod port", "staging port"]]
    ports += [[f"svc-{n:03}", str(8000 + n), str(9000 + n)] for n in range(1, 91)]
    queues = "queue;broker;retention\n"
    queues += "".join(f"orders-q{n:03};mq-{n};{n}h\n" for n in range(1, 121))
    files: dict[str, bytes | str] = {
        "gateway.pdf": pdf("What the gateway is for.", gateway, lambda paper: paper.picture()),
        "ledger.docx": word(lambda d: d.add_paragraph("The ledger closes at 23:40 UTC each day.")),
        "services.xlsx": excel(lambda book: sheet(book, "Ports", ports)),
        "queues.csv": queues,
        "drill.ipynb": json.dumps(NOTEBOOK),
        "export.zip": packed({"ops/Restart_1.html": MAILER, "ops/attachments/1/x.png": b"x"}),
        "purge.md": "# Purge\n\n!!! danger\n    Carts are dropped when the cache is purged.\n",
    }
    for name, content in files.items():
        (place / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return place


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Belay:
    home = tmp_path_factory.mktemp("formats")
    belay = Belay(home / "home").with_(WEB="false")
    ended = belay("sync", folder(home / "docs"))
    assert ended.code == 0, ended.err
    assert "docs: 7 indexed" in ended.out
    assert "gateway.pdf: page 3: no text layer" in ended.out
    assert "export.zip/ops/attachments/1/x.png" in ended.out
    return belay


@pytest.mark.parametrize(("question", "fact", "place"), ANSWERS, ids=[a[2] for a in ANSWERS])
def test_the_answer_names_the_place_in_the_document(
    team: Belay, question: str, fact: str, place: str
) -> None:
    ended = team("ask", question)
    assert ended.code == 0, ended.out + ended.err
    assert fact in ended.out
    assert f"— {place}" in ended.out


def test_sources_name_what_was_left_out(team: Belay) -> None:
    ended = team("sources")
    assert "docs/gateway.pdf: page 3: no text layer" in ended.out
    assert "docs/export.zip/ops/attachments/1/x.png: skipped, attachment" in ended.out


def test_a_crash_of_the_parser_costs_one_file(tmp_path: Path) -> None:
    """A document that needs more time than allowed is told, and the others are indexed."""
    place = tmp_path / "docs"
    place.mkdir()
    (place / "slow.docx").write_bytes(heavy_word())
    (place / "good.md").write_text("# Good\n\nThe good service listens on port 4711.\n")
    belay = Belay(tmp_path / "home").with_(INGEST__SECONDS="0.5", WEB="false")
    ended = belay("sync", place)
    assert ended.code == 0, ended.err
    ended.without_frames()
    assert "docs: 1 indexed" in ended.out
    assert "slow.docx (reading it took over 0.5 s)" in ended.out
