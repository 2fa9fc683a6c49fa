"""The contender built from LangGraph's documentation takes the documented path."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.retrievers import BaseRetriever

from benchmarks.contenders.corrective_graph import WEB_RESULTS, build


class Shelf(BaseRetriever):
    """Finds the same passages for every question."""

    texts: list[str]

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        return [Document(page_content=text) for text in self.texts]


class Web:
    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []

    def __call__(self, query: str, limit: int) -> Sequence[str]:
        self.asked.append((query, limit))
        return ["from the web"]


def run(grades: list[str], written: list[str]) -> tuple[list[str], dict[str, object], Web]:
    """The nodes in the order they ran, the last state, and the web."""
    web = Web()
    flow = build(
        Shelf(texts=[f"passage {number}" for number in range(len(grades))]),
        FakeListChatModel(responses=grades),
        FakeListChatModel(responses=written),
        web,
    )
    path: list[str] = []
    state: dict[str, object] = {}
    for step in flow.stream({"question": "how do I restart it?"}):
        for node, update in step.items():
            path.append(node)
            state |= update
    return path, state, web


def test_relevant_passages_are_answered_from_without_the_web() -> None:
    path, state, web = run(["yes", " Yes\n"], ["restart the pod"])
    assert path == ["retrieve", "grade_documents", "generate"]
    assert state["generation"] == "restart the pod"
    assert web.asked == []


@pytest.mark.parametrize("grades", [["yes", "no"], ["no", "no"], ["yes", "perhaps"]])
def test_one_irrelevant_passage_rewords_the_question_and_searches_the_web(
    grades: list[str],
) -> None:
    path, state, web = run(grades, ["reworded", "the answer"])
    assert path == [
        "retrieve", "grade_documents", "transform_query", "web_search", "generate",
    ]  # fmt: skip
    assert web.asked == [("reworded", WEB_RESULTS)]
    assert state["generation"] == "the answer"


def test_irrelevant_passages_are_dropped_and_web_results_added() -> None:
    _, state, _ = run(["no", "yes"], ["reworded", "the answer"])
    documents = state["documents"]
    assert isinstance(documents, list)
    assert [document.page_content for document in documents] == ["passage 1", "from the web"]
