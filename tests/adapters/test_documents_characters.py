"""Characters that a format can write by an entity or an escape, and that no text may hold."""

from __future__ import annotations

import json

import pytest
from document_kit import pdf
from fpdf import FPDF

from adapters.documents import create
from adapters.documents.pdf import convert as convert_pdf
from bot.ingest.parse import Converted
from bot.ingest.reader import ReadingLimits

ODD = "\x1b[2J\x07\u202e\u200b\x00\x9b\r"


def page() -> Converted:
    entities = "".join(f"&#{ord(ch)};" for ch in ODD)
    return create()[".html"](f"<title>Port{entities}s</title><p>Port{entities} 8443</p>")


def notebook() -> Converted:
    cell = {"cell_type": "markdown", "source": [f"# Port{ODD}s\n", f"Port{ODD} 8443"]}
    printed = {"output_type": "stream", "text": f"{ODD} 8443"}
    code = {"cell_type": "code", "source": f"x = '{ODD}'", "outputs": [printed]}
    return create()[".ipynb"](json.dumps({"cells": [cell, code], "nbformat": 4}))


def paper() -> Converted:
    def write(paper: FPDF) -> None:
        paper.set_font("Helvetica")
        paper.cell(text="Port\x1b[2J\x07 8443")

    return convert_pdf(pdf(write), ReadingLimits())


@pytest.mark.parametrize("read", [page, notebook, paper])
def test_nothing_moves_the_cursor_or_hides(read: object) -> None:
    assert callable(read)
    converted = read()
    assert "8443" in converted.markdown
    shown = converted.markdown.replace("\n", "") + converted.title
    assert shown.isprintable()
    assert "\u202e" not in shown
