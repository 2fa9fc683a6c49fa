"""Builds the graph and runs questions through it.

A question always ends in one Answer: when a dependency breaks, the answer says which and carries
an error id; nothing is raised to the caller except cancellation.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Protocol, cast, get_args, get_type_hints

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command

from graph import routes
from graph.errors import IndexEmpty, StoreError
from graph.lexicon import Lexicon
from graph.model import Answer, Outcome, Question, Scope
from graph.nodes.classify import classify
from graph.nodes.contextualize import contextualize, understood
from graph.nodes.decline import decline
from graph.nodes.decompose import decompose
from graph.nodes.generate import generate
from graph.nodes.grade import grade
from graph.nodes.retrieve import retrieve
from graph.nodes.verify import verify
from graph.nodes.web import web
from graph.phrases import say
from graph.policy import Limits, Policy
from graph.ports import Ports
from graph.retrieval import Found, find
from graph.state import Context, Stage, State, Token
from graph.text import question_language
from graph.trace import Trace, trace

log = logging.getLogger(__name__)


class Node(Protocol):
    """One step of the graph: reads the state, returns what it changes."""

    def __call__(self, state: State, *, runtime: Runtime[Context]) -> Awaitable[State]: ...


NODES: dict[str, Node] = {
    "contextualize": contextualize,
    "classify": classify,
    "retrieve": retrieve,
    "grade": grade,
    "decompose": decompose,
    "web": web,
    "generate": generate,
    "verify": verify,
    "decline": decline,
}


@dataclass(frozen=True, slots=True)
class Finished:
    """The last event of a run."""

    answer: Answer
    trace: Trace


_FAILURES: tuple[tuple[type[Exception], str], ...] = (
    (TimeoutError, "deadline"),
    (IndexEmpty, "index_empty"),
    (StoreError, "index_down"),
)

Event = Stage | Token | Finished


Choose = Callable[[State, Context], str]
CHOICES: dict[str, Choose] = {
    "contextualize": routes.after_contextualize,
    "grade": routes.after_grade,
    "decompose": routes.after_decompose,
    "verify": routes.after_verify,
}


def build() -> Any:  # LangGraph's compiled type has four parameters and says no more than this
    """The compiled graph; docs/architecture.md shows its picture, drawn from this function."""
    graph = StateGraph(State, context_schema=Context)
    for name, node in NODES.items():
        choose = CHOICES.get(name)
        graph.add_node(name, _step(name, node, choose), destinations=_places(choose))
    graph.add_edge(START, "contextualize")
    graph.add_edge("classify", "retrieve")
    graph.add_edge("retrieve", "grade")
    graph.add_edge("web", "grade")
    graph.add_edge("generate", "verify")
    graph.add_edge("decline", END)
    return graph.compile()


def _places(choose: Choose | None) -> tuple[str, ...] | None:
    """The nodes that may follow: what the function of graph/routes.py says it returns."""
    return None if choose is None else get_args(get_type_hints(choose)["return"])


def _step(name: str, node: Node, choose: Choose | None) -> Callable[..., Awaitable[Any]]:
    """A node with its time taken, and with the choice of the next one where there is a choice: a
    conditional edge of LangGraph would copy and write the whole state once more to choose by."""

    async def run(state: State, *, runtime: Runtime[Context]) -> State | Command[str]:
        started = time.perf_counter()
        update = await node(state, runtime=runtime)
        elapsed = (time.perf_counter() - started) * 1000
        log.debug("%s took %.1f ms", name, elapsed)
        update = {**update, "milliseconds": ((name, elapsed),)}
        if choose is None:
            return update
        return Command(update=update, goto=choose({**state, **update}, runtime.context))

    return run


async def _next(steps: AsyncGenerator[Any, None], deadline: float) -> tuple[str, Any] | None:
    """The next step, None after the last. Raises TimeoutError at `deadline` (loop time).

    A time-out around the whole loop would also cancel whoever is busy showing an event.
    """
    async with asyncio.timeout_at(deadline):
        return await anext(steps, None)


@dataclass(slots=True)
class _Run:
    """A question on its way through the graph: what is known of it so far."""

    question: Question
    state: State = field(init=False)
    started: float = field(default_factory=time.perf_counter)
    began: float = field(default_factory=time.time)

    def __post_init__(self) -> None:
        self.state = {"question": self.question}

    def finished(self, answer: Answer, policy: Policy) -> Finished:
        total = (time.perf_counter() - self.started) * 1000
        return Finished(answer, replace(trace(self.state, answer, policy, total), began=self.began))


class Machine:
    """Answers questions with one set of ports. Safe for many questions at once."""

    def __init__(
        self,
        ports: Ports,
        policy: Policy | None = None,
        limits: Limits | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.ports = ports
        self.policy = policy or Policy()
        self.limits = limits or Limits()
        self._now = now
        self._lexicon = Lexicon(ports.words)
        self._graph = build()

    def ask(self, question: Question) -> AsyncGenerator[Event, None]:
        """Stages and tokens as they come, and Finished as the last event."""
        return self._events(question)

    async def answer(self, question: Question) -> Finished:
        """The answer alone, for callers that do not stream."""
        run = _Run(question)
        try:
            deadline = self._deadline()
            async with (
                asyncio.timeout_at(deadline),
                aclosing(self._steps(question, deadline, "values")) as steps,
            ):
                async for payload in steps:
                    run.state = cast(State, payload)
            answer = run.state["answer"]
        except Exception as error:
            answer = self.failure(question, error)
        return run.finished(answer, self.policy)

    async def resolve(self, question: Question) -> State:
        """How the question reads without its history: nothing is searched for or answered."""
        return await understood(question, self._context(self._deadline()))

    async def search(self, text: str, scope: Scope) -> Found:
        """The scored candidates for `text`, without a verdict, a model, or the web.

        Raises StoreError, TimeoutError.
        """
        deadline = self._deadline()
        async with asyncio.timeout_at(deadline):
            return await find(text, question_language(text), scope, self._context(deadline))

    async def _events(self, question: Question) -> AsyncGenerator[Event, None]:
        run = _Run(question)
        try:
            deadline = self._deadline()
            async with aclosing(self._steps(question, deadline, ["custom", "values"])) as steps:
                while (step := await _next(steps, deadline)) is not None:
                    mode, payload = step
                    if mode == "custom":
                        yield payload
                    else:
                        run.state = cast(State, payload)
            answer = run.state["answer"]
        except Exception as error:
            answer = self.failure(question, error)
        yield run.finished(answer, self.policy)

    def _deadline(self) -> float:
        return asyncio.get_running_loop().time() + self.limits.deadline

    def _steps(
        self, question: Question, deadline: float, modes: str | list[str]
    ) -> AsyncGenerator[Any, None]:
        """What LangGraph emits: payloads of one mode, or (mode, payload) of several."""
        stream: AsyncGenerator[Any, None] = self._graph.astream(
            {"question": question},
            config={"recursion_limit": self.limits.recursion},
            context=self._context(deadline),
            stream_mode=modes,
        )
        return stream

    def _context(self, deadline: float) -> Context:
        return Context(
            ports=self.ports,
            lexicon=self._lexicon,
            policy=self.policy,
            limits=self.limits,
            deadline=deadline,
            now=self._now,
        )

    def failure(self, question: Question, error: Exception) -> Answer:
        """The answer when something broke: the error goes to the log under an id; the person gets
        the id and a sentence."""
        error_id = uuid.uuid4().hex[:8]
        key = next((key for kind, key in _FAILURES if isinstance(error, kind)), "failed")
        level = logging.INFO if isinstance(error, IndexEmpty) else logging.ERROR
        log.log(level, "question failed: %s (error id %s)", key, error_id, exc_info=error)
        language = question_language(question.text)
        return Answer(
            question_id=question.id,
            outcome=Outcome.FAILED,
            text=say(key, language, error_id=error_id),
            language=language,
            error_id=error_id,
            cause=key,
        )
