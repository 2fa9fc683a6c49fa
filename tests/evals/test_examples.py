"""The example questions are true of the example documents."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from graph.model import LEVELS, Language, QueryType, Status

EXAMPLES = Path(__file__).parents[2] / "examples"
DOCUMENTS = {
    path.relative_to(EXAMPLES / "docs").as_posix(): path.read_text(encoding="utf-8")
    for path in sorted((EXAMPLES / "docs").rglob("*"))
    if path.is_file()
}
QUESTIONS: list[dict[str, Any]] = [
    json.loads(line)
    for line in (EXAMPLES / "questions.jsonl").read_text(encoding="utf-8").splitlines()
]
CATEGORIES = {
    "en_en", "ru_ru", "ru_en", "en_ru", "symptom_en", "symptom_ru", "multi_doc",
    "near_absent_entity", "near_absent_detail", "offtopic", "half_covered",
}  # fmt: skip
GATES = {"must_answer", "must_abstain", None}
LONGEST_DOCUMENT = 120  # lines: a page that somebody reads at night
PARTS = [(row["id"], part) for row in QUESTIONS for part in row["gold_parts"]]


def front_matter(text: str) -> dict[str, Any]:
    head = re.match(r"---\n(.*?)\n---\n", text, re.DOTALL)
    return yaml.safe_load(head.group(1)) if head else {}


def by_id(row: dict[str, Any]) -> str:
    return str(row["id"])


def test_questions_are_many_and_each_has_its_own_id_and_wording() -> None:
    assert len(QUESTIONS) >= 60
    assert len({row["id"] for row in QUESTIONS}) == len(QUESTIONS)
    assert len({row["question"] for row in QUESTIONS}) == len(QUESTIONS)


def test_every_category_and_gate_is_present() -> None:
    assert {row["category"] for row in QUESTIONS} == CATEGORIES
    gates = Counter(row["gate"] for row in QUESTIONS)
    assert set(gates) == GATES
    assert gates["must_answer"] >= 25
    assert gates["must_abstain"] >= 15


@pytest.mark.parametrize("row", QUESTIONS, ids=by_id)
def test_fields_agree_with_each_other(row: dict[str, Any]) -> None:
    assert row["lang"] in get_args(Language)
    QueryType(row["type"])
    parts = row["gold_parts"]
    assert row["answerable"] == bool(parts)
    assert row["gold_docs"] == list(dict.fromkeys(part["doc"] for part in parts))
    assert row["gold_quote"] == (parts[0]["quote"] if parts else "")
    expected = "none" if not parts else "half" if row["category"] == "half_covered" else "full"
    assert row["coverage"] == expected
    if row["gate"] == "must_answer":
        assert row["coverage"] == "full"
    if row["gate"] == "must_abstain":
        assert not row["answerable"]


@pytest.mark.parametrize("row", QUESTIONS, ids=by_id)
def test_question_language_is_the_one_it_is_written_in(row: dict[str, Any]) -> None:
    cyrillic = re.search("[а-яё]", row["question"], re.IGNORECASE) is not None
    assert cyrillic == (row["lang"] == "ru")


@pytest.mark.parametrize(("identifier", "part"), PARTS)
def test_quotes_stand_word_for_word_in_their_documents(
    identifier: str, part: dict[str, Any]
) -> None:
    assert part["quote"].strip(), identifier
    assert part["quote"] in DOCUMENTS[part["doc"]], identifier
    assert set(part["alt_docs"]) <= set(DOCUMENTS), identifier


@pytest.mark.parametrize("row", QUESTIONS, ids=by_id)
def test_absent_terms_occur_in_no_document(row: dict[str, Any]) -> None:
    terms = row.get("absent_terms", [])
    assert terms or (row["answerable"] and row["coverage"] == "full")
    for term in terms:
        assert [name for name, text in DOCUMENTS.items() if re.search(term, text)] == []
    assert set(row.get("trap_docs", [])) <= set(DOCUMENTS)


@pytest.mark.parametrize("row", QUESTIONS, ids=by_id)
def test_no_answer_rests_on_a_superseded_document(row: dict[str, Any]) -> None:
    for name in row["gold_docs"]:
        status = front_matter(DOCUMENTS[name]).get("status", Status.PUBLISHED)
        assert Status(status) is Status.PUBLISHED, name


@pytest.mark.parametrize("name", [name for name in DOCUMENTS if name.endswith(".md")])
def test_documents_have_front_matter_that_ingestion_understands(name: str) -> None:
    text = DOCUMENTS[name]
    meta = front_matter(text)
    assert {"title", "owner", "updated_at", "labels", "audience"} <= set(meta)
    assert meta["audience"] in LEVELS
    Status(meta.get("status", Status.PUBLISHED))
    assert len(text.splitlines()) <= LONGEST_DOCUMENT


def test_documents_are_in_both_languages_and_several_formats() -> None:
    assert len(DOCUMENTS) >= 16
    assert sum(name.endswith(".ru.md") for name in DOCUMENTS) >= 5
    assert {Path(name).suffix for name in DOCUMENTS} >= {".md", ".rst", ".yaml"}


def test_services_table_and_environments_file_name_the_same_addresses() -> None:
    table = DOCUMENTS["reference/services.md"]
    environments = yaml.safe_load(DOCUMENTS["reference/environments.yaml"])["environments"]
    for environment in environments.values():
        for service in ("waybill-api", "tariff", "locker-gateway", "payout", "label-store"):
            address = f"`{environment[service]['host']}:{environment[service]['port']}`"
            assert address in table
