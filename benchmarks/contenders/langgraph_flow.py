"""Measures LangGraph's flow: its vector store, its chains, its graph, our passages."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel, SimpleChatModel
from langchain_core.messages import BaseMessage
from langchain_core.vectorstores import InMemoryVectorStore
from pydantic import InstanceOf

from benchmarks.contenders.blocking import BlockingEmbedder, blocking
from benchmarks.contenders.corrective_graph import build
from benchmarks.contenders.instant import ANSWER, Judge
from benchmarks.contenders.job import Asked, Figures, Job, Sample, Stopwatch, Verdicts


class Vectors(Embeddings):
    """Belay's builtin embedder as LangChain calls it."""

    def __init__(self, embedder: BlockingEmbedder) -> None:
        self._embedder = embedder

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return self._embedder.passages(texts)

    def embed_query(self, text: str) -> list[float]:
        return self._embedder.question(text)


class InstantModel(SimpleChatModel):
    """Grades when it is asked to grade, and otherwise gives one sentence."""

    judge: InstanceOf[Judge]
    grades: bool

    @property
    def _llm_type(self) -> str:
        return "instant"

    def _call(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> str:
        self.judge.calls += 1
        if not self.grades:
            return ANSWER
        return "yes" if self.judge.relevant(str(messages[-1].content)) else "no"


def measure(job: Job) -> Sequence[Figures]:
    """Every question judged in each way. Opens a thread for the embedder, and ends it."""
    with blocking() as embedder:
        judge = Judge()
        store = InMemoryVectorStore(Vectors(embedder))
        store.add_documents([Document(page_content=passage.text) for passage in job.passages])
        grader: BaseChatModel = InstantModel(judge=judge, grades=True)
        writer: BaseChatModel = InstantModel(judge=judge, grades=False)
        flow = build(store.as_retriever(), grader, writer, _web(judge))
        flow.invoke({"question": job.questions[0].text})
        return [_figures(flow, judge, job, verdicts) for verdicts in Verdicts]


def _web(judge: Judge) -> Any:
    return lambda query, limit: [text for _, _, text in judge.search(limit)]


def _figures(flow: Any, judge: Judge, job: Job, verdicts: Verdicts) -> Figures:
    judge.verdicts = verdicts
    samples = tuple(_sample(flow, judge, job, question) for question in job.questions)
    return Figures(f"LangGraph {version('langgraph')} tutorial", verdicts, samples)


def _sample(flow: Any, judge: Judge, job: Job, question: Asked) -> Sample:
    judge.turn_to(job.gold(question))
    with Stopwatch() as watch:
        flow.invoke({"question": question.text})
    return Sample(judge.calls, judge.searches, watch.milliseconds, watch.cpu)
