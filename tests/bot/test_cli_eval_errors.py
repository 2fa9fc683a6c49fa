"""What `belay eval` says when it cannot measure."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_kit import EXAMPLES, Belay

GOOD = '{"question": "which port does zebra use", "gold_docs": ["a.md"]}\n'


@pytest.mark.parametrize(
    ("text", "docs", "code", "words"),
    [
        (None, EXAMPLES, 3, ("questions.jsonl",)),
        ("", EXAMPLES, 3, ("questions.jsonl", "no questions")),
        (GOOD + '{"question": "x"\n', EXAMPLES, 3, ("questions.jsonl:2",)),
        (GOOD, None, 2, ("--docs",)),
        (GOOD, Path("missing"), 3, ("missing", "does not exist")),
    ],
)
def test_input_that_cannot_be_measured(
    tmp_path: Path, text: str | None, docs: Path | None, code: int, words: tuple[str, ...]
) -> None:
    questions = tmp_path / "questions.jsonl"
    if text is not None:
        questions.write_text(text)
    options = ("--docs", docs) if docs else ()
    ended = Belay(tmp_path / "home")("eval", questions, *options)
    assert ended.code == code
    assert not [word for word in words if word not in ended.err], ended.err
    ended.without_frames()


def test_types_that_do_not_exist(tmp_path: Path) -> None:
    (tmp_path / "types.jsonl").write_text('{"question": "why", "type": "riddle"}\n')
    Belay(tmp_path / "home")("eval", "types", "types.jsonl").failed(3, "riddle", "factual")
