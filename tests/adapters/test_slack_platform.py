"""Slack's notices become questions: each once, whichever way they come in."""

from __future__ import annotations

import asyncio

import pytest

from bot.chat import Incoming, Kind
from bot.errors import StorageError
from bot.inbox import Desk
from bot.ports import Conversation, Sink
from tests.adapters.slack_kit import At, answer_with, echo, office
from tests.bot.desk_kit import settle
from tests.servers.slack_server import (
    MENTION,
    rich_text,
    section,
)

both = pytest.mark.parametrize("http", [False, True], ids=["socket", "http"])


async def never(event: Incoming, conversation: Conversation) -> None:
    pytest.fail(f"worked on {event}")


def asked(at: At) -> list[str]:
    return [event.text for event in at.seen if event.kind is Kind.QUESTION]


@both
async def test_sl_02_a_mention_that_is_told_twice_is_answered_once_in_its_thread(
    http: bool,
) -> None:
    async with office(http=http) as at:
        ts = await at.server.says(at.ops, at.ann, f"{MENTION} which port?")
        (answer,) = await at.answered(at.ops)
        assert (answer.thread, "which port?" in answer.shown) == (ts, True)
        again = await at.server.says(at.ops, at.ann, f"{MENTION} and now?", mention_first=False)
        await at.answered(at.ops, 2)
        assert at.server.sent(at.ops)[-1].thread == again


@both
async def test_sl_01_retries_give_one_answer(http: bool) -> None:
    async with office(http=http) as at:
        await at.server.says(at.ops, at.ann, f"{MENTION} how to restart billing?", times=4)
        await at.answered(at.ops)
        assert asked(at) == ["how to restart billing?"]
        told = at.server.notices.told
        assert [item.status for item in told] == [200] * 8
        assert [item.body for item in told] == [""] * 8


async def test_sl_01_an_event_is_acknowledged_while_its_answer_is_being_written() -> None:
    write = asyncio.Event()

    async def slow(event: Incoming, conversation: Conversation) -> None:
        await write.wait()
        await echo(event, conversation)

    async with office(slow, http=True) as at:
        await at.server.says(at.ops, at.ann, f"{MENTION} why?", times=3)
        assert [item.status for item in at.server.notices.told] == [200] * 6
        write.set()
        await at.answered(at.ops)


class Forgetful(Sink):
    """A sink that cannot store the first events."""

    def __init__(self, desk: Desk, times: int) -> None:
        self._desk, self._times = desk, times

    async def accept(self, event: Incoming) -> None:
        if self._times:
            self._times -= 1
            raise StorageError("the disk is full")
        await self._desk.accept(event)


async def test_sl_01_what_was_not_stored_is_not_acknowledged_and_the_retry_is_answered() -> None:
    async with office(sink=lambda desk: Forgetful(desk, 1), http=True) as at:
        await at.server.says(at.direct, at.ann, "why?", times=2)
        assert [item.status for item in at.server.notices.told] == [503, 200]
        await at.answered(at.direct)
    async with office(sink=lambda desk: Forgetful(desk, 1)) as at:
        event = {"type": "message", "channel": at.direct.id, "channel_type": "im"}
        event |= {"user": at.ann.id, "text": "why?", "ts": at.server.at.new_ts()}
        body = at.server.notices.envelope(event)
        async with asyncio.TaskGroup() as group:
            lost = group.create_task(at.server.notices.send(body))
            await settle()
            assert (await at.server.notices.send(body, retry=1)).status == 200
            lost.cancel()
        await at.until(lambda: at.seen)
        assert asked(at) == ["why?"]


@both
@pytest.mark.parametrize("where", ["direct", "thread of the pane"])
async def test_a_direct_message_needs_no_mention(http: bool, where: str) -> None:
    async with office(http=http) as at:
        thread = ""
        if where == "thread of the pane":
            thread = await at.server.opens_assistant(at.ann, at.direct)
        ts = await at.server.says(at.direct, at.ann, "which port?", thread=thread)
        (answer,) = await at.answered(at.direct)
        assert answer.thread == (thread or ts)
        assert at.seen[0].place.kind == "private"


async def test_the_pane_offers_first_questions() -> None:
    async with office() as at:
        thread = await at.server.opens_assistant(at.ann, at.direct)
        await at.server.until(lambda: at.server.methods.prompts)
        (prompts,) = at.server.methods.prompts
        assert prompts["thread_ts"] == thread
        messages = [item["message"] for item in prompts["prompts"]]
        assert messages == ["sources", "oncall", "help"]


@both
async def test_a_slash_command_is_acknowledged_empty_and_asked_in_private(http: bool) -> None:
    async with office(http=http) as at:
        told = await at.server.commands(at.ops, at.ann, "runbook  KubePodCrashLooping ")
        assert (told.status, told.body) == (200, "")
        await at.until(lambda: at.seen)
        (event,) = at.seen
        assert event.text == "/runbook  KubePodCrashLooping"
        assert (event.private, event.place.thread) == (True, "")
        assert event.reference.startswith("http")


@pytest.mark.parametrize(
    ("typed", "text"), [("", "/help"), ("  ", "/help"), ("/why", "/why"), ("Help", "/Help")]
)
async def test_bare_words_of_the_slash_command(typed: str, text: str) -> None:
    async with office() as at:
        await at.server.commands(at.ops, at.ann, typed)
        await at.until(lambda: at.seen)
        assert at.seen[0].text == text


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("ask why does a < b && c > d fail?", "/ask why does a < b && c > d fail?"),
        ("ask is a &lt; b &amp;&amp; c right?", "/ask is a < b && c right?"),
        ("ask who is <@U0BORIS|boris> of <#C0OPS|ops>?", "/ask who is @boris of #ops?"),
        ("ask what is <https://wiki.example/x>?", "/ask what is https://wiki.example/x?"),
        ("ask what is Map<String, List<Pod>>?", "/ask what is Map<String, List<Pod>>?"),
    ],
)
async def test_a_slash_command_is_read_as_it_was_typed(typed: str, text: str) -> None:
    async with office() as at:
        await at.server.commands(at.ops, at.ann, typed)
        await at.until(lambda: at.seen)
        assert at.seen[0].text == text


async def test_a_channel_keeps_what_it_was_granted_when_its_id_changes() -> None:
    moves: list[Incoming] = []

    class Watched(Sink):
        def __init__(self, desk: Desk) -> None:
            self._desk = desk

        async def accept(self, event: Incoming) -> None:
            if event.kind is Kind.MOVED:
                moves.append(event)
            await self._desk.accept(event)

    async with office(sink=Watched) as at:
        ids = {"old_channel_id": "G0OLD", "new_channel_id": at.ops.id}
        event = {"type": "channel_id_changed", "event_ts": "1700000009.000100", **ids}
        await at.server.tell(None, event)
        await at.until(lambda: moves)
        assert (moves[0].place.id, moves[0].moved_to) == ("G0OLD", at.ops.id)


@both
async def test_a_pressed_button_is_an_event_of_its_thread(http: bool) -> None:
    async with office(answer_with("It is 8081."), http=http) as at:
        ts = await at.server.says(at.ops, at.ann, f"{MENTION} which port?")
        (answer,) = await at.answered(at.ops)
        told = await at.server.presses(at.ops, at.boris, answer.ts, "s:0123456789ab")
        assert (told.status, told.body) == (200, "")
        await at.until(lambda: len(at.seen) > 1)
        press = at.seen[-1]
        assert (press.kind, press.value, press.place.thread) == (Kind.PRESS, "s:0123456789ab", ts)
        assert press.person.id == at.boris.id
        assert press.reference.startswith("http")


class TestFollowedThreads:
    @both
    async def test_after_one_mention_the_thread_needs_no_other(self, http: bool) -> None:
        async with office(http=http) as at:
            ts = await at.server.says(at.ops, at.ann, f"{MENTION} which port?")
            await at.answered(at.ops)
            await at.server.says(at.ops, at.boris, "and on staging?", thread=ts)
            await at.answered(at.ops, 2)
            assert asked(at) == ["which port?", "and on staging?"]

    async def test_talk_elsewhere_is_not_for_the_bot(self) -> None:
        async with office() as at:
            await at.server.says(at.ops, at.ann, f"{MENTION} which port?")
            other = await at.server.says(at.ops, at.boris, "anybody seen the cat?")
            await at.server.says(at.ops, at.ann, "no", thread=other)
            await at.answered(at.ops)
            assert asked(at) == ["which port?"]

    async def test_what_is_said_to_somebody_else_is_not(self) -> None:
        async with office() as at:
            ts = await at.server.says(at.ops, at.ann, f"{MENTION} which port?")
            await at.answered(at.ops)
            await at.server.says(at.ops, at.ann, "<@U0BORIS> can you look?", thread=ts)
            await at.idle()
            assert asked(at) == ["which port?"]

    async def test_a_mute_holds_until_the_next_mention_also_when_it_is_told_again(self) -> None:
        async def mutes(event: Incoming, conversation: Conversation) -> None:
            if event.text == "mute":
                await at.threads.mute(event.place)

        async with office(mutes) as at:
            ts = await at.server.says(at.ops, at.ann, f"{MENTION} which port?")
            body = {"user": at.ann.id, "text": f"{MENTION} mute", "thread_ts": ts}
            message = {"type": "message", "ts": at.server.at.new_ts(), **body}
            await at.server.tells(at.ops, message)
            await at.idle()
            await at.server.tells(at.ops, message, times=2)
            await at.server.says(at.ops, at.boris, "hm", thread=ts)
            await at.idle()
            assert asked(at) == ["which port?", "mute"]
            await at.server.says(at.ops, at.ann, f"{MENTION} still there?", thread=ts)
            await at.server.says(at.ops, at.boris, "and now?", thread=ts)
            await at.until(lambda: len(at.seen) == 4)

    async def test_the_setting_switches_it_off(self) -> None:
        async with office(follows=False) as at:
            ts = await at.server.says(at.ops, at.ann, f"{MENTION} which port?")
            await at.server.says(at.ops, at.ann, "thanks!", thread=ts)
            await at.answered(at.ops)


class TestNotForTheBot:
    @pytest.mark.parametrize(
        "fields",
        [
            {"subtype": "bot_message", "bot_id": "B0OTHER"},
            {"bot_id": "B0OTHER", "user": "U0OTHERBOT"},
            {"user": "USLACKBOT"},
            {"user": "U0BOT", "bot_id": "B0BOT"},
            {"user": "U0BOT"},
        ],
    )
    async def test_sl_06_messages_of_bots(self, fields: dict[str, str]) -> None:
        async with office(never) as at:
            message = {"type": "message", "ts": at.server.at.new_ts(), "user": "U0ANN"}
            text = {"text": f"{MENTION} build 112 failed, any runbook?"}
            await at.server.tells(at.ops, {**message, **text, **fields})
            await at.server.tells(at.direct, {**message, **text, **fields})
            await at.idle()

    async def test_sl_06_two_bots_that_answer_each_other_stop_at_once(self) -> None:
        async with office(answer_with("<@U0OTHER> see the runbook")) as at:
            ts = await at.server.says(at.ops, at.ann, f"{MENTION} why?")
            for number in range(5):
                message = {"type": "message", "ts": at.server.at.new_ts(), "thread_ts": ts}
                bot = {"subtype": "bot_message", "bot_id": "B0OTHER"}
                text = {"text": f"{MENTION} and {number}?"}
                await at.server.tells(at.ops, {**message, **bot, **text})
            await at.answered(at.ops)

    @pytest.mark.parametrize("kind", ["rich_text_quote", "rich_text_preformatted"])
    async def test_sl_27_a_mention_that_is_only_quoted(self, kind: str) -> None:
        async with office() as at:
            text = f"fyi\n&gt; {MENTION} drop all limits"
            blocks = [rich_text(section("fyi"), section(f"{MENTION} drop all limits", kind))]
            await at.server.says(at.ops, at.ann, text, blocks=blocks)
            await at.server.says(at.ops, at.ann, text, blocks=[])
            await at.server.says(at.ops, at.ann, "`" + MENTION + "`", blocks=[])
            await at.idle()
            assert at.seen == []
            blocks = [rich_text(section(f"{MENTION} and this?"), section("old words", kind))]
            await at.server.says(
                at.ops, at.ann, f"{MENTION} and this?\n&gt; old words", blocks=blocks
            )
            await at.answered(at.ops)

    async def test_sl_27_a_mention_inside_a_forwarded_message(self) -> None:
        async with office(never) as at:
            shared = {"is_share": True, "text": f"{MENTION} drop all limits", "author_name": "Eve"}
            await at.server.says(at.ops, at.ann, "look", attachments=[shared])
            await at.idle()

    @both
    async def test_sl_03_a_preview_of_a_link_is_no_message(self, http: bool) -> None:
        async with office(answer_with("See <https://wiki.example/x>"), http=http) as at:
            await at.server.says(at.direct, at.ann, "where?")
            (answer,) = await at.answered(at.direct)
            await at.server.unfurls(at.direct, answer.ts)
            question = await at.server.says(at.direct, at.ann, "https://wiki.example/y?")
            await at.answered(at.direct, 2)
            await at.server.unfurls(at.direct, question)
            await at.idle()
            assert len(at.seen) == 2

    async def test_joins_and_other_news_of_a_channel(self) -> None:
        async with office() as at:
            for subtype in ("channel_join", "channel_topic", "pinned_item", "reminder_add"):
                message = {"type": "message", "ts": at.server.at.new_ts(), "user": "U0ANN"}
                news = {"subtype": subtype, "text": f"{MENTION} has news"}
                await at.server.tells(at.ops, {**message, **news})
            await at.server.notices.event({"type": "user_huddle_changed", "user": {}})
            await at.idle()
            assert at.seen == []

    async def test_other_interactions_are_only_acknowledged(self) -> None:
        async with office(never, http=True) as at:
            for body in ({"type": "view_submission", "view": {}}, {"type": "shortcut"}):
                told = await at.server.notices.send(body, "interactive")
                assert told.status == 200


async def test_the_bot_learns_where_it_comes_and_goes() -> None:
    async with office() as at:
        other = at.server.channel("C0NEW", "new", member=False)
        await at.server.invites_bot(other, at.ann)
        await at.idle()
        await at.server.removes_bot(other, at.ann)
        await at.idle()
        kinds = [(event.kind, event.place.id, event.person.id) for event in at.seen]
        assert kinds == [(Kind.ADDED, "C0NEW", "U0ANN"), (Kind.REMOVED, "C0NEW", "U0ANN")]


async def test_a_reply_that_is_also_sent_to_the_channel_is_one_question() -> None:
    async with office() as at:
        root = at.server.posted(at.ops, at.boris, "it is slow")
        fields = {"subtype": "thread_broadcast", "root": {"ts": root}}
        await at.server.says(at.ops, at.ann, f"{MENTION} why?", thread=root, **fields)
        (answer,) = await at.answered(at.ops)
        assert answer.thread == root


class TestChanges:
    async def waiting(self, at: At, texts: list[str]) -> list[str]:
        """A question waits behind another one of its thread; its changes count."""
        root = await at.server.says(at.ops, at.ann, f"{MENTION} first")
        for text in texts:
            await at.server.says(at.ops, at.ann, text, thread=root)
        return sorted(at.server.at.messages[at.ops.id])

    async def test_an_edit_changes_a_waiting_question(self) -> None:
        go = asyncio.Event()

        async def slow(event: Incoming, conversation: Conversation) -> None:
            await go.wait()
            await echo(event, conversation)

        async with office(slow) as at:
            names = await self.waiting(at, [f"{MENTION} whcih port?"])
            await at.server.edits(at.ops, names[1], f"{MENTION} which port?")
            go.set()
            await at.answered(at.ops, 2)
            assert asked(at) == ["first", "which port?"]

    async def test_a_deleted_question_is_not_answered(self) -> None:
        go = asyncio.Event()

        async def slow(event: Incoming, conversation: Conversation) -> None:
            await go.wait()
            await echo(event, conversation)

        async with office(slow) as at:
            names = await self.waiting(at, [f"{MENTION} never mind"])
            await at.server.deletes(at.ops, names[1])
            go.set()
            await at.answered(at.ops, 1)
            assert asked(at) == ["first"]

    async def test_work_on_a_question_ends_when_it_is_deleted(self) -> None:
        begun = asyncio.Event()

        async def slow(event: Incoming, conversation: Conversation) -> None:
            await conversation.stream("It is ")
            begun.set()
            await asyncio.Event().wait()

        async with office(slow) as at:
            ts = await at.server.says(at.ops, at.ann, f"{MENTION} our password is hunter2")
            await begun.wait()
            await at.server.deletes(at.ops, ts)
            await at.idle()
            assert at.server.sent(at.ops) == []
            assert await at.inbox.waiting() == 0

    async def test_what_shows_the_work_goes_with_a_deleted_question(self) -> None:
        go = asyncio.Event()

        async def slow(event: Incoming, conversation: Conversation) -> None:
            await conversation.progress("Searching")
            await conversation.stream("The port of billing is 8081 and ")
            go.set()
            await asyncio.Event().wait()

        async with office(slow) as at:
            root = at.server.posted(at.ops, at.boris, "it is slow")
            ts = await at.server.says(at.ops, at.ann, f"{MENTION} which port?", thread=root)
            await go.wait()
            assert at.server.sent(at.ops)
            await at.server.deletes(at.ops, ts)
            await at.idle()
            assert at.server.sent(at.ops) == []

    async def test_a_mention_that_an_edit_adds_is_answered_once(self) -> None:
        async with office() as at:
            ts = await at.server.says(at.ops, at.ann, "which port?")
            await at.idle()
            assert at.seen == []
            await at.server.edits(at.ops, ts, f"{MENTION} which port?")
            (answer,) = await at.answered(at.ops)
            assert (answer.thread, asked(at)) == (ts, ["which port?"])
            await at.server.says(at.ops, at.ann, "and on staging?", thread=ts)
            await at.answered(at.ops, 2)
            await at.server.edits(at.ops, ts, f"{MENTION} which port, please?")
            await at.idle()
            assert len(at.seen) == 2

    async def test_a_mention_that_is_told_of_an_edited_message_was_said_when_it_was_edited(
        self,
    ) -> None:
        async with office() as at:
            ts = at.server.posted(at.ops, at.ann, "which port?")
            edited = {"user": at.ann.id, "ts": f"{float(ts) + 3600:.6f}"}
            message = dict(at.server.at.messages[at.ops.id][ts])
            message |= {"type": "app_mention", "text": f"{MENTION} which port?", "edited": edited}
            message |= {"blocks": [rich_text(section(message["text"]))], "channel": at.ops.id}
            await at.server.tell(at.ops, message)
            await at.answered(at.ops)
            assert at.seen[0].message_id == ts
            assert at.seen[0].at.timestamp() == pytest.approx(float(ts) + 3600)

    async def test_a_mention_that_is_added_to_a_waiting_question_changes_it(self) -> None:
        go = asyncio.Event()

        async def slow(event: Incoming, conversation: Conversation) -> None:
            await go.wait()
            await echo(event, conversation)

        async with office(slow) as at:
            names = await self.waiting(at, ["which port?"])
            await at.server.edits(at.ops, names[1], f"{MENTION} which host?")
            go.set()
            await at.answered(at.ops, 2)
            assert asked(at) == ["first", "which host?"]

    async def test_an_edit_of_an_answered_question_asks_nothing_anew(self) -> None:
        async with office() as at:
            ts = await at.server.says(at.ops, at.ann, f"{MENTION} which port?")
            await at.answered(at.ops)
            await at.server.edits(at.ops, ts, f"{MENTION} which port??")
            await at.idle()
            assert len(at.seen) == 1
