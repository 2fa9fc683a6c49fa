"""How an answer grows before people's eyes on Slack, and what becomes of it in the end."""

from __future__ import annotations

import pytest

from adapters.slack.options import Options
from bot.buttons import Action, value_of
from bot.chat import Button, Reply
from tests.adapters.slack_talk import At, talking
from tests.servers.slack_server import STREAM_LIFE, Limited, Lost, Refused, Sent
from tests.servers.slack_text import letters, live_tokens, seen

UP = Button("👍", value_of(Action.UP, "0123456789ab"))
WORDS = [f"word{number} " for number in range(300)]
PIECES = ["All times are **UT", "C** and use `kube", "ctl get po`", " and <!he", "re> wait."]


async def writes(at: At, pieces: list[str], final: str, *, every: float = 1.1, **more: str) -> Sent:
    """Streams the pieces, answers with the final text, and returns what stands in the thread."""
    talk = at.conversation(at.asks())
    so_far = ""
    for piece in pieces:
        so_far += piece
        await talk.stream(so_far)
        at.clock.advance(every)
    await talk.answer(Reply(final, (UP,)))
    (answer,) = at.answers()
    assert not answer.streaming
    return answer


def words(answer: Sent) -> str:
    blocks = [block["text"] for block in answer.blocks if block["type"] == "markdown"]
    return letters(seen(answer.markdown + "".join(blocks)).text or answer.shown)


FINAL = "All times are UTC and use kubectl get po and <!here> wait."


@pytest.mark.parametrize("place", ["ops", "direct"])
async def test_an_answer_grows_in_one_message(place: str) -> None:
    async with talking() as at:
        question = at.asks(channel=getattr(at, place))
        talk = at.conversation(question)
        await talk.progress("Searching …")
        so_far = ""
        for piece in PIECES:
            so_far += piece
            await talk.stream(so_far)
            at.clock.advance(1.1)
        await talk.answer(Reply(so_far, (UP,)))
        (answer,) = at.answers(getattr(at, place))
        assert (answer.thread, answer.streaming, answer.edits) == (question.place.thread, False, 0)
        assert words(answer) == letters(FINAL)
        assert answer.buttons
        assert len(at.server.called("chat.appendStream")) >= 2
        (start,) = at.server.called("chat.startStream")
        assert (start.params["recipient_user_id"], start.params["recipient_team_id"]) == (
            "U0ANN",
            "T0TEAM",
        )
        assert [
            live_tokens(str(call.params))
            for call in at.server.calls
            if live_tokens(str(call.params))
        ] == []
        assert not [call for call in at.server.calls if call.error]


async def test_sl_17_three_hundred_pieces_take_few_calls() -> None:
    """SL-17: about one a second, and the last part is shown."""
    async with talking() as at:
        answer = await writes(at, WORDS, "".join(WORDS), every=0.05)
        assert words(answer) == letters("".join(WORDS))
        assert len(at.server.calls) <= 20


async def test_sl_17_while_slack_wants_silence_nothing_is_written() -> None:
    """SL-17: Retry-After is obeyed, the final text comes all the same."""
    async with talking() as at:
        at.server.fail("chat.appendStream", Limited(10))
        answer = await writes(at, WORDS, "".join(WORDS), every=0.05)
        assert words(answer) == letters("".join(WORDS))
        appends = at.server.called("chat.appendStream")
        first = next(call for call in appends if call.error)
        after = [call.at - first.at for call in appends if call.at > first.at]
        assert min(after, default=10) >= 10


@pytest.mark.parametrize("method", ["chat.stopStream", "chat.startStream"])
async def test_sl_17_the_end_waits_for_its_turn(method: str) -> None:
    async with talking() as at:
        at.server.fail(method, Limited(4))
        answer = await writes(at, PIECES, "".join(PIECES))
        assert words(answer) == letters(FINAL)


async def test_a_stream_that_slack_ended_is_replaced_by_the_answer() -> None:
    async with talking() as at:
        answer = await writes(at, PIECES, "".join(PIECES), every=STREAM_LIFE / 3)
        assert words(answer) == letters(FINAL)
        assert (answer.edits, bool(answer.buttons)) == (1, True)


@pytest.mark.parametrize("error", ["message_not_in_streaming_state", "stopped_by_user"])
async def test_a_stream_that_ends_at_the_last_moment_is_replaced(error: str) -> None:
    async with talking() as at:
        at.server.fail("chat.stopStream", Refused(error))
        talk = at.conversation(at.asks())
        await talk.stream("All times are UTC and ")
        (shown,) = at.answers()
        # The loopback server refuses to change what still streams, as Slack does.
        at.server.at.sent[shown.ts] = Sent(shown.channel, shown.ts, thread=shown.thread)
        await talk.answer(Reply("All times are UTC and local.", (UP,)))
        (answer,) = at.answers()
        assert words(answer) == letters("All times are UTC and local.")


async def test_an_answer_that_took_another_turn_replaces_what_was_shown() -> None:
    async with talking() as at:
        answer = await writes(at, PIECES, "Not in the documents.")
        assert words(answer) == letters("Not in the documents.")
        assert (answer.markdown, answer.edits) == ("", 1)


async def test_a_long_answer_goes_on_in_more_messages() -> None:
    final = "".join(f"Step {number}: restart and wait.\n\n" for number in range(900))
    async with talking() as at:
        talk = at.conversation(at.asks())
        for end in range(100, len(final), 4000):
            await talk.stream(final[:end])
            at.clock.advance(2)
        await talk.answer(Reply(final, (UP,)))
        told = at.answers()
        assert "".join(map(words, told)) == letters(final)
        assert [each.streaming for each in told] == [False] * len(told)
        assert [bool(each.buttons) for each in told] == [False] * (len(told) - 1) + [True]


@pytest.mark.parametrize(
    "error", ["unknown_method", "missing_scope", "channel_type_not_supported", "fatal_error"]
)
async def test_where_streams_are_refused_the_answer_is_posted(error: str) -> None:
    async with talking() as at:
        at.server.fail("chat.startStream", *[Refused(error)] * 9)
        answer = await writes(at, PIECES, "".join(PIECES))
        assert words(answer) == letters(FINAL)
        assert not answer.streamed
        assert len(at.server.called("chat.startStream")) == 1


async def test_what_is_not_offered_is_not_asked_for_again() -> None:
    async with talking() as at:
        at.server.fail("chat.startStream", Refused("unknown_method"))
        for _ in range(3):
            await at.conversation(at.asks()).stream("All times are UTC ")
            at.clock.advance(2)
        assert len(at.server.called("chat.startStream")) == 1


@pytest.mark.parametrize("done", [True, False])
async def test_an_addition_of_unknown_fate_is_not_doubled(done: bool) -> None:
    async with talking() as at:
        at.server.fail("chat.appendStream", Lost(done=done))
        answer = await writes(at, PIECES, "".join(PIECES))
        assert words(answer) == letters(FINAL)


@pytest.mark.parametrize("done", [True, False])
@pytest.mark.parametrize("method", ["chat.stopStream", "chat.update"])
async def test_an_end_of_unknown_fate_is_said_again(method: str, done: bool) -> None:
    async with talking() as at:
        at.server.fail(method, Lost(done=done))
        final = "".join(PIECES) if method == "chat.stopStream" else "Another turn."
        answer = await writes(at, PIECES, final)
        assert words(answer) == letters(FINAL if method == "chat.stopStream" else final)
        assert answer.buttons


@pytest.mark.parametrize(
    "error", ["cant_update_message", "message_not_found", "edit_window_closed"]
)
async def test_what_cannot_be_changed_is_followed_by_the_answer(error: str) -> None:
    async with talking() as at:
        at.server.fail("chat.update", Refused(error))
        talk = at.conversation(at.asks())
        await talk.stream("All times are UTC ")
        await talk.answer(Reply("Not in the documents."))
        assert words(at.answers()[-1]) == letters("Not in the documents.")


async def test_a_form_that_is_refused_at_the_end_of_a_stream_becomes_simpler() -> None:
    async with talking() as at:
        at.server.fail("chat.stopStream", Refused("invalid_blocks"))
        answer = await writes(at, PIECES, "".join(PIECES))
        assert letters(answer.shown) == letters(FINAL)
        assert {block["type"] for block in answer.blocks} == {"section", "actions"}


async def test_a_private_word_takes_back_what_was_shown() -> None:
    async with talking() as at:
        talk = at.conversation(at.asks())
        await talk.stream("All times are UTC ")
        await talk.say(Reply("You may not ask here.", private=True))
        assert at.answers() == []
        assert len(at.server.whispered(at.ops)) == 1


# Status lines


async def test_stages_are_shown_as_a_status_of_the_thread() -> None:
    async with talking() as at:
        question = at.asks()
        talk = at.conversation(question)
        for stage in ("Searching …", "Writing **it** …"):
            await talk.progress(stage)
            at.clock.advance(2)
        shown = [(each["thread_ts"], each["status"]) for each in at.server.methods.statuses]
        thread = question.place.thread
        assert shown == [(thread, "Searching …"), (thread, "Writing it …")]
        assert at.answers() == []


async def test_a_status_is_taken_back_when_nothing_is_posted() -> None:
    async with talking() as at:
        talk = at.conversation(at.asks())
        await talk.progress("Searching …")
        await talk.say(Reply("Only for you.", private=True))
        assert at.server.methods.statuses[-1]["status"] == ""


async def test_where_slack_shows_no_status_one_message_shows_the_work() -> None:
    async with talking(Options(quiet=0.0)) as at:
        at.server.fail("assistant.threads.setStatus", Refused("missing_scope"))
        talk = at.conversation(at.asks())
        await talk.progress("Searching …")
        (first,) = at.answers()
        assert first.shown == "Searching …"
        at.clock.advance(5)
        await talk.stream("All times are **UT")
        assert at.answers()[0].shown == "All times are **UT**"
        await talk.answer(Reply("All times are **UTC**.", (UP,)))
        (answer,) = at.answers()
        assert (answer.ts, words(answer)) == (first.ts, letters("All times are UTC."))


async def test_where_slack_shows_neither_status_nor_stream_one_message_shows_the_answer() -> None:
    async with talking() as at:
        for method in ("assistant.threads.setStatus", "chat.startStream"):
            at.server.fail(method, Refused("unknown_method"))
        talk = at.conversation(at.asks())
        await talk.progress("Searching")
        for end in range(1, len(PIECES) + 1):
            await talk.stream("".join(PIECES[:end]))
            at.clock.advance(4)
        (growing,) = at.answers()
        assert "All times are **UTC** and use" in growing.shown
        await talk.answer(Reply("".join(PIECES), (UP,)))
        (answer,) = at.answers()
        assert (answer.ts, words(answer)) == (growing.ts, letters(FINAL))


async def test_a_quick_answer_is_not_preceded_by_a_message() -> None:
    async with talking() as at:
        at.server.fail("assistant.threads.setStatus", Refused("missing_scope"))
        talk = at.conversation(at.asks())
        await talk.progress("Searching …")
        await talk.answer(Reply("8081"))
        (answer,) = at.answers()
        assert answer.edits == 0


@pytest.mark.parametrize("fault", [Limited(30), Lost(), Refused("internal_error")])
async def test_a_status_that_fails_costs_no_answer(fault: Limited | Lost | Refused) -> None:
    async with talking() as at:
        at.server.fail("assistant.threads.setStatus", fault)
        talk = at.conversation(at.asks())
        await talk.progress("Searching …")
        await talk.answer(Reply("8081"))
        assert len(at.answers()) == 1
