"""How an answer grows before people's eyes: drafts in private chats, one message in groups."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from adapters.telegram.options import Options
from bot.chat import Incoming, Reply
from bot.ports import Conversation
from tests.adapters.telegram_kit import At, office
from tests.servers.telegram_server import Flood, Refused, TelegramServer

LOUD = Options(quiet=0.0)
PIECES = ["All times are **UT", "C** and use `kube", "ctl get po`", " [see](https://wi", "ki.corp)"]


class Writer:
    """Writes piece by piece, each when the test says so; then answers with all of them."""

    def __init__(self, pieces: Sequence[str], stage: str = "") -> None:
        self.pieces, self.stage = pieces, stage
        self.turn = asyncio.Semaphore(0)
        self.written = 0

    async def __call__(self, event: Incoming, conversation: Conversation) -> None:
        if self.stage:
            await conversation.progress(self.stage)
        so_far = ""
        for piece in self.pieces:
            await self.turn.acquire()
            so_far += piece
            await conversation.stream(so_far)
            self.written += 1
        await self.turn.acquire()
        await conversation.answer(Reply(so_far or "done"))

    async def writes(self, at: At, pieces: int = 1, seconds: float = 5.0) -> None:
        """The next pieces, the given time apart."""
        for _ in range(pieces):
            before = self.written
            self.turn.release()
            while self.written == before:
                await asyncio.sleep(0)
            await at.passes(seconds)

    def ends(self) -> None:
        self.turn.release()


@pytest.mark.parametrize("rich", [True, False])
async def test_tg_06_a_private_answer_grows_as_a_draft(rich: bool) -> None:
    writer = Writer(PIECES, "searching …")
    async with office(writer) as at:
        at.server.rich = rich
        question = at.server.says(at.anna, at.anna, "which zone?")
        await at.until(lambda: at.seen)
        await writer.writes(at, len(PIECES))
        writer.ends()
        (answer,) = await at.answered(at.anna)
        drafts = at.server.drafts(at.anna)
        assert len(drafts) >= len(PIECES)
        assert {(each.draft_id, each.can_stop) for each in drafts} == {(question, True)}
        visible = answer.text if rich else "All times are UTC and use kubectl get po see"
        assert answer.text == visible
        refusals = [call for call in at.server.calls if call.error not in (0, 404)]
        assert refusals == []


async def test_tg_06_a_group_answer_grows_in_one_message() -> None:
    writer = Writer(PIECES, "searching …")
    async with office(writer, options=LOUD) as at:
        question = at.server.says(at.ops, at.anna, "/ask which zone?", thread=77)
        await at.until(lambda: at.server.sent(at.ops))
        (first,) = at.server.sent(at.ops)
        assert (first.text, first.reply_to, first.thread) == ("searching …", question, 77)
        await at.passes(5)
        await writer.writes(at, len(PIECES))
        writer.ends()
        (answer,) = await at.answered(at.ops)
        assert answer.message_id == first.message_id
        assert answer.rich is not None
        assert answer.edits == len(PIECES) + 1
        assert all(not call.error for call in at.server.calls)


async def test_tg_06_a_refused_frame_is_left_out() -> None:
    writer = Writer(PIECES)
    async with office(writer, options=LOUD) as at:
        bad = Refused(400, "Bad Request: can't parse entities")
        at.server.fail("sendMessage", bad)
        at.server.fail("editMessageText", bad)
        at.server.says(at.ops, at.anna, "/ask which zone?")
        await at.until(lambda: at.seen)
        await writer.writes(at, len(PIECES))
        writer.ends()
        (answer,) = await at.answered(at.ops)
        assert "kubectl get po" in answer.text


async def test_tg_06_edits_that_are_never_taken_cost_no_answer() -> None:
    writer = Writer(PIECES)
    async with office(writer, options=LOUD) as at:
        at.server.fail("editMessageText", *[Refused(400, "message can't be edited")] * 20)
        at.server.says(at.ops, at.anna, "/ask which zone?")
        await at.until(lambda: at.seen)
        await writer.writes(at, len(PIECES))
        writer.ends()
        await at.until(lambda: len(at.server.sent(at.ops)) == 2)
        await at.idle()
        assert at.server.sent(at.ops)[-1].rich is not None


async def test_tg_08_nothing_is_written_while_telegram_wants_silence(
    caplog: pytest.LogCaptureFixture,
) -> None:
    words = [f"word{number} " for number in range(60)]
    writer = Writer(words)
    async with office(writer, options=LOUD) as at:
        at.server.says(at.ops, at.anna, "/ask tell me all")
        at.server.says(at.boris, at.boris, "which port?")
        await at.until(lambda: len(at.seen) == 2)
        group = [at.server.called(name, at.ops) for name in ("sendMessage", "editMessageText")]
        assert group == [[], []]
        flood = Refused(429, "Too Many Requests: retry after 7", retry_after=7)
        at.server.fail("editMessageText", flood, chat=at.ops)
        await writer.writes(at, 60, seconds=0.5)
        calls = [
            call
            for call in at.server.calls
            if call.chat == at.ops.id and call.method in ("sendMessage", "editMessageText")
        ]
        refused = next(call for call in calls if call.error == 429)
        after = [call.at - refused.at for call in calls if call.at > refused.at]
        assert after
        assert min(after) >= 7
        assert len(calls) <= 30 / 3 + 1
        assert caplog.text.count("silence") == 1


async def test_tg_08_the_whole_answer_comes_when_the_ban_is_over() -> None:
    writer = Writer(["one ", "two ", "three"])
    async with office(writer, options=LOUD) as at:
        at.server.says(at.ops, at.anna, "/ask count")
        await at.until(lambda: at.seen)
        await writer.writes(at)
        flood = Refused(429, "Too Many Requests: retry after 30", retry_after=30)
        at.server.fail("editMessageText", flood, chat=at.ops)
        await writer.writes(at, 2, seconds=4)
        writer.ends()
        before = len(at.server.called("editMessageText"))
        await at.passes(10)
        assert len(at.server.called("editMessageText")) == before
        await at.passes(20)
        (answer,) = await at.answered(at.ops)
        assert answer.text == "one two three"


async def test_tg_08_under_real_flood_control_the_answer_arrives() -> None:
    writer = Writer([f"word{number} " for number in range(20)])
    async with office(writer, options=LOUD) as at:
        at.server.flood = Flood(burst=1, window=2.0, retry_after=3)
        at.server.says(at.ops, at.anna, "/ask tell me all")
        await at.until(lambda: at.seen)
        await writer.writes(at, 20, seconds=0.4)
        writer.ends()
        for _ in range(5):
            await at.passes(3.5)
        (answer,) = await at.answered(at.ops)
        assert answer.text.strip().endswith("word19")


async def test_a_quick_answer_in_a_group_is_not_preceded_by_a_message() -> None:
    writer = Writer([], "searching …")
    async with office(writer) as at:
        at.server.says(at.ops, at.anna, "/ask quick")
        await at.until(lambda: at.server.called("sendChatAction"))
        writer.ends()
        (answer,) = await at.answered(at.ops)
        assert (answer.text, answer.edits) == ("done", 0)


async def test_a_slow_search_is_seen_to_go_on() -> None:
    writer = Writer([], "searching …")
    async with office(writer) as at:
        at.server.says(at.ops, at.anna, "/ask slow")
        at.server.says(at.anna, at.anna, "slow too")
        await at.until(lambda: at.server.drafts(at.anna))
        await at.until(lambda: at.server.called("sendChatAction"))
        for _ in range(10):
            await at.passes(4)
            await at.until(lambda: at.server.sent(at.ops))
        await at.until(lambda: len(at.server.drafts(at.anna)) >= 2)
        await at.until(lambda: len(at.server.called("sendChatAction")) >= 3)
        writer.ends()
        writer.ends()
        await at.answered(at.anna)
        (answer,) = await at.answered(at.ops)
        assert answer.text == "done"


async def test_the_stop_button_ends_the_answer() -> None:
    writer = Writer(["one ", "two"])
    async with office(writer) as at:
        question = at.server.says(at.anna, at.anna, "count")
        await at.until(lambda: at.seen)
        await writer.writes(at)
        at.server.stops(at.anna, question)
        await at.until(lambda: not at.working)
        shown = len(at.server.drafts(at.anna))
        for _ in range(10):
            await at.passes(4)
        assert len(at.server.drafts(at.anna)) == shown
        at.server.says(at.anna, at.anna, "again")
        await at.until(lambda: len(at.seen) == 2)
        await writer.writes(at, 2)
        writer.ends()
        await at.answered(at.anna)


async def test_a_server_without_drafts_still_answers() -> None:
    writer = Writer(["one ", "two"], "searching …")
    async with office(writer) as at:
        missing = Refused(404, "Not Found: method not found")
        at.server.fail("sendRichMessageDraft", missing)
        at.server.fail("sendMessageDraft", missing)
        at.server.says(at.anna, at.anna, "count")
        await at.until(lambda: at.seen)
        await writer.writes(at, 2)
        writer.ends()
        (answer,) = await at.answered(at.anna)
        assert answer.text == "one two"
        assert at.server.called("sendChatAction")


async def test_sc_03_growing_text_has_no_previews_either() -> None:
    writer = Writer(["See https://idp.example/reset?token=abcdef ", "now"])
    async with office(writer, options=LOUD, server=TelegramServer()) as at:
        at.server.says(at.ops, at.anna, "/ask where?")
        await at.until(lambda: at.seen)
        await writer.writes(at, 2)
        writer.ends()
        await at.answered(at.ops)
        texts = [
            call.params
            for name in ("sendMessage", "editMessageText")
            for call in at.server.called(name)
        ]
        assert len(texts) == 3
        assert all(each["link_preview_options"]["is_disabled"] for each in texts)
        assert "abcdef" not in str(texts)


class Dying:
    """Fails once, when its work is seen: before the answer, or right after it."""

    def __init__(self, *, answers_first: bool) -> None:
        self._answers_first, self.died = answers_first, asyncio.Event()

    async def __call__(self, event: Incoming, conversation: Conversation) -> None:
        await conversation.progress("searching …")
        if self._answers_first or self.died.is_set():
            await conversation.answer(Reply("It is 8081."))
        if not self.died.is_set():
            self.died.set()
            raise RuntimeError("killed")


@pytest.mark.parametrize("answers_first", [True, False])
@pytest.mark.parametrize("deleted", [True, False])
async def test_op_01_a_sign_of_work_is_not_left_behind(answers_first: bool, deleted: bool) -> None:
    """The next attempt goes on in the same message, and never takes an answer for a sign."""
    dying = Dying(answers_first=answers_first)
    async with office(dying, options=LOUD) as at:
        question = at.server.says(at.ops, at.anna, "/ask which port?", thread=77)
        await at.until(dying.died.is_set)
        (sign,) = at.server.sent(at.ops)
        lost = deleted and not answers_first
        if lost:
            there = {"chat_id": at.ops.id, "message_id": sign.message_id}
            at.server.methods.do_deletemessage(there)
        await at.passes(5)
        (answer,) = await at.answered(at.ops)
        assert (answer.text, answer.reply_to, answer.thread) == ("It is 8081.", question, 77)
        assert (answer.message_id == sign.message_id) is not lost
