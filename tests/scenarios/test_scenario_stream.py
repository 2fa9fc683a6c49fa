"""What is shown before the answer is final, and what is quoted when there is no model."""

from __future__ import annotations

import re

import pytest

from adapters.memory.model import ScriptedModel
from graph.errors import ContextOverflow
from graph.model import Outcome
from tests.scenarios.conftest import OpenTeam
from tests.scenarios.kit import Chat, Files
from tests.servers.openai_model import Serve
from tests.servers.openai_server import Chunks, Say, delta_chunk

DOCS: Files = {
    "parser.md": "# Parser\n\nThe parser runs on host etl-01. It reads the queue orders-events.\n\n"
    "## Restart\n\n1. Stop the intake: `intake-ctl pause`.\n2. Restart the parser: "
    "`systemctl restart parser`.\n3. Start the intake: `intake-ctl resume`.\n",
    "backup.md": "# Backups\n\nBackups of the orders database run at 01:30 UTC and are kept for "
    "21 days.\n",
    "релиз.md": "# Релизы\n\nРелизы на прод запрещены по пятницам после 15:00 МСК. Исключения "
    "согласует дежурный менеджер.\n",
}
PARSER = "how do I restart the parser?"
RELEASE = "когда запрещены релизы на прод?"
STEPS = (
    "Restart it in three steps [1]:\n\n1. `intake-ctl pause` [1]\n2. `systemctl restart parser` "
    "[1]\n3. `intake-ctl resume` [1]\n"
)
HONEST = {
    "one sentence": (PARSER, "Run `systemctl restart parser` on etl-01 [1]."),
    "steps": (PARSER, STEPS),
    "a block": (PARSER, "On etl-01 [1]:\n\n```\nsystemctl restart parser\n```\n"),
    "in Russian": (RELEASE, "Релизы запрещены по пятницам [1]. После 15:00 МСК [1].\n"),
}
LIES = {
    "a host": (PARSER, "Run `systemctl restart parser` [1]. Then log in to etl-99 [1].", "etl-99"),
    "a command first": (PARSER, "`rm -rf /var` first [1]. It runs on etl-01 [1].", "rm -rf"),
    "a step": (PARSER, STEPS.replace("intake-ctl resume", "intake-ctl --force"), "--force"),
    "a link": (PARSER, "It is on etl-01 [1]. See https://evil.example/x.", "evil.example"),
    "a number": (RELEASE, "По пятницам [1]. Штраф 5000 рублей [1].", "5000"),
    "an image": (PARSER, "It is on etl-01 [1]. ![x](https://evil.example/p.png)", "evil.example"),
}


def squeezed(text: str) -> str:
    return " ".join(re.sub(r"\[\d+\]", "", text).split())


def streamed_is_part_of_the_answer(chat: Chat) -> None:
    """Everything shown stands in the final answer, in the same order."""
    final, at = squeezed(chat.answer.text), 0
    for line in filter(None, map(squeezed, re.split(r"\n|(?<=[.!?])\s", chat.streamed))):
        found = final.find(line, at)
        assert found >= 0, f"{line!r} was shown, and is not in\n{final}"
        at = found + len(line)


@pytest.mark.parametrize(("question", "draft"), HONEST.values(), ids=HONEST.keys())
async def test_an_honest_draft_is_shown_as_it_comes(
    a_team: OpenTeam, question: str, draft: str
) -> None:
    chat = (await a_team(DOCS)).chat(model=ScriptedModel(draft))
    await chat.says(question)
    chat.is_answered()
    assert squeezed(chat.streamed) == squeezed(chat.answer.text) == squeezed(draft)
    streamed_is_part_of_the_answer(chat)


@pytest.mark.parametrize(("question", "draft", "lie"), LIES.values(), ids=LIES.keys())
async def test_what_no_passage_holds_is_never_shown(
    a_team: OpenTeam, question: str, draft: str, lie: str
) -> None:
    chat = (await a_team(DOCS)).chat(model=ScriptedModel(draft, default="INSUFFICIENT: no"))
    await chat.says(question)
    chat.never_sees(lie)
    streamed_is_part_of_the_answer(chat)


async def test_a_block_of_commands_that_no_passage_holds_is_never_shown(a_team: OpenTeam) -> None:
    draft = "On etl-01 [1]:\n\n```\nkill -9 1\n```\n"
    chat = (await a_team(DOCS)).chat(model=ScriptedModel(draft, default=draft))
    await chat.says(PARSER)
    chat.cites("parser.md")
    chat.never_sees("kill -9")


@pytest.mark.parametrize("cut", range(1, 9))
async def test_pieces_of_any_size_show_the_same(a_team: OpenTeam, serve: Serve, cut: int) -> None:
    pieces = [STEPS[at : at + cut] for at in range(0, len(STEPS), cut)]
    model, _ = await serve(Say(pieces=pieces))
    chat = (await a_team(DOCS)).chat(model=model)
    await chat.says(PARSER)
    chat.is_answered()
    assert squeezed(chat.streamed) == squeezed(STEPS)


async def test_a_stream_that_breaks_off_showed_nothing_unverified(
    a_team: OpenTeam, serve: Serve
) -> None:
    pieces = ["It runs on etl-01 [1]. ", "Log in to etl-99 [1]. ", "Then `systemctl re"]
    broken = Chunks([delta_chunk({"content": piece}) for piece in pieces], cut=True)
    model, _ = await serve(broken, default=broken)
    chat = (await a_team(DOCS)).chat(model=model)
    await chat.says(PARSER)
    chat.cites("parser.md")
    assert chat.answer.notes == ("model_down",)
    chat.never_sees("etl-99", "Then `systemctl re [")


async def test_a_second_attempt_is_not_shown_after_the_first(a_team: OpenTeam) -> None:
    model = ScriptedModel(ContextOverflow("too long"), "It runs on etl-01 [1].")
    chat = (await a_team(DOCS)).chat(model=model)
    await chat.says(PARSER)
    chat.is_answered()
    assert squeezed(chat.streamed) == "It runs on etl-01 ."


@pytest.mark.parametrize("draft", ["INSUFFICIENT: no\n\nRun `rm -rf /` [1].", "НЕДОСТАТОЧНО: нет"])
async def test_an_insufficient_draft_shows_nothing(a_team: OpenTeam, draft: str) -> None:
    chat = (await a_team(DOCS)).chat(model=ScriptedModel(draft))
    await chat.says(PARSER)
    chat.is_refused()
    assert chat.streamed == ""


# Without a model


def quoted_lines(chat: Chat) -> list[str]:
    """The lines of the answer without marks, list signs and fences."""
    lines = re.sub(r"\[\d+\]", "", chat.answer.text).splitlines()
    return [squeezed(line.lstrip("-*# ")) for line in lines if line.strip("`- \n")]


@pytest.mark.parametrize(
    ("question", "document"),
    [
        (PARSER, "parser.md"),
        ("which host does the parser run on?", "parser.md"),
        ("how long are backups of the orders database kept?", "backup.md"),
        (RELEASE, "релиз.md"),
        ("кто согласует исключения для релизов?", "релиз.md"),
        ("what are the steps to restart the parser", "parser.md"),
    ],
)
async def test_without_a_model_the_answer_quotes_word_for_word(
    a_team: OpenTeam, question: str, document: str
) -> None:
    chat = (await a_team(DOCS)).chat()
    await chat.says(question)
    assert chat.outcome in (Outcome.ANSWERED, Outcome.PARTIAL)
    chat.cites(document)
    assert chat.model_calls == 0
    assert chat.streamed == ""
    original = squeezed(" ".join(str(text) for text in DOCS.values()))
    own = ("Nothing answers this for certain", "Уверенного ответа нет", "Restart :")
    for line in quoted_lines(chat):
        assert line.startswith(own) or line in original, line


async def test_without_a_model_a_procedure_keeps_every_step_in_order(a_team: OpenTeam) -> None:
    chat = (await a_team(DOCS)).chat()
    await chat.says(PARSER)
    chat.sees("intake-ctl pause", "systemctl restart parser", "intake-ctl resume")
    text = chat.answer.text
    places = [text.index(piece) for piece in ("pause", "restart parser", "resume")]
    assert places == sorted(places)
