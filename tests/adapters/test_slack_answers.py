"""Answers as people see them on Slack: whole, in the thread, once, whatever Slack refuses."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from adapters.memory.inbox import MemoryInbox
from adapters.slack.message import cut
from adapters.slack.options import Options
from adapters.slack.requests import Unclear
from bot.buttons import Action, value_of
from bot.chat import Button, Incoming, Person, Reply
from bot.delivery import TrackedConversation
from bot.errors import AnswerRefused, DeliveryFailed, PlatformGone
from graph.model import Answer, Citation, Outcome, Passage, SourceType
from tests.adapters.slack_talk import At, talking
from tests.contract.inbox_events import LEASE
from tests.servers.slack_blocks import checked_text
from tests.servers.slack_server import Limited, Lost, Refused
from tests.servers.slack_text import letters, live_tokens, seen

QUESTION = "0123456789ab"
BUTTONS = (
    Button("Sources", value_of(Action.SOURCES, QUESTION)),
    Button("👍", value_of(Action.UP, QUESTION)),
    Button("👎", value_of(Action.DOWN, QUESTION)),
    Button("Ask a person", value_of(Action.PERSON, QUESTION)),
)
SCRIPT = "\n".join(f"systemctl restart service-{n:03} --wait --now" for n in range(400))
LONG = f"Перезапустите всё.\n\n```bash\n{SCRIPT}\n```\n\nПотом проверьте <!here>."
WIKI = "https://wiki.example/runbooks/ports.md#L12"


async def tracked(at: At, event: Incoming, reply: Reply) -> None:
    """Answers as the desk does: the answer is kept, and each part is marked."""
    inbox = MemoryInbox(clock=at.clock)
    await inbox.put(event)
    taken = await inbox.take("desk", LEASE)
    assert taken is not None
    await TrackedConversation(at.conversation(event), inbox, taken).answer(reply)


async def test_a_question_is_answered_in_its_thread() -> None:
    async with talking() as at:
        question = at.asks("which port?")
        await tracked(at, question, Reply("**8081** <!here>", BUTTONS))
        (answer,) = at.answers()
        assert answer.thread == question.place.thread
        assert answer.blocks[0] == {"type": "markdown", "text": "**8081** &lt;!here>"}
        assert answer.text == "8081 &lt;!here&gt;"


async def test_thumbs_are_slacks_own_and_the_values_come_back() -> None:
    async with talking() as at:
        await at.conversation(at.asks()).answer(Reply("8081", BUTTONS))
        (answer,) = at.answers()
        assert [block["type"] for block in answer.blocks] == [
            "markdown",
            "context_actions",
            "actions",
        ]
        assert {each["value"] for each in answer.buttons} == {each.value for each in BUTTONS}


async def test_a_button_that_slack_would_refuse_does_not_cost_the_answer() -> None:
    odd = (Button("", "s:1"), Button("x" * 200, "ok"), Button("y", "v" * 3000), Button("z", ""))
    async with talking() as at:
        await at.conversation(at.asks()).answer(Reply("8081", odd))
        (answer,) = at.answers()
        assert [each["value"] for each in answer.buttons] == ["ok"]


@pytest.mark.parametrize("mentions", [(), (Person("slack", "U0BOB", "Bob"),)])
async def test_sl_08_a_long_answer_arrives_whole_and_in_order(mentions: tuple[Person, ...]) -> None:
    """SL-08: same thread, fences whole, each with its own notification; buttons stand last."""
    async with talking() as at:
        question = at.asks()
        await tracked(at, question, Reply(LONG, BUTTONS, mentions=mentions))
        answers = at.answers()
        assert len(answers) > 1
        assert {each.thread for each in answers} == {question.place.thread}
        shown = "".join(seen(each.blocks[0]["text"]).text for each in answers)
        assert letters(LONG.replace("```bash", "").replace("```", "")) in letters(shown)
        assert [bool(each.buttons) for each in answers] == [False] * (len(answers) - 1) + [True]
        assert all(each.text for each in answers)


async def test_sl_12_only_the_program_mentions_people() -> None:
    """SL-12: a token in a text is inert, a mention that the program set is live, in both fields."""
    bob = Person("slack", "U0BOB", "<!channel>")
    fakes = (Person("telegram", "7"), Person("slack", "!channel"), bob, bob)
    async with talking() as at:
        await at.conversation(at.asks()).say(Reply("Ask <@U0CEO> <!channel>", mentions=fakes))
        (answer,) = at.answers()
        assert live_tokens(answer.text) == ["<@U0BOB>"]
        assert live_tokens(answer.blocks[0]["text"]) == ["<@U0BOB>"]


def cited(text: str, uri: str) -> Reply:
    passage = Passage(
        "p1", "wiki", SourceType.REPO, "ports.md", "Ports", ("Ports",), "8081", uri=uri,
        updated_at=datetime(2026, 5, 1, tzinfo=UTC), owner="platform",
    )  # fmt: skip
    answer = Answer(QUESTION, Outcome.ANSWERED, text, "en", (Citation(1, passage, 0.9),))
    return Reply(f"{text}\n\n**Sources**\n\n- [1] Ports — {uri} (owner platform)", (), answer)


async def test_sl_03_sources_are_links_and_nothing_unfolds() -> None:
    """SL-03, SC-03: previews are off in every call; one-time links are masked."""
    async with talking() as at:
        talk = at.conversation(at.asks())
        await talk.answer(
            cited("See https://idp.example/reset?token=abc and https://e.example", WIKI)
        )
        (answer,) = at.answers()
        read = seen(answer.blocks[0]["text"])
        assert read.links == (WIKI,)
        assert "token=masked" in read.text
        assert "abc" not in str(answer)
        (call,) = at.server.called("chat.postMessage")
        flags = ("unfurl_links", "unfurl_media", "link_names", "mrkdwn")
        assert [call.params[name] for name in flags] == [False] * 4


@pytest.mark.parametrize("answer", [None, cited("x", WIKI).answer])
async def test_an_answer_that_is_resumed_is_cut_at_the_same_places(answer: Answer | None) -> None:
    reply = replace(cited(f"{LONG} {WIKI}", WIKI), answer=answer)
    async with talking() as at:
        await at.conversation(at.asks()).answer(reply)
        assert len(at.answers()) == len(cut(reply.markdown))


# Refusals


async def test_blocks_that_slack_does_not_take_become_simpler() -> None:
    async with talking() as at:
        at.server.fail("chat.postMessage", Refused("invalid_blocks"))
        await tracked(at, at.asks(), Reply("**a < b** <!here>", BUTTONS))
        (answer,) = at.answers()
        assert {block["type"] for block in answer.blocks} == {"section", "actions"}
        assert letters(answer.shown) == letters("a < b <!here>")
        assert live_tokens(str(answer)) == []
        assert {each["value"] for each in answer.buttons} == {each.value for each in BUTTONS}


async def test_bare_text_is_the_last_resort() -> None:
    async with talking() as at:
        at.server.fail("chat.postMessage", Refused("invalid_blocks"), Refused("invalid_blocks"))
        await tracked(at, at.asks(), Reply("**a < b** <!here>"))
        (answer,) = at.answers()
        assert (answer.blocks, answer.text) == ((), "a &lt; b &lt;!here&gt;")


@pytest.mark.parametrize(
    "error",
    [
        "channel_not_found", "not_in_channel", "is_archived", "account_inactive", "token_revoked",
        "invalid_auth", "restricted_action",
    ],
)  # fmt: skip
async def test_sl_23_a_closed_place_ends_it(error: str) -> None:
    """SL-23: told to the desk at once, with no second call."""
    async with talking() as at:
        at.server.fail("chat.postMessage", Refused(error))
        with pytest.raises(PlatformGone):
            await tracked(at, at.asks(), Reply("8081"))
        assert len(at.server.called("chat.postMessage")) == 1


@pytest.mark.parametrize(
    "error", ["thread_not_found", "invalid_thread_ts", "restricted_action_thread_locked"]
)
async def test_a_closed_thread_does_not_close_its_channel(error: str) -> None:
    async with talking() as at:
        at.server.fail("chat.postMessage", Refused(error))
        with pytest.raises(AnswerRefused):
            await tracked(at, at.asks(), Reply("8081"))
        await tracked(at, at.asks("and now?"), Reply("8082"))
        assert [answer.shown for answer in at.answers()] == ["8082"]


async def test_an_answer_that_no_form_of_is_taken_does_not_close_its_channel() -> None:
    async with talking() as at:
        at.server.fail("chat.postMessage", *[Refused("msg_blocked")] * 3)
        with pytest.raises(AnswerRefused):
            await tracked(at, at.asks(), Reply("8081"))


async def test_an_answer_to_a_deleted_question_does_not_stay_in_the_channel() -> None:
    async with talking() as at:
        event = at.asks()
        await at.server.deletes(at.ops, event.message_id, told=False)
        with pytest.raises(AnswerRefused):
            await tracked(at, event, Reply("8081"))
        assert len(at.server.called("chat.postMessage")) == 1
        assert at.answers() == []


async def test_too_fast_is_waited_for_and_sent_once() -> None:
    async with talking() as at:
        at.server.fail("chat.postMessage", Limited(7))
        await tracked(at, at.asks(), Reply("8081"))
        assert len(at.answers()) == 1
        assert 7 in at.waits


async def test_a_wait_that_is_too_long_leaves_the_question_open() -> None:
    async with talking(Options(patience=5)) as at:
        at.server.fail("chat.postMessage", Limited(60))
        with pytest.raises(DeliveryFailed):
            await tracked(at, at.asks(), Reply("8081"))
        assert at.answers() == []


async def test_a_missing_permission_leaves_the_question_open() -> None:
    async with talking(scopes=["channels:history"]) as at:
        with pytest.raises(DeliveryFailed):
            await tracked(at, at.asks(), Reply("8081"))


async def test_a_server_that_is_not_there_leaves_the_question_open() -> None:
    async with talking() as at:
        await at.server.__aexit__()
        with pytest.raises(DeliveryFailed):
            await tracked(at, at.asks(), Reply("8081"))


# Doubt


@pytest.mark.parametrize("fault", [Lost(done=True), Refused("fatal_error"), Lost(done=False)])
async def test_a_message_of_unknown_fate_is_shown_once(fault: Lost | Refused) -> None:
    """Whether it took effect or not: it is looked for before it is sent again."""
    async with talking() as at:
        at.server.fail("chat.postMessage", fault)
        await tracked(at, at.asks(), Reply("8081"))
        assert [each.text for each in at.answers()] == ["8081"]


async def test_parts_of_unknown_fate_are_shown_once_each() -> None:
    async with talking() as at:
        lost = (Lost(done=True), Lost(done=False), Lost(done=True))
        at.server.fail("chat.postMessage", *lost)
        await tracked(at, at.asks(), Reply(LONG))
        assert len(at.answers()) == len(cut(LONG))


async def test_where_nothing_can_be_looked_up_nothing_is_sent_again() -> None:
    async with talking(scopes=["chat:write"]) as at:
        at.server.fail("chat.postMessage", Lost(done=True))
        with pytest.raises(Unclear):
            await tracked(at, at.asks(), Reply("8081"))
        assert len(at.answers()) == 1


async def test_a_note_of_unknown_fate_is_said_again() -> None:
    async with talking(scopes=["chat:write"]) as at:
        at.server.fail("chat.postMessage", Lost(done=False))
        with pytest.raises(DeliveryFailed):
            await at.conversation(at.asks()).say(Reply("Help"))


async def test_repeated_calls_carry_the_same_name() -> None:
    """Slack tells a repeated message by its id; another one never has the same."""
    async with talking() as at:
        at.server.fail("chat.postMessage", Lost(done=False))
        talk = at.conversation(at.asks())
        await talk.answer(Reply("8081"))
        await talk.say(Reply("8082"))
        names = [call.params["client_msg_id"] for call in at.server.called("chat.postMessage")]
        assert names[-2] != names[-1]
        assert len(set(names)) == 2


# In private


async def test_a_command_is_answered_to_the_asker_alone() -> None:
    async with talking() as at:
        talk = at.conversation(at.commands("/ask which port?"))
        await talk.progress("Searching …")
        await talk.stream("The port is ")
        await talk.answer(Reply("8081 <!here>", BUTTONS))
        (answer,) = at.server.whispered(at.ops)
        assert (answer.to, answer.by_response) == (at.ann.id, True)
        assert live_tokens(str(answer)) == []
        assert at.answers() == []
        assert [call.method for call in at.server.calls] == ["response"]


async def test_a_long_private_answer_outlives_the_uses_of_its_address() -> None:
    async with talking() as at:
        await at.conversation(at.commands("/ask")).answer(Reply(LONG * 5))
        told = at.server.whispered(at.ops)
        assert len(told) == len(cut(LONG * 5)) > 5
        assert [each.by_response for each in told] == [True] * 5 + [False] * (len(told) - 5)
        assert at.answers() == []


async def test_a_late_private_answer_stays_private() -> None:
    async with talking() as at:
        event = at.commands("/ask")
        at.server.fail("response", Refused("expired_url"))
        await at.conversation(event).answer(Reply("8081"))
        (answer,) = at.server.whispered(at.ops)
        assert (answer.to, answer.by_response) == (at.ann.id, False)


@pytest.mark.parametrize("error", ["user_not_in_channel", "not_in_channel", "channel_not_found"])
async def test_a_private_answer_is_never_shown_to_others(error: str) -> None:
    async with talking() as at:
        at.server.fail("response", Refused("used_url"))
        at.server.fail("chat.postEphemeral", Refused(error))
        with pytest.raises(PlatformGone if error != "user_not_in_channel" else AnswerRefused):
            await at.conversation(at.commands("/ask")).answer(Reply("8081"))
        assert at.answers() == []


@pytest.mark.parametrize("fault", [Lost(done=True), Lost(done=False)])
async def test_a_private_answer_of_unknown_fate_is_not_sent_again(fault: Lost) -> None:
    async with talking() as at:
        at.server.fail("response", fault)
        with pytest.raises(Unclear):
            await tracked(at, at.commands("/ask"), Reply("8081"))
        assert len(at.server.whispered(at.ops)) == fault.done


async def test_too_many_private_replies_are_waited_for() -> None:
    async with talking() as at:
        at.server.fail("response", Limited(3))
        await at.conversation(at.commands("/ask")).answer(Reply("8081"))
        assert len(at.server.whispered(at.ops)) == 1
        assert 3 in at.waits


async def test_a_private_word_in_a_public_thread_is_for_the_asker() -> None:
    async with talking() as at:
        question = at.asks()
        await at.conversation(at.presses(question)).say(Reply("Thanks", private=True))
        (word,) = at.server.whispered(at.ops)
        assert (word.to, word.thread) == (at.ann.id, question.place.thread)
        assert at.answers() == []


async def test_a_pressed_button_under_a_public_answer_is_answered_in_the_thread() -> None:
    async with talking() as at:
        question = at.asks()
        await at.conversation(at.presses(question)).say(Reply("**Sources**"))
        (word,) = at.answers()
        assert word.thread == question.place.thread


async def test_a_private_answer_can_be_posted_for_all() -> None:
    async with talking() as at:
        value = value_of(Action.POST, QUESTION)
        pressed = at.presses(at.commands("/ask"), private=True, value=value)
        talk = at.conversation(pressed)
        await talk.answer(Reply("8081"))
        await talk.say(Reply("Posted", private=True))
        assert [each.text for each in at.answers()] == ["8081"]
        assert [each.text for each in at.server.whispered(at.ops)] == ["Posted"]


async def test_other_buttons_under_a_private_answer_stay_private() -> None:
    async with talking() as at:
        pressed = at.presses(at.commands("/ask"), private=True)
        await at.conversation(pressed).say(Reply("**Sources**"))
        assert at.answers() == []
        assert len(at.server.whispered(at.ops)) == 1


async def test_what_is_sent_would_be_taken_by_slack() -> None:
    """Every recorded message passes the limits of both posting and updating."""
    async with talking() as at:
        await tracked(at, at.asks(), Reply(LONG, BUTTONS))
        for call in at.server.called("chat.postMessage"):
            checked_text(call.params, updated=True)
