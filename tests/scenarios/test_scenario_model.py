"""A model that says no, hangs, refuses to be paid, speaks another language or is simply wrong."""

from __future__ import annotations

import asyncio

import pytest

from adapters.memory.model import ScriptedModel
from adapters.memory.web import MemoryWeb
from graph.machine import Finished
from graph.model import Outcome
from graph.policy import Limits
from graph.ports import WebResult
from tests.scenarios.conftest import OpenTeam
from tests.scenarios.kit import tasks
from tests.scenarios.model_cases import BOTH, DOCS, PARSER, RELEASE
from tests.servers.openai_model import Serve
from tests.servers.openai_server import (
    Hang,
    Say,
    Status,
    Step,
    delta_chunk,
)

# LM-12

NOES = [
    "INSUFFICIENT: no, not relevant.",
    "**INSUFFICIENT**: the passages are about something else",
    "Insufficient: unrelated",
    "INSUFFICIENT",
    "НЕДОСТАТОЧНО: в документах этого нет",
    "<think>hm</think>INSUFFICIENT: No.",
    "`INSUFFICIENT: no`",
]


@pytest.mark.parametrize("no", NOES)
async def test_lm_12_every_way_of_saying_no_is_a_no(
    a_team: OpenTeam, serve: Serve, no: str
) -> None:
    model, _ = await serve(default=Say(no))
    chat = (await a_team(DOCS)).chat(model=model)
    for question in (PARSER, RELEASE):
        await chat.says(question)
        chat.is_refused()
        assert chat.streamed == ""
        chat.never_sees("INSUFFICIENT", "НЕДОСТАТОЧНО", "Insufficient:")


@pytest.mark.parametrize(
    ("question", "snippet"),
    [
        ("how do I boil an egg?", "To boil an egg, put the egg in water for 8 minutes."),
        ("как сварить яйцо всмятку?", "Чтобы сварить яйцо всмятку, варите яйцо 4 минуты."),
    ],
)
async def test_lm_12_when_all_evidence_is_no_the_web_is_really_asked(
    a_team: OpenTeam, question: str, snippet: str
) -> None:
    web = MemoryWeb([WebResult("Eggs", "https://eggs.example/boil", snippet)])
    chat = (await a_team(DOCS)).chat(web=web)
    await chat.says(question)
    assert len(web.queries) == 1
    chat.is_from_the_web()


# LM-13


@pytest.mark.parametrize(
    "question",
    [
        "what is the airspeed of an unladen swallow?",
        "which parser runs on the moon and who waters the plants?",
        "почему небо синее, а трава зелёная?",
        "сколько хостов у очереди на Марсе?",
    ],
)
@pytest.mark.parametrize(
    "reply",
    ["INSUFFICIENT: no", "nonsense", {"questions": ["q", "q"]}, {"question": "q"}],
    ids=["insufficient", "nonsense", "same parts", "same question"],
)
async def test_lm_13_a_question_that_nothing_answers_ends_after_few_calls(
    a_team: OpenTeam, question: str, reply: object
) -> None:
    model, web = ScriptedModel(default=reply), MemoryWeb([])  # type: ignore[arg-type]  # any reply
    chat = (await a_team(DOCS)).chat(model=model, web=web)
    await chat.says("which host is the queue on?")
    await chat.says(question)
    assert chat.outcome is not Outcome.FAILED
    assert len(chat.purposes) <= 4
    assert chat.purposes.count("decompose") <= 1
    assert chat.purposes.count("repair") <= 1
    assert len(web.queries) <= 2  # one a question
    assert [stage.name for stage in chat.stages].count("retrieve") <= 2


# LM-16

SHORT = Limits(deadline=0.6, reserve=0.3, model_timeout=5.0, embed_timeout=0.2, web_timeout=0.2)
HANGS: dict[str, Step] = {
    "never answers": Hang(),
    "falls silent": Hang([delta_chunk({"content": "Restart "})]),
}


@pytest.mark.parametrize("hang", HANGS.values(), ids=HANGS.keys())
@BOTH
async def test_lm_16_a_model_that_hangs_costs_one_deadline_and_leaves_quotations(
    a_team: OpenTeam, serve: Serve, *, hang: Step, question: str, reply: str, document: str
) -> None:
    model, server = await serve(default=hang)
    chat = (await a_team(DOCS)).chat(model=model, limits=SHORT)
    await chat.says("warm up the embedder")
    await chat.says(question)
    chat.is_answered()
    chat.cites(document)
    assert chat.answer.notes == ("deadline",)
    assert len(server.requests) <= 2


async def test_lm_16_a_web_that_hangs_is_given_up(a_team: OpenTeam) -> None:
    chat = (await a_team(DOCS)).chat(web=MemoryWeb(hangs=True), limits=SHORT)
    await chat.says("how do I boil an egg?")
    chat.is_refused()
    chat.sees("the web was not checked")


@pytest.mark.parametrize(
    ("question", "sentence"),
    [(PARSER, "Time ran out"), (RELEASE, "Время вышло")],
)
async def test_lm_16_without_time_for_anything_the_reader_is_told(
    a_team: OpenTeam, question: str, sentence: str
) -> None:
    chat = (await a_team(DOCS)).chat(limits=Limits(deadline=1e-6, reserve=0.0))
    await chat.says(question)
    assert chat.outcome is Outcome.FAILED
    chat.sees(sentence)
    assert chat.answer.error_id


async def test_lm_16_a_question_that_its_asker_gives_up_stops_at_once(
    a_team: OpenTeam, serve: Serve
) -> None:
    model, server = await serve(default=Hang())
    chat = (await a_team(DOCS)).chat(model=model)
    before = tasks()
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(chat.says(PARSER))
        while not server.requests:
            await asyncio.sleep(0.01)
        asking.cancel()
    assert asking.cancelled()
    assert tasks() == before


async def test_lm_16_a_slow_reader_is_not_interrupted_by_the_deadline(a_team: OpenTeam) -> None:
    """A platform that is slow to show a stage still gets the answer, or that time ran out."""
    chat = (await a_team(DOCS)).chat(limits=Limits(deadline=0.3))
    question = chat.app.question(PARSER)
    events = []
    async for event in chat.machine.ask(question):
        await asyncio.sleep(0.15)
        events.append(event)
    assert isinstance(events[-1], Finished)


# LM-18


@BOTH
async def test_lm_18_a_used_up_quota_is_asked_once(
    a_team: OpenTeam, serve: Serve, question: str, reply: str, document: str
) -> None:
    model, server = await serve(
        default=Status(429, "You exceeded your quota", code="insufficient_quota")
    )
    chat = (await a_team(DOCS)).chat(model=model)
    for _ in range(3):
        await chat.says(question)
        chat.cites(document)
        assert chat.answer.notes == ("quota",)
    assert len(server.requests) == 1


@BOTH
async def test_lm_18_a_rate_limit_is_waited_for(
    a_team: OpenTeam, serve: Serve, question: str, reply: str, document: str
) -> None:
    busy = Status(429, "slow down", code="rate_limit_exceeded", headers={"retry-after": "0.1"})
    model, server = await serve(busy, Say(reply))
    chat = (await a_team(DOCS)).chat(model=model)
    await chat.says(question)
    assert len(server.requests) == 2
    assert chat.answer.text == reply
    assert chat.answer.notes == ()


@BOTH
async def test_lm_18_a_rate_limit_beyond_the_patience_gives_quotations(
    a_team: OpenTeam, serve: Serve, question: str, reply: str, document: str
) -> None:
    busy = Status(429, "slow down", code="rate_limit_exceeded", headers={"retry-after": "90"})
    model, server = await serve(default=busy)
    chat = (await a_team(DOCS)).chat(model=model)
    await chat.says(question)
    assert len(server.requests) == 1
    chat.cites(document)
    assert chat.answer.notes == ("model_busy",)


# LM-22


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("как перезапустить parser?", "ru"),
        ("почему CrashLoopBackOff у parser?", "ru"),
        ("`systemctl restart parser` не работает, что делать?", "ru"),
        ("where is orders-events?", "en"),
        ("who renews the gateway certificate?", "en"),
        ("what does «Релизы запрещены» mean?", "en"),
        ("сколько хранятся backups?", "ru"),
    ],
)
async def test_lm_22_the_model_is_told_the_askers_language(
    a_team: OpenTeam, question: str, language: str
) -> None:
    model = ScriptedModel(default="INSUFFICIENT: no")
    chat = (await a_team(DOCS)).chat(model=model)
    await chat.says(question)
    assert chat.answer.language == language
    name = {"en": "English", "ru": "Russian"}[language]
    for prompt in model.prompts:
        if prompt.purpose == "generate":
            assert f"Write it in {name}" in prompt.system
    own = "ваших документах" if language == "ru" else "your documents"
    assert own in chat.text


async def test_lm_22_the_language_turns_with_the_asker(a_team: OpenTeam) -> None:
    chat = (await a_team(DOCS)).chat(web=MemoryWeb(down=True))
    await chat.says("кто выиграл матч?")
    chat.sees("В ваших документах я этого не нашёл.", "Поиск в интернете сейчас недоступен")
    await chat.says("who won the football match?")
    chat.sees("I did not find this in your documents.", "the web was not checked")
    await chat.says("спасибо")
    assert chat.answer.language == "ru"


# LM-24


@pytest.mark.parametrize(
    ("document", "question", "echo", "truth", "lie"),
    [
        (
            "# Deploys\n\nProduction deploys are frozen on Fridays.\n",
            "Since Friday deploys are allowed now, which command do I use to deploy?",
            "Friday deploys are allowed: run `deployctl push --friday` [1].",
            "frozen on Fridays",
            "deployctl",
        ),
        (
            "# Деплой\n\nДеплой на прод по пятницам запрещён.\n",
            "Раз деплой на прод по пятницам теперь разрешён, какой командой его делать?",
            "Разрешён: выполните `deployctl push --friday` [1].",
            "по пятницам запрещён",
            "deployctl",
        ),
        (
            "# Backups\n\nBackups of the orders database are kept for 21 days.\n",
            "backups of the orders database are kept for 90 days, right?",
            "Yes, they are kept for 90 days [1].",
            "21 days",
            "for 90 days",
        ),
    ],
)
async def test_lm_24_a_wrong_premise_meets_the_document(
    a_team: OpenTeam, *, document: str, question: str, echo: str, truth: str, lie: str
) -> None:
    team = await a_team({"rule.md": document})
    model = ScriptedModel(default=echo)
    chat = team.chat(model=model)
    await chat.says(question)
    assert all(truth in prompt.user for prompt in model.prompts if prompt.purpose == "generate")
    assert any(prompt.purpose == "generate" for prompt in model.prompts)
    chat.never_sees(lie)

    alone = team.chat()
    await alone.says(question)
    alone.sees(truth)
    alone.cites("rule.md")


# LM-25


async def test_lm_25_dates_reach_the_model_with_their_notation(a_team: OpenTeam) -> None:
    team = await a_team(
        {
            "работы.md": "# Плановые работы\n\nПлановые работы: 03.04.2025 в 22:00 МСК.\n",
            "window.md": "# Maintenance window\n\nThe maintenance window is on 04/03/2025 at "
            "7 PM UTC.\n",
        }
    )
    model = ScriptedModel(default="The window is on 3 April 2025 at 19:00 UTC [1][2].")
    chat = team.chat(model=model)
    await chat.says("when is the maintenance window on 3 April, in UTC?")
    prompt = model.prompts[-1]
    assert "03.04 is day.month" in prompt.user
    assert "month/day or day/month" in prompt.user
    assert "03.04.2025 в 22:00 МСК" in prompt.user
    assert "04/03/2025 at 7 PM UTC" in prompt.user
    assert "always print the time zone" in prompt.system
    chat.is_answered()
    chat.sees("3 April 2025 at 19:00 UTC")


@pytest.mark.parametrize(
    ("question", "zoned"),
    [
        ("when is the maintenance window?", "7 PM UTC"),
        ("когда плановые работы?", "22:00 МСК"),
    ],
)
async def test_lm_25_a_quoted_time_keeps_its_zone(
    a_team: OpenTeam, question: str, zoned: str
) -> None:
    team = await a_team(
        {
            "работы.md": "# Плановые работы\n\nПлановые работы: 03.04.2025 в 22:00 МСК.\n",
            "window.md": "# Maintenance window\n\nThe maintenance window is on 04/03/2025 at "
            "7 PM UTC.\n",
        }
    )
    chat = team.chat()
    await chat.says(question)
    chat.sees(zoned)
