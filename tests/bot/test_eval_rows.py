"""Labelled questions: what a line may say, and errors that name file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.errors import SourceError
from bot.evals.rows import Part, load_rows

GOOD = '{"question": "why?"}'


def wrote(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "questions.jsonl"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_a_row_has_its_facts_and_labels(tmp_path: Path) -> None:
    (row,) = load_rows(
        wrote(
            tmp_path,
            '{"id": "r1", "question": "a and b?", "lang": "ru", "category": "multi",'
            ' "type": "factual", "gate": "must_answer", "gold_parts": ['
            '{"doc": "a.md", "alt_docs": ["b.md"], "quote": "30 days"}, {"doc": "c.md"}]}',
        )
    )
    assert (row.id, row.question, row.lang, row.category) == ("r1", "a and b?", "ru", "multi")
    assert (row.type, row.gate, row.coverage) == ("factual", "must_answer", "full")
    assert row.parts == (
        Part(frozenset({"a.md", "b.md"}), "30 days"),
        Part(frozenset({"c.md"})),
    )
    assert row.answerable
    assert row.full


def test_documents_without_quotes_are_facts_too(tmp_path: Path) -> None:
    line = '{"question": "?", "gold_docs": ["a.md", "b.md"], "alt_docs": ["c.md"]}'
    (row,) = load_rows(wrote(tmp_path, line))
    assert [part.documents for part in row.parts] == [{"a.md", "c.md"}, {"b.md", "c.md"}]


@pytest.mark.parametrize(
    ("fields", "answerable", "full"),
    [
        ("", False, False),
        (', "gold_docs": ["a.md"]', True, True),
        (', "gold_docs": ["a.md"], "coverage": "half"', True, False),
        (', "gold_docs": ["a.md"], "answerable": false', False, False),
        (', "gold_docs": [], "answerable": true', True, True),
        (', "gold_docs": null, "answerable": null, "gate": null, "type": null', False, False),
    ],
)
def test_a_question_is_answerable_when_documents_hold_its_facts(
    tmp_path: Path, fields: str, answerable: bool, full: bool
) -> None:
    (row,) = load_rows(wrote(tmp_path, f'{{"question": "?"{fields}}}'))
    assert (row.answerable, row.full) == (answerable, full)


def test_a_row_without_an_id_is_named_by_its_place(tmp_path: Path) -> None:
    first, second = load_rows(wrote(tmp_path, f"\n{GOOD}\n\n{GOOD}\n"))
    assert (first.id, second.id) == ("questions:2", "questions:4")


def test_line_separators_inside_a_text_end_no_line(tmp_path: Path) -> None:
    (row,) = load_rows(wrote(tmp_path, '{"question": "a\u2028b\x85c"}\r\n'))
    assert row.question == "a\u2028b\x85c"


def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path: Path) -> None:
    assert len(load_rows(wrote(tmp_path, b"\xef\xbb\xbf" + GOOD.encode()))) == 1


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("not json", "questions.jsonl:2"),
        ('{"question": "cut', "questions.jsonl:2"),
        ("[1]", 'no "question"'),
        ("7", 'no "question"'),
        ("{}", 'no "question"'),
        ('{"question": 7}', 'no "question"'),
        ('{"question": "?", "gold_docs": "a.md"}', '"gold_docs" must be a list of texts'),
        ('{"question": "?", "gold_docs": [7]}', '"gold_docs" must be a list of texts'),
        ('{"question": "?", "alt_docs": {"a": 1}}', '"alt_docs" must be a list of texts'),
        ('{"question": "?", "gold_parts": ["a.md"]}', '"gold_parts" must be a list of objects'),
        ('{"question": "?", "gold_parts": [{"quote": "x"}]}', '"doc" must be a text'),
        ('{"question": "?", "gold_parts": [{"doc": []}]}', '"doc" must be a text'),
        ('{"question": "?", "answerable": "false"}', '"answerable" must be true or false'),
        ('{"question": "?", "lang": ["en"]}', '"lang" must be a text'),
    ],
)
def test_a_wrong_line_is_named_with_its_file(tmp_path: Path, line: str, says: str) -> None:
    with pytest.raises(SourceError) as caught:
        load_rows(wrote(tmp_path, f"{GOOD}\n{line}\n{GOOD}\n"))
    assert "questions.jsonl:2" in str(caught.value)
    assert says in str(caught.value)
    assert caught.value.remedy


@pytest.mark.parametrize("content", [b"", b"\n \n", b"\xff\xfe\x00", None])
def test_a_file_without_questions_is_refused(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "questions.jsonl" if content is None else wrote(tmp_path, content)
    with pytest.raises(SourceError, match=r"questions\.jsonl"):
        load_rows(path)
