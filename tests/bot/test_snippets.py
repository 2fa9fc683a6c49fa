"""Negatives: sentences that stand in for questions an index does not answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.ingest.snippets import PER_LANGUAGE, Copies, Snippet, file_name, prose, sample
from graph.model import Language, Passage, SourceType
from graph.text import WORD

SENTENCE = "The gateway is restarted by the engineer on duty every night."
RUSSIAN = "Дежурный инженер перезапускает платёжный шлюз каждую ночь после полуночи."


def passage(text: str, document: str = "a.md", language: Language = "en") -> Passage:
    return Passage(
        f"{document}:{text}", "docs", SourceType.FOLDER, document, "T", (), text, "",
        language=language,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        (SENTENCE, [SENTENCE]),
        (f"- {SENTENCE}", [SENTENCE]),
        (f"> {SENTENCE}\n\n{RUSSIAN}", [SENTENCE, RUSSIAN]),
        (f"1. {SENTENCE}\n2. {SENTENCE}", [SENTENCE, SENTENCE]),
        ("Too short.", []),
        ("word " * 19 + ".", []),
        ("Run `systemctl restart gateway` on the host that is down now.", []),
        (f"```\n{SENTENCE}\n```", []),
        (f"~~~\n{SENTENCE}", []),
        ("| gateway | it is restarted by the engineer every night |", []),
        ("The KubePodDown and KubeNodeDown alerts fire for db-02 and db-03 now.", []),
        ("", []),
    ],
)
def test_only_plain_sentences_of_a_question_s_length_count(
    markdown: str, expected: list[str]
) -> None:
    assert list(prose(markdown)) == expected


@given(st.text(max_size=300))
def test_any_text_yields_sentences_of_6_to_18_words(markdown: str) -> None:
    for sentence in prose(markdown):
        assert 6 <= len(WORD.findall(sentence)) <= 18
        assert "`" not in sentence


@pytest.mark.parametrize(
    ("left", "right"),
    [("a/KubePodDown.md", "b/kube-pod-down.md"), ("Disk full.md", "disk_full.rst")],
)
def test_copies_of_a_page_have_the_same_name(left: str, right: str) -> None:
    assert file_name(left) == file_name(right)
    assert file_name(left) != file_name("other.md")


def test_the_sample_is_the_same_for_the_same_passages_and_capped() -> None:
    passages = [
        passage(f"The gateway number {number} is restarted by somebody at night.", f"{number}.md")
        for number in range(PER_LANGUAGE + 20)
    ]
    passages += [passage(RUSSIAN, "ru.md", "ru")]
    chosen = sample(passages)
    assert len(chosen["en"]) == PER_LANGUAGE
    assert len({item.document for item in chosen["en"]}) == PER_LANGUAGE  # one from a chunk
    assert [item.text for item in chosen["ru"]] == [RUSSIAN]
    assert sample(passages) == chosen


def test_passages_without_prose_give_nothing() -> None:
    assert sample([passage("`code`"), passage("short")]) == {"en": [], "ru": []}


OTHERS = [
    passage(SENTENCE, "a.md"),
    passage("Something else is written here.", "a.md"),
    passage("Something else is written here too.", "old/A.rst"),
    passage("As everybody knows, " + SENTENCE.lower(), "copy.md"),
    passage("The gateway is restarted, says nobody.", "other.md"),
]


@pytest.mark.parametrize(
    ("row", "excluded"), [(0, True), (1, True), (2, True), (3, True), (4, False)]
)
def test_a_snippet_is_not_asked_of_its_own_page_a_namesake_or_a_copy(
    row: int, excluded: bool
) -> None:
    snippet = Snippet(SENTENCE, "en", "docs/a.md", file_name("a.md"))
    copies = Copies(OTHERS)
    assert copies.excluded(snippet, row) is excluded
    assert copies.excluded(snippet, row) is excluded  # remembered
