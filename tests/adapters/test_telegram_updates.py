"""What Telegram's updates mean to the application: who asks what, and what is left alone."""

from __future__ import annotations

from typing import Any

import pytest
from aiogram.types import Update, User

from adapters.telegram.updates import WANTED, incoming
from bot.chat import Incoming, Kind
from tests.servers.telegram_chats import Group
from tests.servers.telegram_chats import User as Someone
from tests.servers.telegram_server import TelegramServer

ME = User(id=4242, is_bot=True, first_name="Belay", username="belay_bot")


class Heard:
    """A server that nobody asks: what people do there is read from its queue."""

    def __init__(self) -> None:
        self.server = TelegramServer()
        self.anna = self.server.user(7, "Anna", language="ru")
        self.boris = self.server.user(8, "Boris")
        self.ops = self.server.group(-1001, "Ops", topics=[77])

    def last(self) -> Incoming | None:
        return incoming(Update.model_validate(self.server.updates.waiting[-1]), ME)

    def says(self, chat: Someone | Group, text: str, **more: Any) -> Incoming | None:
        self.server.says(chat, self.anna, text, **more)
        return self.last()

    def asks(self, chat: Someone | Group, text: str, **more: Any) -> bool:
        """Whether what is said is said to the bot."""
        return asked(self.says(chat, text, **more))


def asked(event: Incoming | None) -> bool:
    return event is not None and event.addressed


@pytest.fixture
def heard() -> Heard:
    return Heard()


def test_every_private_message_is_a_question(heard: Heard) -> None:
    event = heard.says(heard.anna, "why?")
    assert event is not None
    assert (event.kind, event.text, event.place.kind) == (Kind.QUESTION, "why?", "private")
    assert (event.person.key, event.language) == ("telegram:7", "ru")


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("@belay_bot why?", "why?"),
        ("@Belay_Bot, why?", "why?"),
        ("why? @belay_bot", "why?"),
        ("tell me @belay_bot why", "tell me why"),
        ("why, @belay_bot?", "why?"),
        ("🔥🔥 @belay_bot what burns", "🔥🔥 what burns"),
        ("@belay_bot /why", "/why"),
        ("/ask why", "/ask why"),
        ("/ask@belay_bot why", "/ask why"),
        ("/ask@BELAY_BOT\nwhy", "/ask\nwhy"),
        ("/вопрос почему", "/вопрос почему"),
        ("@belay_bot", ""),
    ],
)
def test_a_group_addresses_the_bot_by_name_or_command(heard: Heard, said: str, text: str) -> None:
    event = heard.says(heard.ops, said)
    assert event is not None
    assert (event.text, event.place.kind, event.addressed) == (text, "group", True)


@pytest.mark.parametrize(
    "said",
    [
        "why?",
        "@belay_bot2 why?",
        "@other_bot why?",
        "/ask@other_bot why",
        "/deploy now",
        "/etc/hosts is wrong",
        "mail me at anna@belay_bot.example",
    ],
)
def test_what_is_not_said_to_the_bot_is_left_alone(heard: Heard, said: str) -> None:
    assert not heard.asks(heard.ops, said)


def test_a_mention_in_a_quotation_or_a_forward_is_none(heard: Heard) -> None:
    assert heard.says(heard.ops, "@belay_bot why?\nhe said") is not None
    message = heard.server.updates.waiting[-1]["message"]
    message["entities"].insert(0, {"type": "blockquote", "offset": 0, "length": 15})
    assert not asked(heard.last())
    origin = {"type": "hidden_user", "date": 1, "sender_user_name": "Carl"}
    assert not heard.asks(heard.ops, "@belay_bot why?", forward_origin=origin)
    assert heard.says(heard.anna, "@belay_bot why?", forward_origin=origin) is not None


def test_a_topic_is_a_thread_and_its_creation_is_no_message_of_the_bot(heard: Heard) -> None:
    event = heard.says(heard.ops, "/ask why", thread=77)
    assert event is not None
    assert event.place.conversation == "telegram:-1001:77"
    created = {
        "message_id": 77,
        "date": 1,
        "chat": heard.ops.chat,
        "from": heard.server.chats.bot.json,
        "forum_topic_created": {"name": "Night", "icon_color": 1},
    }
    assert not heard.asks(heard.ops, "hello all", thread=77, reply_to_message=created)
    outside = heard.says(heard.ops, "/ask why", message_thread_id=5)
    assert outside is not None
    assert outside.place.thread == ""


def test_tg_24_a_reply_brings_the_picked_words_and_the_message(heard: Heard) -> None:
    alert = heard.server.says(heard.ops, heard.boris, "CronJob backup-orders failed: exit 137")
    event = heard.says(heard.ops, "why? @belay_bot", reply_to=alert, quote="exit 137")
    assert event is not None
    assert event.quote is not None
    assert event.quote.text == "exit 137\n\nCronJob backup-orders failed: exit 137"
    assert (event.quote.author, event.person.key) == ("Boris", "telegram:7")
    whole = heard.says(heard.ops, "why? @belay_bot", reply_to=alert)
    assert whole is not None
    assert whole.quote is not None
    assert whole.quote.text == "CronJob backup-orders failed: exit 137"


@pytest.mark.parametrize("rich", [False, True])
def test_a_reply_to_the_bot_addresses_it(heard: Heard, rich: bool) -> None:
    method = "sendrichmessage" if rich else "sendmessage"
    body = {"rich_message": {"markdown": "It is 8081."}} if rich else {"text": "It is 8081."}
    call = heard.server.methods.find(method)
    assert call is not None
    mine = call({"chat_id": heard.ops.id, **body})
    event = heard.says(heard.ops, "and of orders?", reply_to=mine["message_id"])
    assert event is not None
    assert event.quote is not None
    assert event.quote.text == "It is 8081."


def test_tg_16_a_caption_is_read_like_a_text(heard: Heard) -> None:
    event = heard.says(heard.ops, "@belay_bot what is this: DiskPressure on node-07?", photo=True)
    assert event is not None
    assert event.text == "what is this: DiskPressure on node-07?"
    assert event.attachments == ("photo",)
    file = heard.says(heard.anna, "read it", document=("boom.log", b"x"))
    assert file is not None
    assert file.attachments == ("boom.log",)
    alone = heard.says(heard.anna, "", document=("boom.log", b"x"))
    assert alone is not None
    assert not heard.asks(heard.ops, "look", photo=True)


@pytest.mark.parametrize("caption", ["", "what is this?"])
def test_tg_16_pictures_of_an_album_say_so(heard: Heard, caption: str) -> None:
    event = heard.says(heard.anna, caption, photo=True, media_group_id="5")
    assert event is not None
    assert (event.text, event.album, event.attachments) == (caption, "5", ("photo",))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("voice", {"file_id": "v", "file_unique_id": "uv", "duration": 3}),
        ("video_note", {"file_id": "v", "file_unique_id": "uv", "duration": 3, "length": 9}),
        ("location", {"latitude": 1.0, "longitude": 2.0}),
        ("contact", {"phone_number": "1", "first_name": "Carl"}),
        ("dice", {"emoji": "🎲", "value": 1}),
        ("checklist", {"title": "Drain", "tasks": [{"id": 1, "text": "cordon"}]}),
    ],
)
def test_tg_16_whatever_is_sent_in_private_is_answered(
    heard: Heard, field: str, value: Any
) -> None:
    message = heard.server.says(heard.anna, heard.anna, "", **{field: value})
    event = heard.last()
    assert event is not None
    assert (event.message_id, event.text) == (str(message), "")
    assert event.attachments == (field.replace("_", " "),)


def test_messages_that_only_the_bot_sees_have_numbers_of_their_own(heard: Heard) -> None:
    """Their message id is 0: they must not count as one message that comes again and again."""
    seen = set()
    for text in ("/ask why", "/ask where"):
        heard.server.says(heard.ops, heard.anna, text, ephemeral_message_id=3)
        heard.server.updates.waiting[-1]["message"]["message_id"] = 0
        event = heard.last()
        assert event is not None
        seen.add(event.key)
    assert len(seen) == 2


def test_bots_and_posts_of_channels_are_not_listened_to(heard: Heard) -> None:
    robot = heard.server.user(9, "Robot")
    robot.is_bot = True
    heard.server.says(heard.ops, robot, "@belay_bot hello")
    assert heard.last() is None
    news = {"id": -1009, "type": "channel", "title": "News"}
    copied = {"sender_chat": news, "is_automatic_forward": True}
    assert heard.says(heard.ops, "@belay_bot hello", **copied) is None


def test_an_anonymous_admin_asks_in_the_name_of_the_group(heard: Heard) -> None:
    anonymous = heard.server.user(1087968824, "Group", username="GroupAnonymousBot")
    anonymous.is_bot = True
    heard.server.says(heard.ops, anonymous, "/ask why", sender_chat=heard.ops.chat)
    event = heard.last()
    assert event is not None
    assert (event.person.key, event.person.is_bot) == ("telegram:-1001", False)


def test_an_edit_bears_the_number_of_the_question(heard: Heard) -> None:
    message = heard.server.says(heard.ops, heard.anna, "@belay_bot why?")
    heard.server.edits(heard.ops, heard.anna, message, "@belay_bot why not?")
    event = heard.last()
    assert event is not None
    assert (event.kind, event.message_id, event.text) == (Kind.EDIT, str(message), "why not?")


def test_a_press_is_named_by_its_callback(heard: Heard) -> None:
    callback = heard.server.presses_old(heard.ops, heard.anna, 5, "u:0123456789ab")
    event = heard.last()
    assert event is not None
    assert (event.kind, event.message_id, event.value) == (Kind.PRESS, callback, "u:0123456789ab")
    assert event.place.id == "-1001"


def test_coming_and_going_bear_the_number_of_the_update(heard: Heard) -> None:
    server, ops = heard.server, heard.ops
    ops.bot_status = "left"
    server.adds_bot(ops, heard.anna)
    added = heard.last()
    server.adds_bot(ops, heard.anna, "administrator")
    promoted = heard.last()
    server.removes_bot(ops, heard.boris)
    removed = heard.last()
    server.blocks(heard.anna)
    blocked = heard.last()
    assert added is not None
    assert removed is not None
    assert blocked is not None
    assert (added.kind, added.person.id) == (Kind.ADDED, "7")
    assert promoted is None
    assert (removed.kind, blocked.kind) == (Kind.REMOVED, Kind.REMOVED)
    assert blocked.place.kind == "private"
    numbers = [str(update["update_id"]) for update in server.updates.waiting]
    assert [added.message_id, removed.message_id, blocked.message_id] == [
        numbers[0],
        numbers[2],
        numbers[3],
    ]


def test_tg_09_an_upgraded_group_says_where_it_is_now(heard: Heard) -> None:
    old = heard.server.group(-4001, "Small", kind="group")
    heard.server.upgrades(old, heard.anna, -100200)
    told = [incoming(Update.model_validate(each), ME) for each in heard.server.updates.waiting[-2:]]
    for moved in told:
        assert moved is not None
        assert (moved.kind, moved.place.id, moved.moved_to) == (Kind.MOVED, "-4001", "-100200")


def test_a_stop_names_its_question_by_the_draft(heard: Heard) -> None:
    heard.server.stops(heard.anna, 501)
    event = heard.last()
    assert event is not None
    assert (event.kind, event.message_id, event.place.id) == (Kind.STOP, "501", "7")


def test_only_what_is_understood_is_asked_for() -> None:
    assert "channel_post" not in WANTED
    assert {"message", "my_chat_member", "stopped_message_generation"} <= set(WANTED)


def test_what_is_forwarded_in_private_is_a_quotation_and_no_command(heard: Heard) -> None:
    origin = {"type": "hidden_user", "date": 1, "sender_user_name": "Mallory"}
    event = heard.says(heard.anna, "/allow ABCD-EFGH", forward_origin=origin)
    assert event is not None
    assert event.quote is not None
    assert (event.text, event.addressed) == ("", True)
    assert (event.quote.text, event.quote.author) == ("/allow ABCD-EFGH", "Mallory")


def test_an_edit_is_said_when_it_is_made(heard: Heard) -> None:
    said = heard.says(heard.ops, "/ask why?")
    heard.server.edits(heard.ops, heard.anna, int(said.message_id) if said else 0, "/ask how?")
    edit = heard.last()
    assert said is not None
    assert edit is not None
    assert (edit.kind, edit.message_id, edit.text) == (Kind.EDIT, said.message_id, "/ask how?")
    assert edit.at >= said.at


def test_the_general_topic_of_a_forum_is_no_topic_to_answer_in(heard: Heard) -> None:
    event = heard.says(heard.ops, "/ask why?", message_thread_id=1, is_topic_message=True)
    assert event is not None
    assert event.place.thread == ""
