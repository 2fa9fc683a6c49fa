"""An answer as canonical Markdown: its text, its confidence, its sources."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bot.reply import to_markdown
from bot.texts import text
from graph.model import Answer, Citation, Confidence, Language, Outcome, Passage, SourceType

NOW = datetime(2026, 3, 1, tzinfo=UTC)
PASSAGE = {
    "id": "c1",
    "source": "docs",
    "source_type": SourceType.FOLDER,
    "document": "db/backup.md",
    "title": "Backups",
    "heading": ("Backups", "Retention"),
    "text": "30 days",
    "uri": "db/backup.md#L12",
}


def cited(number: int = 1, **changes: object) -> Citation:
    return Citation(number, Passage(**{**PASSAGE, **changes}), 0.9)  # type: ignore[arg-type]


def shown(*citations: Citation, language: Language = "en", **changes: object) -> str:
    answer = Answer("q1", Outcome.ANSWERED, "They are kept 30 days [1].", language, citations)
    fields = {name: getattr(answer, name) for name in Answer.__slots__} | changes
    return to_markdown(Answer(**fields), now=NOW)


def test_the_text_comes_first_and_the_sources_after_it() -> None:
    lines = shown(cited(), confidence=Confidence.HIGH).split("\n")
    assert lines[0] == "They are kept 30 days [1]."
    assert lines[2] == "**Sources · confidence: high**"
    assert lines[4] == "- [1] Backups › Retention — db/backup.md#L12"


def test_the_frame_is_in_the_language_of_the_answer() -> None:
    updated = NOW - timedelta(days=400)
    told = shown(cited(updated_at=updated, owner="payments"), language="ru",
                 confidence=Confidence.LOW)  # fmt: skip
    assert "**Источники · уверенность: низкая**" in told
    assert "обновлено 2025-01-25" in told
    assert "мог устареть" in told
    assert "отвечает payments" in told


@pytest.mark.parametrize(("days", "stale"), [(364, False), (365, False), (366, True)])
def test_an_old_source_is_marked(days: int, stale: bool) -> None:
    told = shown(cited(updated_at=NOW - timedelta(days=days)))
    assert ("may be out of date" in told) is stale


def test_other_places_of_the_same_text_are_named() -> None:
    assert "also at old/a.md, copy/b.md" in shown(cited(also_at=("old/a.md", "copy/b.md")))


def test_a_source_without_an_address_is_named_by_its_path() -> None:
    assert "— db/backup.md" in shown(cited(uri=""))


def test_a_web_page_is_labelled_and_has_no_owner() -> None:
    page = cited(
        source_type=SourceType.WEB, uri="https://example.org/a", heading=(), owner="somebody",
        title="A page",
    )  # fmt: skip
    assert "- [1] A page — https://example.org/a (web)" in shown(page)
    assert "somebody" not in shown(page)


def test_an_answer_without_sources_is_its_text_alone() -> None:
    assert shown(text=" Not found. \n", citations=()) == "Not found."


def test_sources_keep_their_numbers() -> None:
    told = shown(cited(1), cited(3, uri="c.md#L1"))
    assert told.index("[1] Backups") < told.index("[3] Backups")


def test_a_note_stands_between_text_and_sources() -> None:
    told = shown(cited(), notes=("model_down",)).split("\n\n")
    assert len(told) >= 3
    assert told[0].startswith("They are kept")
    assert told[1].startswith("*")
    assert "Sources" in told[2]


def test_every_sentence_exists_in_both_languages() -> None:
    for language in ("en", "ru"):
        assert text("updated", language, date="2026-01-01").endswith("2026-01-01")
    with pytest.raises(KeyError):
        text("nonsense", "en")


def test_a_heading_that_only_spells_the_title_otherwise_is_not_repeated() -> None:
    cited_page = cited(title="Backups — where they are", heading=("Backups: where they are",))
    assert "[1] Backups — where they are — db/backup.md#L12" in shown(cited_page)
