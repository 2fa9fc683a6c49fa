"""The bot at Telegram: what is received, by polling and by webhook, and how it joins and leaves."""

from __future__ import annotations

import asyncio
import json
from typing import Literal

import aiohttp
import pytest

from adapters.telegram import create
from adapters.telegram.webhook import PATH, address, secret_of
from bot.chat import Incoming, Kind, Reply
from bot.errors import SettingsError, StorageError
from bot.http import HttpServer, Listening
from bot.inbox import Desk
from bot.ports import Conversation, Sink
from tests.adapters.telegram_kit import SECRET, At, office
from tests.bot.desk_kit import settle
from tests.servers.telegram_server import Refused, Sent, TelegramServer

TOAST = "Thank you."


class Full(Sink):
    """A desk whose disk is full for the first events."""

    def __init__(self, desk: Desk, times: int) -> None:
        self._desk, self.left = desk, times

    async def accept(self, event: Incoming) -> None:
        if self.left:
            self.left -= 1
            raise StorageError("the disk is full")
        await self._desk.accept(event)


async def nothing(event: Incoming) -> None:
    raise AssertionError(event)


class Nowhere(Sink):
    accept = staticmethod(nothing)


async def test_an_update_is_confirmed_only_when_it_is_stored() -> None:
    async with office(sink=lambda desk: Full(desk, 2)) as at:
        at.server.says(at.anna, at.anna, "one")
        at.server.says(at.anna, at.anna, "two")
        await at.until(lambda: len(at.server.called("getUpdates")) >= 1)
        assert at.server.updates.delivered == []
        while not at.seen:
            await at.passes(30)
        answers = await at.answered(at.anna, 2)
        assert [each.text for each in answers] == ["re: one", "re: two"]


async def test_an_update_that_comes_twice_is_answered_once() -> None:
    async with office() as at:
        at.server.says(at.anna, at.anna, "one")
        await at.until(lambda: at.server.updates.waiting or at.seen)
        number = {"update_id": 900_000, **dict(list(_last(at.server).items())[1:])}
        at.server.repeats(number)
        await at.until(lambda: 900_000 in at.server.updates.delivered)
        await at.answered(at.anna, 1)


def _last(server: TelegramServer) -> dict[str, object]:
    anna = server.chats.known[7]
    (message,) = server.chats.messages[anna.id].values()
    return {"update_id": 1, "message": message}


async def test_an_update_of_a_kind_yet_unknown_does_not_stop_the_others() -> None:
    async with office() as at:
        broken = {"update_id": 1, "message": {"message_id": "what?"}}
        at.server.updates.waiting.append(broken)
        at.server.says(at.anna, at.anna, "one")
        await at.answered(at.anna)


@pytest.mark.parametrize(
    "fault",
    [
        Refused(409, "Conflict: terminated by other getUpdates request"),
        Refused(502, "Bad Gateway"),
        Refused(429, "Too Many Requests: retry after 5", retry_after=5),
    ],
)
async def test_polling_goes_on_after_an_outage(
    fault: Refused, caplog: pytest.LogCaptureFixture
) -> None:
    async with office() as at:
        at.server.fail("getUpdates", fault, fault)
        at.server.says(at.anna, at.anna, "one")
        while not at.seen:
            await at.passes(5)
        await at.answered(at.anna)
        if fault.code == 409:
            assert "another process" in caplog.text
        told = [line for line in caplog.messages if "privacy" not in line]
        assert len(told) == 2  # OP-08: that it began, and that it is over
        assert "again" in told[1]


async def test_a_wrong_token_is_named() -> None:
    async with TelegramServer() as server:
        telegram = create("4242:AAwrong-token-of-the-test-bot-00000", server.url)
        with pytest.raises(SettingsError, match="token") as caught:
            await telegram.run(Nowhere())
        assert "BELAY_TELEGRAM_TOKEN" in caught.value.remedy
        await telegram.close()
    with pytest.raises(SettingsError, match="BELAY_TELEGRAM_TOKEN"):
        create("not a token")


async def test_a_token_that_is_revoked_ends_the_bot() -> None:
    async with TelegramServer() as server:
        server.fail("getUpdates", Refused(401, "Unauthorized"))
        telegram = create(server.token, server.url)
        with pytest.raises(SettingsError, match="revoked"):
            await telegram.run(Nowhere())
        await telegram.close()


async def test_polling_takes_an_old_webhook_away() -> None:
    server = TelegramServer()
    server.updates.set_webhook({"url": "https://old.example/hook"})
    async with office(server=server) as at:
        server.says(at.anna, at.anna, "one")
        await at.answered(at.anna)
        assert server.updates.webhook is None


# Webhook


async def test_a_webhook_brings_questions() -> None:
    async with office(webhook=True) as at:
        at.server.says(at.anna, at.anna, "one")
        (answer,) = await at.answered(at.anna)
        assert answer.text == "re: one"
        assert at.server.updates.webhook is not None
        assert at.server.updates.webhook.url.endswith(PATH)
        await at.until(lambda: at.server.updates.delivered)


async def post(at: At, body: bytes, secret: str | None) -> int:
    headers = {} if secret is None else {"X-Telegram-Bot-Api-Secret-Token": secret}
    url = f"http://127.0.0.1:{at.http.port}{PATH}"
    async with (
        aiohttp.ClientSession() as session,
        session.post(url, data=body, headers=headers) as response,
    ):
        return response.status


@pytest.mark.parametrize("secret", [None, "", "wrong", SECRET + "x", "секрет".encode().hex()])
async def test_who_does_not_know_the_secret_is_not_heard(secret: str | None) -> None:
    async with office(webhook=True) as at:
        await at.until(lambda: at.server.updates.webhook)
        assert await post(at, json.dumps({"update_id": 1}).encode(), secret) == 401
        assert at.seen == []


async def test_a_webhook_acknowledges_what_it_stored_and_nothing_else() -> None:
    async with office(webhook=True, sink=lambda desk: Full(desk, 1)) as at:
        await at.until(lambda: at.server.updates.webhook)
        anna = at.anna.json
        message = {"message_id": 5, "date": 1, "chat": at.anna.chat, "from": anna, "text": "one"}
        body = json.dumps({"update_id": 1, "message": message}).encode()
        assert await post(at, body, SECRET) == 503
        assert await post(at, body, SECRET) == 200
        assert await post(at, body, SECRET) == 200
        assert await post(at, b"no json", SECRET) == 400
        assert await post(at, b"[]", SECRET) == 400
        assert await post(at, b'{"update_id": 2, "message": {"odd": 1}}', SECRET) == 200
        await at.answered(at.anna, 1)


async def test_a_webhook_that_telegram_refuses_is_named() -> None:
    async with TelegramServer() as server, HttpServer(Listening(port=0)) as http:
        telegram = create(server.token, server.url, webhook_url="ftp://x.example", http=http)
        with pytest.raises(SettingsError, match="webhook") as caught:
            await telegram.run(Nowhere())
        assert "BELAY_TELEGRAM_WEBHOOK_URL" in caught.value.remedy
        await telegram.close()
    with pytest.raises(SettingsError, match="HTTP"):
        create(server.token, webhook_url="https://bot.example")


def test_the_address_of_a_webhook() -> None:
    assert address("https://bot.example") == f"https://bot.example{PATH}"
    assert address("https://bot.example/") == f"https://bot.example{PATH}"
    assert address("https://bot.example/tg") == "https://bot.example/tg"
    assert secret_of("1:a") != secret_of("1:b")
    assert secret_of("1:a").isalnum()


async def test_health_can_be_asked_for() -> None:
    healthy = True
    async with HttpServer(Listening(port=0), lambda: healthy) as http:
        url = f"http://127.0.0.1:{http.port}"
        async with aiohttp.ClientSession() as session:
            statuses = [(await session.get(f"{url}/healthz")).status]
            healthy = False
            statuses.append((await session.get(f"{url}/healthz")).status)
            statuses.append((await session.post(f"{url}/nowhere")).status)
        assert statuses == [200, 503, 404]
        with pytest.raises(SettingsError, match=str(http.port)):
            async with HttpServer(Listening(port=http.port)):
                pass


# Groups


async def greet(event: Incoming, conversation: Conversation) -> None:
    if event.kind is Kind.ADDED:
        await conversation.say(Reply("Hello."))
    elif event.kind is Kind.QUESTION:
        await conversation.answer(Reply(f"re: {event.text}"))


@pytest.mark.parametrize("reads_all", [True, False])
@pytest.mark.parametrize("status", ["member", "administrator"])
async def test_tg_20_privacy_mode_is_explained_where_it_matters(
    reads_all: bool, status: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with office(greet, server=TelegramServer(reads_all=reads_all)) as at:
        at.ops.bot_status = "left"
        at.server.adds_bot(at.ops, at.anna, status)
        (hello,) = await at.answered(at.ops)
        explained = not reads_all and status == "member"
        assert ("/setprivacy" in hello.text) is explained
        assert ("/ask@belay" in hello.text.replace("\\", "")) is explained
        assert ("/setprivacy" in caplog.text) is not reads_all
        assert "this group" not in caplog.text


async def test_tg_20_commands_and_replies_work_in_privacy_mode() -> None:
    async with office(server=TelegramServer(reads_all=False)) as at:
        at.server.says(at.ops, at.anna, "@belay_bot do you hear me?")
        at.server.says(at.ops, at.anna, "/ask@belay_bot why")
        (first,) = await at.answered(at.ops)
        assert first.text == "re: /ask why"
        at.server.says(at.ops, at.anna, "and then?", reply_to=first.message_id)
        _, second = await at.answered(at.ops, 2)
        assert second.text == "re: and then?"


async def test_a_group_of_strangers_is_left() -> None:
    async def decide(event: Incoming) -> Literal["stay", "leave"]:
        return "stay" if event.person.id == "7" else "leave"

    async def silent(event: Incoming, conversation: Conversation) -> None:
        return None

    async with office(silent, on_added=decide) as at:
        theirs = at.server.group(-1002, "Theirs")
        for group, person in ((at.ops, at.anna), (theirs, at.boris)):
            group.bot_status = "left"
            at.server.adds_bot(group, person)
        await at.until(lambda: at.server.called("leaveChat"))
        await at.idle()
        assert (at.ops.bot_status, theirs.bot_status) == ("member", "left")


# Buttons


async def vote(event: Incoming, conversation: Conversation) -> None:
    if event.kind is Kind.PRESS:
        await conversation.say(Reply(TOAST, private=True))


async def test_tg_13_a_vote_is_thanked_for_over_the_chat() -> None:
    async with office(vote) as at:
        press(at, expired=False)
        await at.until(lambda: at.server.called("answerCallbackQuery"))
        await at.idle()
        (call,) = at.server.called("answerCallbackQuery")
        assert call.params["text"] == TOAST
        assert at.server.sent(at.ops) == []


async def test_tg_13_an_old_button_still_counts_and_answers() -> None:
    async with office(vote) as at:
        press(at, expired=True)
        (note,) = await at.answered(at.anna)
        assert note.text == TOAST
        assert [event.value for event in at.seen] == ["fb:9f3a:down"]


async def test_tg_13_a_slow_button_is_acknowledged_before_the_work() -> None:
    go = asyncio.Event()

    async def search(event: Incoming, conversation: Conversation) -> None:
        await conversation.progress("searching the web …")
        await go.wait()
        await conversation.answer(Reply("Found it."))

    async with office(search) as at:
        press(at, expired=False)
        await at.until(lambda: at.server.called("answerCallbackQuery"))
        assert at.server.sent(at.ops) == []
        go.set()
        (answer,) = await at.answered(at.ops)
        assert answer.text == "Found it."
        assert len(at.server.called("answerCallbackQuery")) == 1


async def test_tg_13_a_button_that_works_in_silence_is_acknowledged_too() -> None:
    go = asyncio.Event()

    async def look(event: Incoming, conversation: Conversation) -> None:
        await go.wait()
        await conversation.say(Reply("These sources."))

    async with office(look) as at:
        press(at, expired=False)
        await at.until(lambda: at.seen)
        await at.passes(5)
        await at.until(lambda: at.server.called("answerCallbackQuery"))
        go.set()
        (said,) = await at.answered(at.ops)
        assert (said.text, said.edits) == ("These sources.", 0)


def press(at: At, *, expired: bool) -> None:
    at.server.presses_old(at.ops, at.anna, 5, "fb:9f3a:down", expired=expired)


# Menus


async def test_menus_are_told_in_two_languages_and_only_when_they_change() -> None:
    server = TelegramServer()
    async with office(server=server):
        told = dict(server.methods.commands)
    assert {language for _, language in told} == {"", "en", "ru"}
    private = {each["command"] for each in told['{"type": "all_private_chats"}', "ru"]}
    assert {"ask", "help", "sources"} <= private
    assert "pair" not in private
    described = [each["description"] for each in told['{"type": "all_group_chats"}', "ru"]]
    assert "задать вопрос по документам" in described
    async with TelegramServer() as again:
        again.methods.commands.update(told)
        telegram = create(again.token, again.url)
        async with asyncio.TaskGroup() as group:
            running = group.create_task(telegram.run(Nowhere()))
            await again.until(lambda: again.called("deleteWebhook"))
            running.cancel()
        await telegram.close()
        assert again.called("setMyCommands") == []


async def test_menus_that_are_refused_stop_nothing() -> None:
    server = TelegramServer()
    server.fail("setMyCommands", Refused(400, "Bad Request: BOT_COMMAND_INVALID"))
    async with office(server=server) as at:
        at.server.says(at.anna, at.anna, "one")
        await at.answered(at.anna)


async def test_a_mention_that_an_edit_adds_is_answered_once() -> None:
    async with office() as at:
        at.server.says(at.ops, at.anna, "which port?")
        (number,) = at.server.chats.messages[at.ops.id]
        await settle()
        at.server.edits(at.ops, at.anna, number, "@belay_bot which port?")
        (answer,) = await at.answered(at.ops)
        assert answer.text == "re: which port?"
        at.server.edits(at.ops, at.anna, number, "@belay_bot which port, please?")
        at.server.says(at.ops, at.anna, "@belay_bot and why?")
        await at.answered(at.ops, 2)
        assert [event.text for event in at.seen] == ["which port?", "and why?"]


ALERT = "FIRING KubeJobFailed: backup-orders, exit 137"


async def quoting(event: Incoming, conversation: Conversation) -> None:
    await conversation.answer(Reply(f"{event.text} on {event.quote.text if event.quote else ''}"))


class TestForwards:
    """A client sends the word about what it forwards first, and as a message of its own."""

    def forwards(self, at: At, text: str) -> None:
        origin = {"type": "hidden_user", "date": 1, "sender_user_name": "Alerts"}
        at.server.says(at.anna, at.anna, text, forward_origin=origin)

    async def in_time(self, at: At, count: int) -> list[Sent]:
        async with asyncio.timeout(20):
            while len(at.server.sent(at.anna)) < count:
                await at.passes(0.5)
        return await at.answered(at.anna, count)

    async def test_a_word_and_what_is_forwarded_with_it_are_one_question(self) -> None:
        async with office(quoting) as at:
            at.server.says(at.anna, at.anna, "what do I do?")
            self.forwards(at, ALERT)
            (answer,) = await at.answered(at.anna)
            assert answer.text == f"what do I do? on {ALERT}"
            assert at.seen[-1].place.kind == "private"

    async def test_a_question_at_work_is_begun_anew_about_what_is_forwarded(self) -> None:
        begun = asyncio.Event()

        async def slow(event: Incoming, conversation: Conversation) -> None:
            if event.quote is None:
                begun.set()
                await asyncio.Event().wait()
            await quoting(event, conversation)

        async with office(slow) as at:
            at.server.says(at.anna, at.anna, "what do I do?")
            await begun.wait()
            self.forwards(at, ALERT)
            (answer,) = await at.answered(at.anna)
            assert answer.text == f"what do I do? on {ALERT}"

    @pytest.mark.parametrize(
        ("said", "answer"),
        [
            ("what do I do?", f"what do I do? on {ALERT}\n\nand another"),
            ("", f" on {ALERT}\n\nand another"),
        ],
        ids=["word", "alone"],
    )
    async def test_all_that_is_forwarded_at_once_is_one_question(
        self, said: str, answer: str
    ) -> None:
        async with office(quoting) as at:
            self.forwards(at, ALERT)
            self.forwards(at, "and another")
            if said:
                at.server.says(at.anna, at.anna, said)
            (shown,) = await self.in_time(at, 1)
            assert shown.text.strip() == answer.strip()

    async def test_a_command_takes_no_forward(self) -> None:
        async with office(quoting) as at:
            at.server.says(at.anna, at.anna, "/forget")
            self.forwards(at, ALERT)
            first, second = await self.in_time(at, 2)
            assert first.text.startswith("/forget")
            assert ALERT in second.text
