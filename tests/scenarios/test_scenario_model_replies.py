"""A server whose replies are broken in every way that servers break them: an answer comes."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
from aiohttp import web as http_server

from graph.policy import Policy
from tests.scenarios.conftest import OpenTeam
from tests.scenarios.model_cases import BOTH, DOCS, PARSER, RELEASE, SAID, SAID_RU
from tests.servers.openai_model import Serve
from tests.servers.openai_server import (
    Chunks,
    Request,
    Say,
    Status,
    Step,
    Whole,
    delta_chunk,
)

UNSURE = Policy(classify_margin=1.0)  # the type of every question is asked of the model


def usage_only() -> dict[str, object]:
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m",
            "choices": [], "prompt_filter_results": [{"prompt_index": 0}]}  # fmt: skip


def whole(content: str | None, **message: object) -> Whole:
    choice = {"index": 0, "finish_reason": "stop",
              "message": {"role": "assistant", "content": content, **message}}  # fmt: skip
    return Whole({"id": "c", "object": "chat.completion", "created": 1, "model": "m",
                  "choices": [choice]})  # fmt: skip


NO_CHOICES = Whole(
    {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": []}
)


# LM-01


@BOTH
async def test_lm_01_chunks_without_choices_are_passed_over(
    a_team: OpenTeam, serve: Serve, question: str, reply: str, document: str
) -> None:
    words = [delta_chunk({"content": piece}) for piece in re.findall(r"\S+\s*", reply)]
    stream = [usage_only(), *words, delta_chunk({}, finish="stop"), usage_only()]
    model, server = await serve(Chunks(stream))
    chat = (await a_team(DOCS)).chat(model=model)
    await chat.says(question)
    chat.is_answered()
    chat.cites(document)
    assert chat.answer.text == reply
    assert len(server.requests) == 1


@BOTH
async def test_lm_01_a_reply_without_choices_is_tried_once_more_and_then_admitted(
    a_team: OpenTeam, serve: Serve, question: str, reply: str, document: str
) -> None:
    model, server = await serve(default=NO_CHOICES)
    chat = (await a_team(DOCS)).chat(model=model)
    await chat.says(question)
    assert len(server.requests) == 2
    chat.is_answered()
    chat.cites(document)
    assert chat.answer.notes == ("model_down",)
    chat.never_sees("IndexError", "None", "choices")


# LM-03


@dataclass(frozen=True, slots=True)
class Filtered(Step):
    """Blocks every prompt that holds `phrase`, as a provider's content filter does."""

    phrase: str
    reply: str

    async def answer(
        self, request: Request, http: http_server.Request
    ) -> http_server.StreamResponse:
        if self.phrase in request.user:
            blocked = Status(400, "The response was filtered", code="content_filter")
            return await blocked.answer(request, http)
        return await Say(self.reply).answer(request, http)


@pytest.mark.parametrize(
    ("phrase", "alarming", "calm", "question", "reply"),
    [
        (
            "kill -9 zombie children",
            "# Worker stuck\n\nWhen the worker is stuck: kill -9 zombie children of the worker.\n",
            "# Worker stuck, gentle way\n\nWhen the worker is stuck: `worker-ctl drain`.\n",
            "the worker is stuck, what do I do?",
            "Use `worker-ctl drain` [1].",
        ),
        (
            "убить сиротские процессы",
            "# Завис обработчик\n\nКогда обработчик завис, надо убить сиротские процессы.\n",
            "# Завис обработчик: мягко\n\nКогда обработчик завис: `worker-ctl drain`.\n",
            "завис обработчик, что делать?",
            "Выполните `worker-ctl drain` [1].",
        ),
    ],
    ids=["en", "ru"],
)
async def test_lm_03_a_passage_that_the_filter_blocks_is_left_out(
    a_team: OpenTeam, serve: Serve, *, phrase: str, alarming: str, calm: str,
    question: str, reply: str,
) -> None:  # fmt: skip
    model, server = await serve(default=Filtered(phrase, reply))
    chat = (await a_team({**DOCS, "alarming.md": alarming, "calm.md": calm})).chat(model=model)
    await chat.says(question)
    assert phrase in server.requests[0].user
    assert len(server.requests) <= 3
    chat.is_answered()
    chat.sees("worker-ctl drain")
    chat.cites("calm.md")


@BOTH
async def test_lm_03_a_filter_that_blocks_everything_is_named(
    a_team: OpenTeam, serve: Serve, question: str, reply: str, document: str
) -> None:
    model, server = await serve(default=Filtered("", reply))
    chat = (await a_team(DOCS)).chat(model=model)
    await chat.says(question)
    assert 1 <= len(server.requests) <= 3
    assert chat.answer.notes == ("model_filtered",)
    chat.cites(document)


# LM-04


@pytest.mark.parametrize("cut", ['{"type": "fac', "{", '{"type"', "```json\n{"])
@BOTH
async def test_lm_04_a_verdict_cut_by_the_token_limit_is_asked_once_more_and_then_done_without(
    a_team: OpenTeam, serve: Serve, *, cut: str, question: str, reply: str, document: str
) -> None:
    model, server = await serve(Say(cut, finish="length"), Say(cut, finish="length"), Say(reply))
    chat = (await a_team(DOCS)).chat(model=model, policy=UNSURE)
    await chat.says(question)
    first, second, third = server.requests
    assert second.body["max_tokens"] > first.body["max_tokens"]
    assert third.stream
    chat.is_answered()
    chat.cites(document)
    assert chat.trace.decided_by == "local"


# LM-07

REFUSALS = [
    whole(None, refusal="I can't help with that."),
    Say(None, message={"refusal": "I can't help with that."}),
]


@pytest.mark.parametrize("step", REFUSALS, ids=["plain", "streamed"])
@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        (PARSER, "The language model declined to answer this."),
        (RELEASE, "Языковая модель отказалась на это отвечать."),
    ],
    ids=["en", "ru"],
)
async def test_lm_07_a_refusal_is_final(
    a_team: OpenTeam, serve: Serve, step: Step, question: str, sentence: str
) -> None:
    model, server = await serve(default=step)
    chat = (await a_team(DOCS)).chat(model=model)
    await chat.says(question)
    assert len(server.requests) == 1
    chat.is_refused()
    chat.sees(sentence)
    chat.never_sees("None", "I can't help")


async def test_lm_07_a_refusal_to_sort_the_question_does_not_refuse_it(
    a_team: OpenTeam, serve: Serve
) -> None:
    model, server = await serve(whole(None, refusal="I can't help with that."), Say(SAID))
    chat = (await a_team(DOCS)).chat(model=model, policy=UNSURE)
    await chat.says(PARSER)
    assert len(server.requests) == 2
    chat.is_answered()
    chat.cites("parser.md")


# LM-08


@pytest.mark.parametrize(
    "wrapped",
    [
        'Sure! Here is the JSON:\n```json\n{"question": "%s"}\n```\nHope it helps',
        'Конечно:\n{"question": "%s"}\nЧто-нибудь ещё?',
        '```\n{"question": "%s", "note": "has {braces}"}\n```',
        '<think>what is "it"?</think>{"question": "%s"}',
    ],
)
@pytest.mark.parametrize(
    ("first", "follow_up", "resolved", "reply"),
    [
        (PARSER, "and which host is it on?", "which host is the parser on?", SAID),
        (RELEASE, "а почему?", "почему запрещены релизы на прод?", SAID_RU),
    ],
    ids=["en", "ru"],
)
async def test_lm_08_a_wrapped_json_reply_is_read_in_one_call(
    a_team: OpenTeam, serve: Serve, *, wrapped: str, first: str, follow_up: str,
    resolved: str, reply: str,
) -> None:  # fmt: skip
    model, server = await serve(Say(reply), Say(wrapped % resolved), Say(reply))
    chat = (await a_team(DOCS)).chat(model=model)
    await chat.says(first)
    await chat.says(follow_up)
    assert chat.trace.resolved == resolved
    assert chat.purposes[:2] == ["contextualize", "generate"]
    assert len(server.requests) == 3


# LM-10


@pytest.mark.parametrize(
    "pieces",
    [
        ("<thi", "nk>The user works at Initech, secret plan", "</thi", "nk>", "\n\n", "{reply}"),
        ("<think>", "secret plan\n\nInitech", "</think>{reply}"),
        ("<THINK>secret plan\n```\nInitech\n```\n</THINK>", "{reply}"),
        ("{reply}", "\n<think>secret plan of Initech"),
    ],
)
@BOTH
async def test_lm_10_reasoning_is_neither_shown_nor_remembered(
    a_team: OpenTeam, serve: Serve, *, pieces: tuple[str, ...], question: str, reply: str,
    document: str,
) -> None:  # fmt: skip
    said = [piece.replace("{reply}", reply) for piece in pieces]
    model, _ = await serve(Say(pieces=said))
    chat = (await a_team(DOCS)).chat(model=model)
    await chat.says(question)
    chat.is_answered()
    chat.cites(document)
    chat.never_sees("think", "THINK", "Initech", "secret plan")
    assert "Initech" not in str(chat.history)
    assert "Initech" not in str(chat.trace.to_json())


@BOTH
async def test_lm_10_reasoning_that_a_template_opened_is_no_part_of_the_answer(
    a_team: OpenTeam, serve: Serve, question: str, reply: str, document: str
) -> None:
    """The opening tag stood in the prompt: only the closing one tells what was reasoning."""
    model, _ = await serve(Say(pieces=["secret plan at Initech", "</think>\n", reply]))
    chat = (await a_team(DOCS)).chat(model=model)
    await chat.says(question)
    chat.is_answered()
    chat.cites(document)
    assert chat.answer.text == reply


# A reply that ends at its length limit


@BOTH
async def test_an_answer_that_was_cut_ends_with_a_whole_statement_and_says_so(
    a_team: OpenTeam, serve: Serve, question: str, reply: str, document: str
) -> None:
    model, server = await serve(Say(f"{reply} Then `systemctl stop", finish="length"))
    chat = (await a_team(DOCS)).chat(model=model)
    await chat.says(question)
    chat.is_answered()
    chat.cites(document)
    assert chat.answer.text == reply
    assert chat.answer.notes == ("cut_answer",)
    assert "systemctl stop" not in chat.text
    assert len(server.requests) == 1


async def test_a_reply_that_says_nothing_whole_before_its_limit_leaves_quotations(
    a_team: OpenTeam, serve: Serve
) -> None:
    model, _ = await serve(Say("To restart the", finish="length"))
    chat = (await a_team(DOCS)).chat(model=model)
    await chat.says(PARSER)
    chat.is_answered()
    chat.sees("systemctl restart parser")


# An answer that is none


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        (PARSER, "The provided documents do not contain information about that [1]."),
        (RELEASE, "В предоставленных документах нет информации об этом [1]."),
    ],
    ids=["en", "ru"],
)
async def test_an_admission_with_a_mark_is_not_told_as_an_answer(
    a_team: OpenTeam, serve: Serve, question: str, reply: str
) -> None:
    model, _ = await serve(default=Say(reply))
    chat = (await a_team(DOCS)).chat(model=model)
    await chat.says(question)
    chat.is_refused()
