"""LM-20: a long conversation costs a question neither its answer nor its own words."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from aiohttp import web

from graph.model import Turn
from graph.policy import Limits
from tests.scenarios.conftest import OpenTeam
from tests.scenarios.kit import Files
from tests.servers.openai_model import Serve
from tests.servers.openai_server import Request, Say, Status

DOCS: Files = {
    f"queue-{n}.md": f"# Queue {n}\n\n" + f"The queue of parcels keeps messages for {n} days. " * 60
    for n in range(2, 9)
}
FACT: Files = {"parser.md": "# Parser\n\nRestart the parser with `systemctl restart parser`.\n"}
TOO_LONG = Status(
    400, "This model's maximum context length is 8192 tokens.", code="context_length_exceeded"
)


@dataclass
class Window:
    """A model that refuses what does not fit, and otherwise quotes its first passage."""

    characters: int
    refused: int = 0
    users: list[str] = field(default_factory=list)

    async def answer(self, request: Request, http: web.Request) -> web.StreamResponse:
        if len(request.system) + len(request.user) > self.characters:
            self.refused += 1
            return await TOO_LONG.answer(request, http)
        self.users.append(request.user)
        text = request.user.split("text:\n", 1)[-1]
        first = next(line for line in text.splitlines() if line and line[0] != "#")
        return await Say(f"{first.split('. ')[0].rstrip('.')} [1].").answer(request, http)


def long_chat(turns: int) -> list[Turn]:
    said = "The deploy went on and on, and nobody knew why it took so long. " * 24
    return [Turn("user" if n % 2 == 0 else "bot", f"{n}: {said}") for n in range(turns)]


@pytest.mark.parametrize(
    "question", ["how do I restart the parser?", "и как перезапустить parser?"]
)
async def test_lm_20_after_forty_long_turns_a_question_is_answered(
    a_team: OpenTeam, serve: Serve, question: str
) -> None:
    window = Window(characters=8192 * 4)
    model, _ = await serve(default=window)
    chat = (await a_team(FACT)).chat(model=model)
    chat.history += long_chat(40)
    await chat.says(question)
    chat.is_answered()
    chat.cites("parser.md")
    assert window.refused == 0
    assert chat.trace.resolved in window.users[-1]


async def test_lm_20_of_a_long_history_the_newest_turns_are_read(
    a_team: OpenTeam, serve: Serve
) -> None:
    window = Window(characters=8192 * 4)
    model, _ = await serve(default=window)
    chat = (await a_team(FACT)).chat(model=model)
    chat.history += [*long_chat(40), Turn("user", "who owns the parser?"), Turn("bot", "Ada [1].")]
    await chat.says("and how do I restart it?")
    chat.cites("parser.md")
    worded = window.users[0]
    assert "who owns the parser?" in worded
    assert "asker: 0: The deploy" not in worded
    assert "and how do I restart it?" in worded
    assert len(worded) < Limits().history_tokens * 4 + 2000


async def test_lm_20_what_still_does_not_fit_is_shrunk_and_tried_once_more(
    a_team: OpenTeam, serve: Serve
) -> None:
    window = Window(characters=10**6)
    model, _ = await serve(default=window)
    team, question = await a_team(DOCS), "how long does the queue of parcels keep messages?"
    await team.chat(model=model).says(question)
    window.characters = len(window.users[0])  # what the rules of the prompt go beyond
    chat = team.chat(model=model)
    await chat.says(question)
    assert window.refused == 1
    assert question in window.users[-1]
    assert chat.answer.citations, chat.figures


async def test_lm_20_a_window_too_small_for_anything_leaves_quotations(
    a_team: OpenTeam, serve: Serve
) -> None:
    window = Window(characters=100)
    model, _ = await serve(default=window)
    chat = (await a_team(FACT)).chat(model=model)
    chat.history += long_chat(40)
    await chat.says("how do I restart the parser?")
    chat.is_answered()
    chat.sees("systemctl restart parser", "quotations from the documents")
    assert window.users == []
