"""What is for one person's eyes: over the chat, for them alone in the group, or in private."""

from __future__ import annotations

import pytest

from bot.chat import Incoming, Kind, Reply
from bot.ports import Conversation
from tests.adapters.telegram_kit import At, Handle, office
from tests.servers.telegram_server import Lost, Refused, TelegramServer

DENIAL = "Only admins may do that."
LONG = "These people were let in: " + ", ".join(f"`telegram:{n}`" for n in range(1000, 1030))


def denial(text: str = DENIAL, *, tracked: bool = False) -> Handle:
    async def deny(event: Incoming, conversation: Conversation) -> None:
        if event.kind in (Kind.QUESTION, Kind.PRESS):
            reply = Reply(text, private=True)
            await (conversation.answer(reply) if tracked else conversation.say(reply))

    return deny


def words(text: str) -> str:
    return text.replace("\\", "")


async def asked(at: At) -> None:
    at.server.says(at.ops, at.anna, "/revoke telegram:9", thread=77)
    await at.until(lambda: at.seen)
    await at.idle()


@pytest.mark.parametrize("rich", [True, False])
@pytest.mark.parametrize("tracked", [True, False])
async def test_sc_15_a_denial_in_a_group_is_seen_by_whoever_asked(
    tracked: bool, rich: bool
) -> None:
    async with office(denial(tracked=tracked)) as at:
        at.server.rich = rich
        at.ops.bot_status = "administrator"
        await asked(at)
        (seen,) = at.server.whispers(at.ops)
        assert (seen.receiver, words(seen.text)) == (at.anna.id, DENIAL)
        assert at.server.sent(at.ops) == at.server.sent(at.anna) == []


@pytest.mark.parametrize("rich", [True, False])
async def test_a_plain_member_of_a_group_writes_in_private(rich: bool) -> None:
    async with office(denial(tracked=True)) as at:
        at.server.rich = rich
        await asked(at)
        (seen,) = at.server.sent(at.anna)
        assert (words(seen.text), seen.reply_to, seen.thread) == (DENIAL, None, None)
        assert at.server.sent(at.ops) == []


async def test_silence_is_no_answer_to_those_who_never_wrote_in_private() -> None:
    async with office(denial(tracked=True)) as at:
        at.anna.met = False
        question = at.server.says(at.ops, at.anna, "/revoke telegram:9", thread=77)
        (seen,) = await at.answered(at.ops)
        assert (words(seen.text), seen.reply_to, seen.thread) == (DENIAL, question, 77)
        assert at.gone == []


async def test_what_may_have_arrived_is_not_shown_to_everybody() -> None:
    async with office(denial(tracked=True)) as at:
        at.ops.bot_status = "administrator"
        at.server.fail("sendRichMessage", Lost(done=True))
        at.server.says(at.ops, at.anna, "/revoke telegram:9")
        await at.until(lambda: at.server.whispers(at.ops))
        await at.passes(5)
        await at.idle()
        assert len(at.server.whispers(at.ops)) == 1
        assert DENIAL not in [words(sent.text) for sent in at.server.sent(at.ops)]


async def test_too_fast_is_no_reason_to_say_it_in_public() -> None:
    async with office(denial(tracked=True)) as at:
        at.ops.bot_status = "administrator"
        flood = Refused(429, "Too Many Requests: retry after 7", retry_after=7)
        at.server.fail("sendRichMessage", flood)
        at.server.says(at.ops, at.anna, "/revoke telegram:9")
        await at.until(lambda: at.server.called("sendRichMessage"))
        await at.passes(8)
        await at.idle()
        assert len(at.server.whispers(at.ops)) == 1
        assert at.server.sent(at.ops) == []


async def test_long_words_for_whoever_pressed_a_button_are_theirs_too() -> None:
    async with office(denial(LONG)) as at:
        at.ops.bot_status = "administrator"
        press = at.server.presses_old(at.ops, at.anna, 5, "x", expired=False)
        await at.until(lambda: at.server.whispers(at.ops))
        await at.idle()
        (seen,) = at.server.whispers(at.ops)
        assert (seen.receiver, seen.press) == (at.anna.id, press)
        assert len(at.server.called("answerCallbackQuery")) == 1


async def test_an_anonymous_admin_has_no_private_chat() -> None:
    server = TelegramServer()
    async with office(denial(), server=server) as at:
        nobody = server.user(1087968824, "Group", username="GroupAnonymousBot")
        nobody.is_bot = True
        server.says(at.ops, nobody, "/revoke telegram:9", sender_chat=at.ops.chat)
        (seen,) = await at.answered(at.ops)
        assert words(seen.text) == DENIAL


async def test_answers_are_for_everybody_and_private_chats_are_private_already() -> None:
    async with office(denial()) as at:
        at.server.says(at.anna, at.anna, "/revoke telegram:9")
        (seen,) = await at.answered(at.anna)
        assert words(seen.text) == DENIAL
        assert "ephemeral_message_parameters" not in at.server.called("sendRichMessage")[0].params
