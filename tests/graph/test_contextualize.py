"""contextualize: what the rest of the machine searches for, after a chat."""

from __future__ import annotations

import pytest

from adapters.memory.model import ScriptedModel
from graph.errors import ModelBusy, ModelUnavailable, ReplyUnusable
from graph.model import Outcome
from graph.nodes.contextualize import contextualize
from graph.policy import Limits
from tests.graph.node_run import question, run

BILLING = (
    "user: How do I rotate the TLS certificate of billing on prod?",
    "bot: Run `vault write pki/issue/billing` and restart the pods [1].",
)


async def test_rt01_follow_up_without_a_model_names_topic_and_new_environment() -> None:
    ran = await run(contextualize, {"question": question("and on staging?", *BILLING)})
    resolved = ran.state["resolved"].lower()
    assert all(word in resolved for word in ("billing", "tls", "rotate", "staging"))
    assert "prod" not in resolved
    assert ran.state.get("calls", ()) == ()
    assert [stage.name for stage in ran.stages] == ["contextualize"]


async def test_rt01_a_model_words_the_follow_up_in_one_call() -> None:
    worded = "How do I rotate the TLS certificate of billing on staging?"
    model = ScriptedModel({"question": worded})
    ran = await run(contextualize, {"question": question("and on staging?", *BILLING)}, model=model)
    assert ran.state["resolved"] == worded
    assert [call.purpose for call in ran.state["calls"]] == ["contextualize"]
    assert "rotate the TLS certificate" in model.prompts[0].user


@pytest.mark.parametrize(
    "text",
    [
        "What is the guest Wi-Fi password policy?",
        "btw how often are the etcd backups taken?",
        "Как сбросить пароль от гостевого wi-fi?",
        "другой вопрос: кто отвечает за dns",
    ],
)
async def test_rt04_a_new_topic_is_searched_as_typed_and_no_model_is_asked(text: str) -> None:
    model = ScriptedModel()
    ran = await run(contextualize, {"question": question(text, *BILLING)}, model=model)
    assert ran.state["resolved"] == text
    assert model.prompts == []


@pytest.mark.parametrize(
    "reply",
    [
        "You should restart the pods on staging.",
        "Run `vault write pki/issue/billing-staging` there.",
        "How do I rotate the TLS certificate of billing on prod?",
        "How do I rotate the certificate on staging?\nAlso: what is the port of gitaly?",
        "How do I rotate the certificate of Confluence with Ansible on staging in 2031?",
        "How do I " + "carefully " * 60 + "rotate the TLS certificate on staging?",
        "How is it on staging?",
        "What about staging?",
        "",
    ],
)
async def test_a_wording_that_is_no_such_question_gives_way_to_the_rules(reply: str) -> None:
    model = ScriptedModel({"question": reply})
    ran = await run(contextualize, {"question": question("and on staging?", *BILLING)}, model=model)
    assert ran.state["resolved"] == "How do I rotate the TLS certificate of billing on staging?"


@pytest.mark.parametrize(
    "error",
    [ModelUnavailable("down"), ModelBusy("busy", 3.0), ReplyUnusable("not JSON", cut=True)],
)
async def test_a_model_that_fails_gives_way_to_the_rules_and_is_recorded(
    error: ModelUnavailable | ModelBusy | ReplyUnusable,
) -> None:
    model = ScriptedModel(error)
    ran = await run(contextualize, {"question": question("and on staging?", *BILLING)}, model=model)
    assert "staging" in ran.state["resolved"]
    assert "billing" in ran.state["resolved"]
    assert [call.error for call in ran.state["calls"]] == [type(error).__name__]


async def test_se09_my_service_is_not_somebody_elses() -> None:
    asked = question("how do I restart my service?", "ann: my service is billing", "bot: Noted.")
    ran = await run(contextualize, {"question": asked})
    assert "billing" not in ran.state["resolved"]


async def test_se09_a_model_does_not_read_what_is_somebody_elses_when_asked_about_mine() -> None:
    asked = question(
        "and how do I restart mine?",
        "ann: my service is billing and it hangs",
        "bot: Restart billing.",
        "user: my service is orders",
        "bot: Orders is a web service.",
    )
    model = ScriptedModel({"question": "How do I restart billing?"})
    ran = await run(contextualize, {"question": asked}, model=model)
    assert "billing" not in model.prompts[0].user
    assert "billing" not in ran.state["resolved"]
    assert "orders" in ran.state["resolved"]


@pytest.mark.parametrize(
    ("text", "turns", "language"),
    [
        ("почему CrashLoopBackOff?", (), "ru"),
        ("why does it say «не удалось подключиться»?", (), "en"),
        ("and on staging?", ("user: как перезапустить billing?", "bot: Вот так."), "en"),
        ("а на стейджинге?", BILLING, "ru"),
        ("KubePodCrashLooping?", ("user: что с подами?", "bot: Падают."), "ru"),
        ("`kubectl get pods`", ("user: что с подами?", "bot: Падают."), "ru"),
        ("???", ("user: как откатить релиз?", "bot: helm rollback."), "ru"),
        (":eyes:", ("user: how do I roll back?", "bot: helm rollback."), "en"),
    ],
)
async def test_lm22_the_latest_words_of_the_asker_decide_the_language(
    text: str, turns: tuple[str, ...], language: str
) -> None:
    ran = await run(contextualize, {"question": question(text, *turns)})
    assert ran.state["language"] == language


async def test_lm22_a_pasted_log_does_not_decide_the_language() -> None:
    log = "\n".join(f"2026-01-01 ERROR could not connect to the server {n}" for n in range(50))
    ran = await run(
        contextualize, {"question": question(f"{log}\nпочему падает под и что делать?")}
    )
    assert ran.state["language"] == "ru"


async def test_a_huge_paste_is_read_at_both_ends_and_said_to_be_cut() -> None:
    log = "\n".join(f"line {n} of a log that goes on and on" for n in range(2000))
    text = f"billing does not start\n{log}\nwhich setting is wrong in billing.yaml?"
    limits = Limits(question_characters=1000)
    ran = await run(contextualize, {"question": question(text)}, limits=limits)
    resolved = ran.state["resolved"]
    assert len(resolved) <= 1000
    assert resolved.startswith("billing does not start")
    assert resolved.endswith("which setting is wrong in billing.yaml?")
    assert ran.state["notes"] == ("cut_question",)


@pytest.mark.parametrize("text", ["", "   ", "???", "🎉🎉", ":eyes: :+1:", "\u200b\u200d", "…"])
async def test_nothing_to_answer_gets_a_help_line_and_no_model_call(text: str) -> None:
    model = ScriptedModel()
    ran = await run(contextualize, {"question": question(text, *BILLING)}, model=model)
    assert ran.state["answer"].outcome is Outcome.NOT_FOUND
    assert ran.state["answer"].citations == ()
    assert model.prompts == []


@pytest.mark.parametrize("text", ["thanks!", "ok, got it 👍", "спс, помогло", "lol good night all"])
async def test_small_talk_passes_unchanged_and_gets_a_friendly_line(text: str) -> None:
    model = ScriptedModel()
    ran = await run(contextualize, {"question": question(text, *BILLING)}, model=model)
    assert ran.state["resolved"] == text
    assert "billing" not in ran.state["answer"].text
    assert model.prompts == []


async def test_the_chat_shown_to_the_model_is_bounded() -> None:
    turns = [f"user: question {n} about the billing service {'x' * 3000}" for n in range(100)]
    model = ScriptedModel({"question": "nothing"})
    await run(contextualize, {"question": question("why?", *turns)}, model=model)
    assert len(model.prompts[0].user) < 20_000
