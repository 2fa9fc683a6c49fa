"""Measures LlamaIndex's corrective-RAG pack. Runs in `.venv-bench`: a Job comes in, Figures go out.

The constructor of `CorrectiveRAGPack` 0.3.1, its newest release, raises RuntimeError ("no running
event loop") in a script and ValueError inside a loop. Its workflow, where all its steps are, is a
public class and runs inside a loop up to llama-index-core 0.12.42; later ones took away
`Context.data`, where the steps keep their state. So the workflow is run as the constructor would,
and the three things that would go over the network are replaced in that public state: the model
that grades, the model that writes, and the web search.
"""

from __future__ import annotations

import asyncio
import sys
import warnings
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

warnings.simplefilter("ignore")  # the pack's releases and pydantic's disagree, at length

from llama_index.core import Document, Settings  # noqa: E402 - after the filter
from llama_index.core.embeddings import BaseEmbedding  # noqa: E402
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata  # noqa: E402
from llama_index.core.query_pipeline.query import QueryPipeline  # noqa: E402
from llama_index.packs.corrective_rag import base as pack  # noqa: E402
from pydantic import InstanceOf  # noqa: E402

from benchmarks.contenders.blocking import BlockingEmbedder, blocking  # noqa: E402
from benchmarks.contenders.instant import ANSWER, Judge  # noqa: E402
from benchmarks.contenders.job import (  # noqa: E402
    Asked,
    Figures,
    Job,
    Sample,
    Stopwatch,
    Verdicts,
    dump_figures,
)

_CONTEXT_WINDOW = 128_000  # tokens: the answer is one call
_BATCH = 256  # texts
_CHUNK_SIZE = 4096  # tokens: passages stay as they are


class Vectors(BaseEmbedding):
    """Belay's builtin embedder as LlamaIndex calls it."""

    embedder: InstanceOf[BlockingEmbedder]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self.embedder.question(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self.embedder.question(query)

    def _get_text_embedding(self, text: str) -> list[float]:
        return self.embedder.passages([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return self.embedder.passages(texts)


class InstantModel(CustomLLM):
    """Grades when it is asked to grade, and otherwise gives one sentence."""

    judge: InstanceOf[Judge]
    grades: bool

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=_CONTEXT_WINDOW, is_chat_model=True)

    def complete(self, prompt: str, *args: Any, **kwargs: Any) -> CompletionResponse:
        self.judge.calls += 1
        if not self.grades:
            return CompletionResponse(text=ANSWER)
        return CompletionResponse(text="yes" if self.judge.relevant(prompt) else "no")

    def stream_complete(self, prompt: str, *args: Any, **kwargs: Any) -> Any:
        yield self.complete(prompt)


class InstantWeb:
    """In the place of the pack's Tavily tool."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    def search(self, query: str, max_results: int = 6) -> list[Document]:
        return [Document(text=text) for _, _, text in self._judge.search(max_results)]


async def measure(job: Job, embedder: BlockingEmbedder) -> Sequence[Figures]:
    """Every question judged in each way."""
    judge = Judge()
    workflow, context = await _opened(job, judge, embedder)
    await workflow.run(ctx=context, query_str=job.questions[0].text)
    found = []
    for verdicts in Verdicts:
        judge.verdicts = verdicts
        samples = [await _sample(workflow, context, judge, job, item) for item in job.questions]
        name = f"LlamaIndex pack {version('llama-index-packs-corrective-rag')}"
        found.append(Figures(name, verdicts, tuple(samples)))
    return found


async def _opened(job: Job, judge: Judge, embedder: BlockingEmbedder) -> tuple[Any, Any]:
    """The pack's workflow over the passages, and the context that holds its index."""
    grader = InstantModel(judge=judge, grades=True)
    writer = InstantModel(judge=judge, grades=False)
    Settings.llm = writer
    Settings.embed_model = Vectors(embedder=embedder, embed_batch_size=_BATCH)
    Settings.chunk_size = _CHUNK_SIZE
    workflow = pack.CorrectiveRAGWorkflow(timeout=None)
    documents = [Document(text=passage.text) for passage in job.passages]
    ingesting = workflow.run(documents=documents, tavily_ai_apikey="none")
    await ingesting
    context = ingesting.ctx
    context.data["relevancy_pipeline"] = _pipeline(pack.DEFAULT_RELEVANCY_PROMPT_TEMPLATE, grader)
    context.data["transform_query_pipeline"] = _pipeline(
        pack.DEFAULT_TRANSFORM_QUERY_TEMPLATE, writer
    )
    context.data["tavily_tool"] = InstantWeb(judge)
    return workflow, context


def _pipeline(template: Any, model: InstantModel) -> QueryPipeline:
    return QueryPipeline(chain=[template, model])


async def _sample(workflow: Any, context: Any, judge: Judge, job: Job, question: Asked) -> Sample:
    judge.turn_to(job.gold(question))
    with Stopwatch() as watch:
        await workflow.run(ctx=context, query_str=question.text)
    return Sample(judge.calls, judge.searches, watch.milliseconds, watch.cpu)


def main() -> None:
    job = Job.loads(sys.stdin.read())
    with blocking() as embedder:
        figures = asyncio.run(measure(job, embedder))
    sys.stdout.write(dump_figures(figures))


if __name__ == "__main__":
    main()
