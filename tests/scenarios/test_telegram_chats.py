"""The whole bot on Telegram: real documents, the real machine, the real desk."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from adapters.memory.model import ScriptedModel
from bot.chat import Person, Place
from graph.machine import Machine
from graph.ports import ChatModel, Ports
from tests.adapters.telegram_kit import At, office
from tests.bot.answering_kit import Bot
from tests.contract.inbox_events import START
from tests.scenarios.conftest import OpenTeam
from tests.scenarios.kit import NOW, Files, Team
from tests.servers.telegram_server import Sent, TelegramServer

DOCS: Files = {
    "exit-codes.md": "# Exit codes\n\nExit code 137 means that the kernel killed the container: it "
    "was out of memory. Raise the memory limit of the CronJob backup-orders.\n",
    "billing.md": "# Billing service\n\nBilling listens on port 8081. Restart billing with "
    "`systemctl restart billing`.\n",
    "nodes.md": "# Alarms\n\nThe alarm DiskPressure means that the disk of a node is nearly full. "
    "Clean `/var/lib/containerd`.\n",
    "шлюз.md": "# Регламент перезапуска платёжного шлюза (тестовый стенд, вторая очередь)\n\n"
    "Платёжный шлюз перезапускается командой `pay-gw restart`.\n",
}


@asynccontextmanager
async def on_call(
    team: Team, model: ChatModel | None = None, **more: Any
) -> AsyncIterator[tuple[At, Bot]]:
    """The team's bot; Anna and the group Ops are let in. `more` as in `office`."""
    own = team.app.embedder
    machine = Machine(Ports(team.app.index, own, own, model=model), now=lambda: NOW)
    bot = Bot(machine, now=START)
    await bot.let_in(Person("telegram", "7"))
    await bot.let_in(Place("telegram", "-1001", "group"))
    handler = bot.handler
    async with office(
        answering=handler, on_added=handler.on_added, on_moved=handler.moved, **more
    ) as at:
        yield at, bot


def words(sent: Sent) -> str:
    return re.sub(r"[\\*`]", "", sent.text)


def value(sent: Sent, letter: str) -> str:
    values: list[str] = [button["callback_data"] for button in sent.buttons]
    return next(each for each in values if each.startswith(f"{letter}:"))


async def test_a_private_question_its_sources_and_a_vote(a_team: OpenTeam) -> None:
    async with on_call(await a_team(DOCS)) as (at, _):
        at.server.says(at.anna, at.anna, "which port does billing listen on?")
        (answer,) = await at.answered(at.anna)
        assert "8081" in words(answer)
        assert "billing.md" in words(answer)
        at.server.presses(at.anna, at.anna, answer.message_id, value(answer, "u"))
        await at.until(lambda: at.server.called("answerCallbackQuery"))
        await at.idle()
        assert len(at.server.sent(at.anna)) == 1
        at.server.presses(at.anna, at.anna, answer.message_id, value(answer, "s"))
        _, sources = await at.answered(at.anna, 2)
        assert "billing.md" in words(sources)
        assert sources.reply_to == answer.message_id


async def test_a_stranger_learns_how_to_ask_and_nothing_else(a_team: OpenTeam) -> None:
    async with on_call(await a_team(DOCS)) as (at, _):
        at.server.says(at.boris, at.boris, "which port does billing listen on?")
        (answer,) = await at.answered(at.boris)
        assert "8081" not in answer.text
        assert "billing" not in answer.text


@pytest.mark.parametrize("quote", ["", "exit 137"])
async def test_tg_24_why_under_an_alert_is_about_the_alert(a_team: OpenTeam, quote: str) -> None:
    async with on_call(await a_team(DOCS)) as (at, _):
        alert = at.server.says(at.ops, at.boris, "CronJob backup-orders failed: exit 137")
        at.server.says(at.ops, at.anna, "why? @belay_bot", reply_to=alert, quote=quote)
        (answer,) = await at.answered(at.ops)
        assert "exit-codes.md" in words(answer)


async def test_tg_16_a_picture_with_a_question(a_team: OpenTeam) -> None:
    async with on_call(await a_team(DOCS)) as (at, _):
        caption = "@belay_bot what does this alarm mean: DiskPressure on node-07?"
        at.server.says(at.ops, at.anna, caption, photo=True)
        (answer,) = await at.answered(at.ops)
        assert "nearly full" in words(answer)
        assert "photo" in words(answer)


async def test_tg_14_a_long_title_makes_no_button_too_long(a_team: OpenTeam) -> None:
    async with on_call(await a_team(DOCS)) as (at, _):
        at.server.says(at.anna, at.anna, "как перезапустить платёжный шлюз?")
        (answer,) = await at.answered(at.anna)
        assert "pay-gw restart" in words(answer)
        assert answer.buttons
        assert all(len(each["callback_data"].encode()) <= 64 for each in answer.buttons)


async def test_tg_09_what_a_group_was_allowed_moves_with_it(a_team: OpenTeam) -> None:
    async with on_call(await a_team(DOCS)) as (at, bot):
        old = at.server.group(-4001, "Small", kind="group")
        await bot.let_in(Place("telegram", "-4001", "group"))
        at.server.says(old, at.anna, "/ask how do I restart billing?")
        await at.answered(old)
        new = at.server.upgrades(old, at.anna, -1001234500001)
        at.server.says(new, at.anna, "/ask and its port?")
        (answer,) = await at.answered(new)
        assert "8081" in words(answer)


async def test_tg_09_a_code_lets_in_the_group_that_became_another(a_team: OpenTeam) -> None:
    """Making the bot an administrator is what turns a basic group into a supergroup."""
    async with on_call(await a_team(DOCS)) as (at, bot):
        await bot.let_in(Person("telegram", str(at.anna.id)), admin=True)
        old = at.server.group(-4001, "Small", kind="group")
        at.server.says(old, at.anna, "/ask which port does billing listen on?")
        (how,) = await at.answered(old)
        code = re.search(r"/allow ([A-Z0-9]{8})", how.text)
        assert code is not None
        new = at.server.upgrades(old, at.anna, -1001234500001)
        at.server.says(at.anna, at.anna, f"/allow {code[1]}")
        await at.answered(at.anna)
        at.server.says(new, at.anna, "/ask which port does billing listen on?")
        (answer,) = await at.answered(new)
        assert "8081" in words(answer)


async def test_a_model_writes_and_people_watch(a_team: OpenTeam) -> None:
    model = ScriptedModel("Billing listens on port 8081 [1].")
    async with on_call(await a_team(DOCS), model) as (at, _):
        at.server.says(at.anna, at.anna, "which port does billing listen on?")
        (answer,) = await at.answered(at.anna)
        assert "8081" in words(answer)
        assert at.server.drafts(at.anna)
        assert [call for call in at.server.calls if call.error] == []


async def test_an_outsider_adds_the_bot_and_it_leaves(a_team: OpenTeam) -> None:
    async with on_call(await a_team(DOCS)) as (at, _):
        theirs = at.server.group(-1002, "Theirs")
        theirs.bot_status = "left"
        at.server.adds_bot(theirs, at.boris)
        await at.until(lambda: at.server.called("leaveChat"))
        await at.idle()
        assert at.server.sent(theirs) == []


async def test_se_01_a_follow_up_sent_at_once_knows_what_was_asked(a_team: OpenTeam) -> None:
    async with on_call(await a_team(DOCS)) as (at, _):
        first = at.server.says(at.ops, at.anna, "/ask how do I restart billing?", thread=77)
        second = at.server.says(at.ops, at.anna, "/ask and its port?", thread=77)
        answers = {each.reply_to: words(each) for each in await at.answered(at.ops, 2)}
        assert "systemctl restart billing" in answers[first]
        assert "8081" in answers[second]


AWAY = 9 * 3600


async def test_op_10_what_waited_while_the_bot_was_away_is_answered_with_a_note(
    a_team: OpenTeam,
) -> None:
    server = TelegramServer()
    anna, ops = server.user(7, "Anna"), server.group(-1001, "Ops")
    then = int(START.timestamp()) - AWAY
    for text in ("/start", "which port does billing listen on?"):
        server.says(anna, anna, text, date=then)
    question = server.says(ops, anna, "@belay_bot как перезапустить шлюз?", date=then)
    for words_now in ("как перезапустить биллинг?", "как перезапустить платёжный шлюз?"):
        server.edits(ops, anna, question, f"@belay_bot {words_now}")
    server.says(anna, anna, "how do I restart billing?", date=then + AWAY - 60)
    async with on_call(await a_team(DOCS), server=server, late_after=900.0, workers=1) as (at, _):
        await at.until(lambda: len(server.updates.delivered) == 6)
        _, late, fresh = [words(sent) for sent in await at.answered(anna, 3)]
        assert late.startswith("You asked this 9 h ago")
        assert "8081" in late
        assert "ago" not in fresh.partition("Sources")[0]
        (russian,) = [words(sent) for sent in server.sent(ops)]
        assert russian.startswith("Вы спросили это 9 ч. назад")
        assert "pay-gw restart" in russian


@pytest.mark.parametrize("said", ["why?", ""], ids=["word", "alone"])
async def test_a_forwarded_alert_is_answered_with_the_word_about_it(
    a_team: OpenTeam, said: str
) -> None:
    origin = {"type": "hidden_user", "date": 1, "sender_user_name": "Alerts"}
    alert = "CronJob backup-orders failed: exit 137"
    async with on_call(await a_team(DOCS)) as (at, _):
        if said:
            at.server.says(at.anna, at.anna, said)
        at.server.says(at.anna, at.anna, alert, forward_origin=origin)
        while not at.server.sent(at.anna):
            await at.passes(0.5)
        (answer,) = await at.answered(at.anna)
        assert "memory limit" in words(answer)
        assert "exit-codes.md" in words(answer)
