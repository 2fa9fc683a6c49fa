"""Chats that lean on earlier conversations: who is reminded of what, where, and after a restart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

import pytest

from adapters.memory.feedback import MemoryFeedback
from adapters.memory.index import MemoryIndex
from adapters.memory.sessions import MemorySessions
from bot.chat import Person, Place
from bot.errors import StorageError
from bot.ingest.sessions import index_sessions
from bot.minutes import Minutes
from bot.sessions import SessionLog, SessionTurn
from graph.machine import Machine
from graph.model import Access, Outcome
from graph.ports import ChatModel, Ports
from tests.bot.answering_kit import NOW, Bot, value
from tests.contract.index_chunks import chunk_of, vector_of
from tests.scenarios.conftest import OpenTeam
from tests.scenarios.kit import Files, Team

ANN, BORIS = Person("slack", "U1", "Ann"), Person("slack", "U2", "Boris")
BOSS = Person("slack", "U9", "Boss")
CHANNEL = Place("slack", "C1", "channel", "1700000000.000100")
LATER = replace(CHANNEL, thread="1700600000.000100")
ELSEWHERE = Place("slack", "C2", "channel", "1700600000.000200")
DM = Place("slack", "D1")
DECISION = "ok, we fail over the orders database to Frankfurt, the window is Tuesday 10:00"
ASKED = "what did we decide about the failover last week?"
BOARD = Access(audience="director")
DOCS: Files = {
    "backups.md": "# Backups\n\nThe backup host is bkp-01. Backups are kept for 14 days.\n",
    "billing-prod-tls.md": "# Rotate the TLS certificate of billing on prod\n\nOn prod the TLS "
    "certificate of billing is rotated with `certctl rotate billing --env prod`.\n",
    "billing-staging-tls.md": "# Rotate the TLS certificate of billing on staging\n\nOn staging "
    "the TLS certificate of billing is rotated with `certctl rotate billing --env staging`.\n",
    "wifi.md": "# Guest Wi-Fi\n\nThe guest Wi-Fi password policy: a new password every Monday.\n",
    "plan.md": "# Plan Umbra\n\nThe code name of the merger with Otterby is Umbra.\n",
}


@dataclass
class Office:
    """A team with a log of what was said. `starts` gives a bot as a new process would be."""

    team: Team
    folder: Path
    log: SessionLog = field(default_factory=MemorySessions)
    index: MemoryIndex = field(default_factory=MemoryIndex)

    def starts(self, model: ChatModel | None = None) -> Bot:
        own = self.team.app.embedder
        ports = Ports(self.team.app.index, own, own, model=model, sessions=self.index)
        votes = MemoryFeedback()
        minutes = Minutes(self.log, index=self.index, feedback=votes, link=_link)
        machine = Machine(ports, now=lambda: NOW)
        bot = Bot(machine, {"minutes": minutes}, feedback=votes)
        bot.admins = frozenset({BOSS.key})
        bot.__post_init__()
        return bot

    async def indexes(self) -> None:
        own = self.team.app.embedder
        lock = self.folder / "sessions.lock"
        await index_sessions(self.log, self.index, own, own, lock=lock)


def _link(place: Place, message_id: str) -> str:
    return f"https://chat.example/{place.id}/{message_id}"


@pytest.fixture
async def office(a_team: OpenTeam, tmp_path: Path) -> Office:
    return Office(await a_team(DOCS), tmp_path)


async def talking(office: Office) -> Bot:
    bot = office.starts()
    for who in (CHANNEL, ELSEWHERE, ANN, BORIS):
        await bot.let_in(who)
    return bot


async def restarted(office: Office, old: Bot) -> Bot:
    bot = office.starts()
    bot.roll = old.roll
    bot.__post_init__()
    bot.messages = old.messages
    return bot


async def test_what_was_decided_is_told_in_its_channel_and_nowhere_else(office: Office) -> None:
    """SC-04: the same question in another channel, and in private, finds nothing of it."""
    bot = await talking(office)
    await bot.says(ANN, DECISION, CHANNEL)
    await office.indexes()
    bot.now += timedelta(days=7)
    seen = await bot.says(BORIS, ASKED, LATER)
    answer = seen.answers[0].answer
    assert answer is not None
    assert answer.outcome is Outcome.ANSWERED
    assert "From an earlier conversation, not from your documents" in seen.shown
    assert "Frankfurt" in seen.shown
    assert "from an earlier conversation, 2026-03-02 — https://chat.example/C1/1" in seen.shown
    for place in (ELSEWHERE, DM):
        other = await bot.says(BORIS, ASKED, place)
        assert "Frankfurt" not in other.shown
        assert "earlier conversation" not in other.shown


async def test_what_was_asked_in_private_stays_there(office: Office) -> None:
    """Also what was asked in private in the middle of a channel: it is told to its asker only."""
    bot = await talking(office)
    await bot.says(ANN, DECISION, CHANNEL, secretly=True)
    await bot.says(ANN, "we keep the codeword for the window as ORCA-77", DM)
    await office.indexes()
    question = "what did we say is the codeword for the window?"
    assert "ORCA-77" in (await bot.says(ANN, question, DM)).shown
    assert "ORCA-77" not in (await bot.says(BORIS, question, replace(DM, id="D2"))).shown
    for asker in (ANN, BORIS):
        assert "Frankfurt" not in (await bot.says(asker, ASKED, CHANNEL)).shown
        assert "ORCA-77" not in (await bot.says(asker, question, CHANNEL)).shown


async def test_a_channel_that_others_join_does_not_tell_them_what_was_said(office: Office) -> None:
    bot = await talking(office)
    shared = replace(LATER, outsiders=True)
    await bot.let_in(shared)
    await bot.says(ANN, DECISION, CHANNEL)
    await office.indexes()
    assert "Frankfurt" not in (await bot.says(BORIS, ASKED, shared)).shown


async def test_se_05_documents_come_before_what_was_said(office: Office) -> None:
    bot = await talking(office)
    await bot.says(ANN, "I think the backup host is bkp-99 these days, is that so", CHANNEL)
    await office.indexes()
    seen = await bot.says(BORIS, "which host has the backups?", LATER)
    assert "bkp-01" in seen.shown
    assert "bkp-99" not in seen.shown


async def test_a_question_nobody_could_answer_is_no_answer_later(office: Office) -> None:
    bot = await talking(office)
    for text in ("who has the pager of the warehouse?", "pager warehouse"):
        await bot.says(ANN, text, CHANNEL)
    await office.indexes()
    seen = await bot.says(BORIS, "who has the pager of the warehouse?", LATER)
    assert seen.answers[0].answer is not None
    assert seen.answers[0].answer.outcome is Outcome.NOT_FOUND


@pytest.mark.parametrize("change", ["deleted", "closed"])
async def test_sc_16_an_answer_goes_with_its_document(office: Office, change: str) -> None:
    """SC-16: what was drawn from a document that is gone, or closed now, is not told again: not as
    an earlier answer, and not to the model as what was said before."""
    bot = await talking(office)
    asked = "what is the code name of the merger with Otterby?"
    assert "Umbra" in (await bot.says(ANN, asked, CHANNEL)).shown
    await bot.says(ANN, "fine, so we write umbra-7 into all mails about that merger", CHANNEL)
    await office.indexes()
    later = "what did we agree to write into mails about the merger?"
    assert "umbra-7" in (await bot.says(BORIS, later, LATER)).shown
    index = office.team.app.index
    record = (await index.records("docs"))["plan.md"]
    await index.remove("docs", ["plan.md"])
    if change == "closed":
        vector = vector_of("plan", (await index.info()).dimension)
        closed = chunk_of("Umbra.", "plan.md", source="docs", access=BOARD, vector=vector)
        await index.replace("docs", record, [closed])
    for place in (CHANNEL, LATER, DM):
        for question in (asked, later, "and what is its code name?"):
            seen = await bot.says(BORIS, question, place)
            assert "umbra" not in seen.shown.lower()
            assert "umbra" not in bot.traces[-1].resolved.lower()


async def test_rt_01_a_follow_up_survives_a_restart(office: Office) -> None:
    bot = await talking(office)
    await bot.says(ANN, "How do I rotate the TLS certificate of billing on prod?", CHANNEL)
    bot = await restarted(office, bot)
    seen = await bot.says(ANN, "and on staging?", CHANNEL)
    assert "billing" in bot.traces[-1].resolved
    assert "certctl rotate billing --env staging" in seen.shown


async def test_tg_13_buttons_work_after_a_restart_and_on_another_replica(office: Office) -> None:
    """The question is asked again as it was meant, for whoever presses now."""
    bot = await talking(office)
    await bot.says(ANN, "How do I rotate the TLS certificate of billing on prod?", CHANNEL)
    asked = await bot.says(ANN, "and on staging?", CHANNEL)
    await bot.says(ANN, "What is the guest Wi-Fi password policy?", CHANNEL)
    bot = await restarted(office, bot)
    told = await bot.presses(BORIS, value(asked, "s"), CHANNEL)
    assert "billing-staging-tls.md" in told.shown
    for place in (ELSEWHERE, DM):  # the id alone opens nothing
        told = await bot.presses(BORIS, value(asked, "s"), place)
        assert "billing" not in told.shown


async def test_a_private_answer_has_buttons_for_its_asker_alone(office: Office) -> None:
    bot = await talking(office)
    asked = await bot.says(ANN, "What is the guest Wi-Fi password policy?", CHANNEL, secretly=True)
    bot = await restarted(office, bot)
    assert "wifi" not in (await bot.presses(BORIS, value(asked, "s"), CHANNEL)).shown
    told = await bot.presses(ANN, value(asked, "s"), CHANNEL)
    assert "wifi.md" in told.shown
    assert all(reply.private for reply in told.said)


async def test_se_07_a_follow_up_knows_what_another_replica_answered(office: Office) -> None:
    """Both have met the conversation; the load balancer sends the follow-up to the first one."""
    one = await talking(office)
    await one.says(ANN, "What is the guest Wi-Fi password policy?", CHANNEL)
    other = await restarted(office, one)
    await other.says(ANN, "How do I rotate the TLS certificate of billing on prod?", CHANNEL)
    one.messages = other.messages
    seen = await one.says(ANN, "and on staging?", CHANNEL)
    assert "billing" in one.traces[-1].resolved
    assert "certctl rotate billing --env staging" in seen.shown


async def test_se_03_what_one_replica_forgot_no_other_remembers(office: Office) -> None:
    one = await talking(office)
    asked = await one.says(ANN, "How do I rotate the TLS certificate of billing on prod?", CHANNEL)
    other = await restarted(office, one)
    assert "2 turns" in (await other.says(ANN, "/forget", CHANNEL)).shown
    one.messages = other.messages
    await one.says(ANN, "and on staging?", CHANNEL)
    assert "billing" not in one.traces[-1].resolved
    sources = await one.presses(ANN, value(asked, "s"), CHANNEL)
    assert "billing" not in sources.shown


async def test_what_the_log_cannot_take_is_remembered_by_the_process(office: Office) -> None:
    """The log fails for a while: follow-ups work meanwhile, and later."""
    log = office.log = Failing()
    bot = await talking(office)
    log.fails = True
    await bot.says(ANN, "How do I rotate the TLS certificate of billing on prod?", CHANNEL)
    for fails in (True, False):
        log.fails = fails
        seen = await bot.says(ANN, "and on staging?", CHANNEL)
        assert "certctl rotate billing --env staging" in seen.shown


async def test_rt_04_a_new_topic_after_a_restart_is_not_dragged_back(office: Office) -> None:
    bot = await talking(office)
    await bot.says(ANN, "How do I rotate the TLS certificate of billing on prod?", CHANNEL)
    bot = await restarted(office, bot)
    question = "What is the guest Wi-Fi password policy?"
    seen = await bot.says(ANN, question, CHANNEL)
    assert bot.traces[-1].resolved == question
    assert "every Monday" in seen.shown
    assert "billing" not in seen.shown


async def test_se_09_after_a_restart_people_are_still_kept_apart(office: Office) -> None:
    bot = await talking(office)
    await bot.says(ANN, "my service is billing, how do I rotate its certificate?", CHANNEL)
    bot = await restarted(office, bot)
    await bot.says(BORIS, "how do I restart my service?", CHANNEL)
    assert "billing" not in bot.traces[-1].resolved


async def test_se_03_forget_takes_it_out_of_everything(office: Office) -> None:
    """SE-03: the log, the index, the memory, and after a restart; others' words stay."""
    bot = await talking(office)
    await bot.says(ANN, "we agreed that the door code of the cage is 7781", CHANNEL)
    await bot.says(BORIS, DECISION, CHANNEL)
    await office.indexes()
    asked = "what did we say about the door code of the cage?"
    assert "7781" in (await bot.says(BORIS, asked, CHANNEL)).shown
    assert "2 turns" in (await bot.says(ANN, "/forget", CHANNEL)).shown
    for _ in range(2):
        seen = await bot.says(BORIS, "what is the door code of the cage?", LATER)
        assert "7781" not in seen.shown
        bot = await restarted(office, bot)
    assert "Frankfurt" in (await bot.says(ANN, ASKED, LATER)).shown
    assert not [turn for turn in await office.log.all() if turn.person == ANN.key][2:]


async def test_forget_everywhere_takes_all_of_the_askers_turns(office: Office) -> None:
    bot = await talking(office)
    for place in (CHANNEL, LATER, DM):
        await bot.says(ANN, "we keep the door code as 7781 until friday", place)
    await bot.says(BORIS, DECISION, CHANNEL)
    assert "6 turns" in (await bot.says(ANN, "/forget everywhere", CHANNEL)).shown
    assert {turn.person for turn in await office.log.all()} == {BORIS.key}


async def test_sc_15_only_an_admin_has_others_forgotten(office: Office) -> None:
    bot = await talking(office)
    await bot.says(ANN, DECISION, CHANNEL)
    await bot.says(ANN, DECISION, ELSEWHERE)
    for line in ("/forget slack:U1", "/forget conversation", "/forget this thread"):
        assert "0 turns" in (await bot.says(BORIS, line, CHANNEL)).shown
    assert len(await office.log.all()) == 4
    assert "2 turns" in (await bot.says(BOSS, "/forget conversation", CHANNEL)).shown
    await bot.says(BORIS, DECISION, CHANNEL)
    assert "2 turns" in (await bot.says(BOSS, "/forget slack:U1", CHANNEL)).shown
    assert {turn.person for turn in await office.log.all()} == {BORIS.key}


async def test_sc_15_somebodys_votes_go_with_their_words(office: Office) -> None:
    """SC-15: when an admin has a person forgotten; the votes of others stay."""
    bot = await talking(office)
    seen = await bot.says(ANN, "which host has the backups?", CHANNEL)
    for person in (ANN, BORIS):
        await bot.presses(person, value(seen, "u"), CHANNEL)
    await bot.says(BORIS, "/forget slack:U1", CHANNEL)
    assert {vote.person for vote in await bot.feedback.recent(9)} == {ANN.key, BORIS.key}
    await bot.says(BOSS, "/forget slack:U1", CHANNEL)
    assert [vote.person for vote in await bot.feedback.recent(9)] == [BORIS.key]


class Failing(MemorySessions):
    """A log on a disk that is full while it `fails`."""

    def __init__(self, *, fails: bool = False) -> None:
        super().__init__()
        self.fails = fails

    async def add(self, turns: Sequence[SessionTurn]) -> None:
        self._check()
        await super().add(turns)

    async def recent(self, conversation: str, limit: int) -> Sequence[SessionTurn]:
        self._check()
        return await super().recent(conversation, limit)

    def _check(self) -> None:
        if self.fails:
            raise StorageError("the disk is full", "free some space")


class Stuck(MemoryIndex):
    """An index whose disk is full, from now on."""

    full = False

    async def remove(self, source: str, paths: object) -> int:
        if self.full:
            raise StorageError("the disk is full", "free some space")
        return await super().remove(source, paths)  # type: ignore[arg-type]  # a sequence of str


async def test_se_03_what_cannot_be_removed_now_is_told_and_goes_later(office: Office) -> None:
    office.index = stuck = Stuck()
    bot = await talking(office)
    await bot.says(ANN, "we agreed that the door code of the cage is 7781", CHANNEL)
    await office.indexes()
    stuck.full = True
    seen = await bot.says(ANN, "/forget", CHANNEL)
    assert "2 turns" in seen.shown
    assert "next run" in seen.shown
    stuck.full = False
    await office.indexes()
    later = await bot.says(BORIS, "what did we say about the door code of the cage?", LATER)
    assert "7781" not in later.shown


async def test_a_log_that_fails_costs_nobody_an_answer(office: Office) -> None:
    office.log = Failing(fails=True)
    bot = await talking(office)
    seen = await bot.says(ANN, "What is the guest Wi-Fi password policy?", CHANNEL)
    assert "every Monday" in seen.shown


async def test_a_group_with_a_new_id_keeps_what_was_said(office: Office) -> None:
    bot = await talking(office)
    group, person = Place("telegram", "-1", "group"), Person("telegram", "1", "Ann")
    await bot.let_in(group)
    await bot.says(person, DECISION, group)
    await bot.moves(group, "-100")
    await office.indexes()
    assert "Frankfurt" in (await bot.says(person, ASKED, replace(group, id="-100"))).shown


async def test_a_secret_that_somebody_typed_is_not_kept(office: Office) -> None:
    """SC-11 for what people write to the bot."""
    bot = await talking(office)
    key = "AKIA" + "IOSFODNN7EXAMPLE"
    await bot.says(ANN, f"aws_secret: {key}, can you read the bucket with this", CHANNEL)
    assert key not in str(await office.log.all())
