"""The whole bot without a platform: a folder of documents, an index on disk, and a chat with it.

team = await a_team({"billing.md": "Billing listens on port 8081."})
chat = team.chat(model=ScriptedModel("It is 8081 [1]."))
await chat.says("which port does billing use?")
chat.sees("8081")
chat.cites("billing.md")
"""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from bot.app import App, open_index
from bot.ingest.report import SyncReport
from bot.library import Shelf, sync_shelf
from bot.progress import Silent
from bot.reply import to_markdown
from bot.settings import Settings
from graph.errors import ReplyUnusable
from graph.machine import Finished, Machine
from graph.model import Answer, Outcome, Question, SourceType, Turn
from graph.policy import Limits, Policy
from graph.ports import (
    ChatModel,
    Completion,
    Embedder,
    Matrix,
    Ports,
    Prompt,
    Retriever,
    Vector,
    WebSearch,
)
from graph.state import Stage, Token
from graph.trace import Trace

SOURCE = "docs"
NOW = datetime(2026, 3, 2, 3, 0, tzinfo=UTC)
Text = str | bytes
Files = Mapping[str, Text]


@dataclass
class Team:
    """A folder of documents, its index, and what a process needs to answer from them."""

    folder: Path
    home: Path
    app: App

    def write(self, files: Files) -> None:
        for name, content in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def delete(self, *names: str) -> None:
        for name in names:
            (self.folder / name).unlink()

    async def sync(self, *, allow_loss: bool = False) -> SyncReport:
        return await sync_shelf(
            self.app,
            Shelf(SOURCE, self.folder),
            home=self.home,
            progress=Silent(),
            allow_loss=allow_loss,
        )

    def chat(
        self,
        *,
        model: ChatModel | None = None,
        web: WebSearch | None = None,
        embedder: Embedder | None = None,
        retriever: Retriever | None = None,
        limits: Limits | None = None,
        policy: Policy | None = None,
        level: str = "",
    ) -> Chat:
        """A conversation of one person. The ports replace those of the application."""
        own = self.app.embedder
        ports = Ports(
            retriever or self.app.index, embedder or own, embedder or own, model=model, web=web
        )
        machine = Machine(ports, policy or Policy(), limits or Limits(), now=lambda: NOW)
        return Chat(self.app, machine, level)


@dataclass
class Chat:
    """What one person says and sees. After each message: the answer, the way to it, the stream."""

    app: App
    machine: Machine
    level: str = ""
    history: list[Turn] = field(default_factory=list)
    stages: list[Stage] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    finished: Finished | None = None

    async def says(self, text: str, *, web: bool = True) -> Answer:
        """Sends a message and reads the answer to its end, as the terminal does."""
        before = tasks()
        question = self.app.question(text, history=self.history, level=self.level, web=web)
        await self._read(question)
        assert tasks() == before, "a task outlives its question"
        self.history += [Turn("user", text), Turn("bot", self.answer.text)]
        return self.answer

    async def _read(self, question: Question) -> None:
        self.stages, self.tokens, self.finished = [], [], None
        async for event in self.machine.ask(question):
            assert self.finished is None, "an event after the answer"
            if isinstance(event, Stage):
                self.stages.append(event)
            elif isinstance(event, Token):
                self.tokens.append(event.text)
            else:
                self.finished = event
        assert self.answer.outcome in Outcome
        assert self.text.strip(), "silence is no outcome"

    @property
    def answer(self) -> Answer:
        assert self.finished is not None, "the question did not end"
        return self.finished.answer

    @property
    def trace(self) -> Trace:
        assert self.finished is not None, "the question did not end"
        return self.finished.trace

    @property
    def outcome(self) -> Outcome:
        return self.answer.outcome

    @property
    def text(self) -> str:
        """The answer as a platform gets it: with notes and sources."""
        return to_markdown(self.answer, now=NOW)

    @property
    def streamed(self) -> str:
        return "".join(self.tokens)

    @property
    def model_calls(self) -> int:
        return len(self.trace.calls)

    @property
    def purposes(self) -> list[str]:
        return [call.purpose for call in self.trace.calls]

    @property
    def cited(self) -> list[str]:
        """The documents or addresses of the sources, in the order of their numbers."""
        return [citation.passage.document for citation in self.answer.citations]

    @property
    def figures(self) -> str:
        """What decided the answer, for the message of a failed test."""
        t = self.trace
        return (
            f"{t.outcome}: relevance {t.relevance:.2f} of {t.threshold:.2f}, "
            f"coverage {t.coverage:.2f}, {t.query_type}, {t.reason}; "
            f"unknown {list(t.unknown_terms)}, removed {list(t.removed)}"
        )

    def sees(self, *pieces: str) -> None:
        for piece in pieces:
            assert piece in self.text, f"{piece!r} is not in\n{self.text}\n({self.figures})"

    def never_sees(self, *pieces: str) -> None:
        """Neither in the answer nor in anything shown on the way."""
        for piece in pieces:
            assert piece not in self.text, f"{piece!r} is in\n{self.text}\n({self.figures})"
            assert piece not in self.streamed, f"{piece!r} was streamed:\n{self.streamed}"

    def cites(self, *documents: str) -> None:
        for document in documents:
            assert document in self.cited, f"{document} not in {self.cited} ({self.figures})"

    def is_answered(self) -> None:
        assert self.outcome is Outcome.ANSWERED, f"{self.text}\n({self.figures})"

    def is_refused(self) -> None:
        """Nothing is claimed from the documents: no citation, and the reader is told."""
        assert self.outcome is Outcome.NOT_FOUND, f"{self.text}\n({self.figures})"
        assert self.cited == []

    def is_from_the_web(self) -> None:
        assert self.outcome is Outcome.WEB, f"{self.text}\n({self.figures})"
        kinds = {citation.passage.source_type for citation in self.answer.citations}
        assert kinds == {SourceType.WEB}


def tasks() -> frozenset[asyncio.Task[Any]]:
    """The tasks that are running, without those of the loopback servers."""
    return frozenset(
        task
        for task in asyncio.all_tasks()
        if "aiohttp" not in str(task.get_coro().cr_code)  # type: ignore[union-attr]
    )


class Remembering(Embedder):
    """An embedder that is asked for each text once: every team is calibrated on the same probes."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, Vector] = {}

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    async def embed_questions(self, texts: Sequence[str]) -> Matrix:
        return await self._recalled(texts)

    async def embed_passages(self, texts: Sequence[str]) -> Matrix:
        return await self._recalled(texts)  # the builtin embedder treats both alike

    async def _recalled(self, texts: Sequence[str]) -> Matrix:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        vectors = await self._embedder.embed_passages(new)
        self._known.update(zip(new, vectors, strict=True))
        rows = [self._known[text] for text in texts]
        return np.stack(rows) if rows else vectors


async def open_team(folder: Path, embedder: Embedder) -> Team:
    """The team whose documents and index lie in `folder`; the caller closes `team.app.index`."""
    documents, home = folder / "docs", folder / "home"
    documents.mkdir(parents=True, exist_ok=True)
    index = await open_index(Settings(home=home))
    machine = Machine(Ports(index, embedder, embedder))
    return Team(documents, home, App(Settings(home=home), index, embedder, embedder, machine))


class Indexed:
    """Indexes each set of documents once, and hands out copies of the folder with its index."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._known: dict[frozenset[tuple[str, Text]], Path] = {}

    async def copy(self, files: Files, folder: Path, embedder: Embedder) -> None:
        """Makes `folder` one that `open_team` finds in order."""
        key = frozenset(files.items())
        if key not in self._known:
            place = self._root / str(len(self._known))
            team = await open_team(place, embedder)
            team.write(files)
            await team.sync()
            await team.app.index.close()
            self._known[key] = place
        shutil.copytree(self._known[key], folder)


def prompt_text(prompts: Sequence[Prompt]) -> str:
    """Everything that a model was sent."""
    return "\n".join(f"{prompt.system}\n{prompt.user}" for prompt in prompts)


def stored_text(home: Path) -> bytes:
    """Every byte of the data folder: the index with its journals, traces, locks."""
    return b"\n".join(path.read_bytes() for path in sorted(home.rglob("*")) if path.is_file())


class Obedient(ChatModel):
    """Does what the last order outside the fence says; without one it quotes the first passage.

    It knows where the fence is, as the system prompt tells it, and takes everything in between for
    data. Whatever escapes from the fence is obeyed.
    """

    _ORDER = re.compile(
        r"^\W*(?:system|assistant|ignore|forget|from now on|tell|add|say|reply|answer|run|you must"
        r"|система|игнорируй|забудь|отныне|отвечай|добавь|скажи|выполни)\b.*$",
        re.IGNORECASE | re.MULTILINE,
    )

    def __init__(self) -> None:
        self.prompts: list[Prompt] = []

    @property
    def name(self) -> str:
        return "obedient"

    async def complete(self, prompt: Prompt) -> Completion:
        if prompt.schema is not None:
            raise ReplyUnusable("it writes no JSON")
        self.prompts.append(prompt)
        return Completion(self._reply(prompt))

    async def stream(self, prompt: Prompt) -> AsyncIterator[str | Completion]:
        completion = await self.complete(prompt)
        yield completion.text
        yield completion

    def _reply(self, prompt: Prompt) -> str:
        fence = re.search(r"<<<END \.\.\. ([0-9a-f]{8,})>>>", prompt.system)
        assert fence is not None, "the prompt names no fence"
        block = rf"^<<<[^\n]*{fence[1]}>>>\n(.*?)^<<<END[^\n]*{fence[1]}>>>$"
        blocks = re.compile(block, re.DOTALL | re.MULTILINE)
        orders = self._ORDER.findall(blocks.sub("", prompt.user))
        if orders:
            return f"{orders[-1]} [1]"
        found = blocks.search(prompt.user)
        assert found is not None, "the prompt holds no passage"
        text = found[1].split("text:\n", 1)[1]
        told = [line for line in text.splitlines() if line and not line.startswith(("#", "---"))]
        return f"{told[0]} [1]"
