"""Sections that a page leaves empty, by asking for them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graph.model import Passage, SourceType
from graph.unwritten import is_unwritten, unwritten_section

STEPS = "what are the steps to mitigate it?"


def page(text: str) -> Passage:
    return Passage("1", "docs", SourceType.FOLDER, "a.md", "Lag", (), text, "a.md#L1")


@pytest.mark.parametrize(
    "body",
    ["", "TODO", "TBD.", "- [ ] TODO: ask Ann", "To be written.", "Coming soon!", "Дописать"],
)
def test_nothing_and_a_promise_are_empty(body: str) -> None:
    text = f"# Lag\n\nIt lags.\n\n## Mitigation\n\n{body}\n\n## Links\n\nSee the wiki.\n"
    assert unwritten_section(STEPS, page(text)) == "Mitigation"


@pytest.mark.parametrize(
    ("question", "title"),
    [
        (STEPS, "Resolution"),
        ("how do we fix the lag?", "How to fix"),
        ("what should I do about the lag", "Actions"),
        ("как исправить lag", "Решение"),
        ("что делать при lag", "Что делать"),
        ("how do I diagnose the lag?", "Diagnosis"),
        ("what is the impact of the lag?", "Impact"),
        ("какие последствия у lag", "Последствия"),
    ],
)
def test_a_section_is_known_by_its_usual_names(question: str, title: str) -> None:
    text = f"# Lag\n\nThe lag is long.\n\n## {title}\n\nTODO\n"
    assert unwritten_section(question, page(text)) == title
    assert unwritten_section(question, page(text.replace("TODO", "Restart the consumer."))) == ""


@pytest.mark.parametrize(
    "text",
    [
        "# Lag\n\n## Mitigation\n\nTODO\n\n## Steps\n\n1. Restart the consumer.\n",
        "# Lag\n\n## Mitigation\n\n### Short term\n\nRestart the consumer.\n",
        "# Lag\n\n## Mitigation\n\n```bash\nkubectl rollout restart deploy/consumer\n```\n",
        "# Lag\n\n## Impact\n\nTODO\n\nRestart the consumer.\n",
        "Restart the consumer. TODO: why?\n",
    ],
)
def test_what_is_written_elsewhere_on_the_page_is_not_missed(text: str) -> None:
    assert unwritten_section(STEPS, page(text)) == ""


def test_another_question_about_the_page_is_not_held_back() -> None:
    text = "# Lag\n\n## Meaning\n\nThe lag is over 5 minutes.\n\n## Mitigation\n\nTODO\n"
    assert unwritten_section("how long is the lag?", page(text)) == ""
    assert unwritten_section("what does the lag alert mean?", page(text)) == ""


def test_the_end_of_a_piece_says_nothing_about_what_follows() -> None:
    piece = page("# Lag\n\nThe lag is long.\n\n## Mitigation\n")
    assert unwritten_section(STEPS, piece) == "Mitigation"
    assert unwritten_section(STEPS, replace(piece, document_chunks=3)) == ""


@pytest.mark.parametrize("text", ["Check the todo list first.", "The host will be added later."])
def test_a_sentence_that_mentions_such_a_word_is_text(text: str) -> None:
    assert not is_unwritten(text)
