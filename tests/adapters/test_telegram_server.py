"""The loopback Bot API server behaves, towards aiogram, as Telegram does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable

import pytest
from aiogram import Bot
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.telegram import TelegramAPIServer
from aiogram.exceptions import (
    TelegramAPIError,
    TelegramBadRequest,
    TelegramConflictError,
    TelegramForbiddenError,
    TelegramMigrateToChat,
    TelegramNetworkError,
    TelegramNotFound,
    TelegramRetryAfter,
    TelegramUnauthorizedError,
)
from aiogram.types import (
    BotCommand,
    BotCommandScopeAllGroupChats,
    BufferedInputFile,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    InputRichMessage,
    MessageEntity,
    ReplyParameters,
    Update,
)
from aiohttp import web

from tests.servers.telegram_server import Flood, Lost, Refused, TelegramServer


@pytest.fixture
async def server() -> AsyncIterator[TelegramServer]:
    async with TelegramServer() as server:
        yield server


@pytest.fixture
async def bot(server: TelegramServer) -> AsyncIterator[Bot]:
    bot = client(server, server.token)
    yield bot
    await bot.session.close()


def client(server: TelegramServer, token: str) -> Bot:
    return Bot(token, AiohttpSession(api=TelegramAPIServer.from_base(server.url)))


async def refused(call: Awaitable[object]) -> str:
    with pytest.raises(TelegramAPIError) as caught:
        await call
    return caught.value.message


def keyboard(data: str) -> InlineKeyboardMarkup:
    button = InlineKeyboardButton(text="More", callback_data=data)
    return InlineKeyboardMarkup(inline_keyboard=[[button]])


async def test_who_the_bot_is() -> None:
    async with TelegramServer(reads_all=False) as server:
        bot = client(server, server.token)
        me = await bot.get_me()
        assert (me.username, me.can_read_all_group_messages) == ("belay_bot", False)
        await bot.session.close()
        wrong = client(server, "4242:wrong")
        with pytest.raises(TelegramUnauthorizedError):
            await wrong.get_me()
        await wrong.session.close()


async def test_updates_wait_until_an_offset_confirms_them(server: TelegramServer, bot: Bot) -> None:
    anna = server.user(7, "Anna")
    server.says(anna, anna, "one")
    server.says(anna, anna, "two")
    first, second = await bot.get_updates()
    assert [u.message.text for u in (first, second) if u.message] == ["one", "two"]
    assert len(await bot.get_updates()) == 2
    assert len(await bot.get_updates(offset=second.update_id)) == 1
    assert await bot.get_updates(offset=second.update_id + 1) == []
    assert server.updates.delivered == [first.update_id, second.update_id]


async def test_a_long_poll_ends_with_the_first_update(server: TelegramServer, bot: Bot) -> None:
    anna = server.user(7, "Anna")

    async def speak() -> None:
        await asyncio.sleep(0)
        server.says(anna, anna, "hello")

    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        poll = group.create_task(bot.get_updates(timeout=30))
        group.create_task(speak())
    assert [u.message.text for u in poll.result() if u.message] == ["hello"]


async def test_unwanted_kinds_of_updates_are_not_sent(server: TelegramServer, bot: Bot) -> None:
    anna = server.user(7, "Anna")
    await bot.get_updates(allowed_updates=["message"])
    message = server.says(anna, anna, "one")
    server.edits(anna, anna, message, "two")
    server.stops(anna, 1)
    assert [u.event_type for u in await bot.get_updates()] == ["message"]


async def test_people_make_updates_that_aiogram_reads(server: TelegramServer, bot: Bot) -> None:
    anna = server.user(7, "Anna", language="ru")
    ops = server.group(-1001, "Ops", topics=[77])
    first = server.says(ops, anna, "/ask@belay_bot why, @belay_bot?", thread=77)
    server.says(ops, anna, "why? @belay_bot", thread=77, reply_to=first, quote="why")
    server.says(ops, anna, "@belay_bot what is this", photo=True)
    server.says(anna, anna, "read it", document=("log.txt", b"boom"))
    server.adds_bot(ops, anna, "administrator")
    server.removes_bot(ops, anna)
    server.blocks(anna)
    server.stops(anna, 5)
    asked, replied, photo, file, added, removed, blocked, stopped = await bot.get_updates()
    assert asked.message
    assert asked.message.message_thread_id == 77
    assert [e.type for e in asked.message.entities or []] == ["bot_command", "mention"]
    assert replied.message
    assert replied.message.quote
    assert replied.message.quote.text == "why"
    assert photo.message
    assert photo.message.text is None
    assert [e.type for e in photo.message.caption_entities or []] == ["mention"]
    assert file.message
    assert file.message.document
    assert (await bot.download(file.message.document)).read() == b"boom"  # type: ignore[union-attr]
    assert added.my_chat_member
    assert added.my_chat_member.new_chat_member.status == "administrator"
    assert removed.my_chat_member
    assert removed.my_chat_member.new_chat_member.status == "kicked"
    assert blocked.my_chat_member
    assert blocked.my_chat_member.chat.type == "private"
    assert stopped.stopped_message_generation


async def test_privacy_mode_hides_mentions_but_not_commands_and_replies() -> None:
    async with TelegramServer(reads_all=False) as server:
        bot = client(server, server.token)
        anna, ops = server.user(7, "Anna"), server.group(-1001, "Ops")
        sent = await bot.send_message(ops.id, "hello")
        server.says(ops, anna, "@belay_bot why?")
        server.says(ops, anna, "/ask@other_bot why?")
        server.says(ops, anna, "/ask why?")
        server.says(ops, anna, "and now?", reply_to=sent.message_id)
        texts = [u.message.text for u in await bot.get_updates() if u.message]
        assert texts == ["/ask why?", "and now?"]
        await bot.session.close()


@pytest.mark.parametrize(
    ("text", "mode", "reason"),
    [
        ("", None, "message text is empty"),
        (" \n ", None, "message text is empty"),
        ("<b></b>", "HTML", "message text is empty"),
        ("x" * 4097, None, "message is too long"),
        ("😀" * 2049, None, "message is too long"),
        ("a.b", "MarkdownV2", "is reserved and must be escaped"),
        ("<b>x", "HTML", "can't parse entities"),
        ("a<br/>b", "HTML", "nsupported start tag"),
    ],
)
async def test_texts_that_telegram_refuses(
    server: TelegramServer, bot: Bot, text: str, mode: str | None, reason: str
) -> None:
    server.user(7, "Anna")
    assert reason in await refused(bot.send_message(7, text, parse_mode=mode))


async def test_length_counts_after_parsing(server: TelegramServer, bot: Bot) -> None:
    anna = server.user(7, "Anna")
    await bot.send_message(7, "<b>" + "😀" * 2048 + "</b>", parse_mode="HTML")
    assert server.sent(anna)[0].text == "😀" * 2048


@pytest.mark.parametrize(
    "entities",
    [
        [("bold", 0, 5)],
        [("bold", -1, 2)],
        [("bold", 2, 1)],
        [("code", 0, 4), ("bold", 1, 1)],
        [("bold", 0, 2), ("italic", 1, 2)],
    ],
)
async def test_entities_must_fit_the_text(
    server: TelegramServer, bot: Bot, entities: list[tuple[str, int, int]]
) -> None:
    server.user(7, "Anna")
    given = [MessageEntity(type=t, offset=o, length=n) for t, o, n in entities]
    assert "ENTIT" in await refused(bot.send_message(7, "ab😀", entities=given))


async def test_edits(server: TelegramServer, bot: Bot) -> None:
    anna = server.user(7, "Anna")
    asked = server.says(anna, anna, "why?")
    sent = await bot.send_message(7, "wait")
    assert "not modified" in await refused(
        bot.edit_message_text("wait", chat_id=7, message_id=sent.message_id)
    )
    await bot.edit_message_text("done", chat_id=7, message_id=sent.message_id)
    assert [(m.text, m.edits) for m in server.sent(anna)] == [("done", 1)]
    assert "to edit not found" in await refused(
        bot.edit_message_text("x", chat_id=7, message_id=999)
    )
    assert "can't be edited" in await refused(
        bot.edit_message_text("x", chat_id=7, message_id=asked)
    )
    await bot.delete_message(7, sent.message_id)
    assert server.sent(anna) == []
    assert "to delete not found" in await refused(bot.delete_message(7, sent.message_id))


async def test_a_reply_to_a_deleted_message(server: TelegramServer, bot: Bot) -> None:
    anna = server.user(7, "Anna")
    asked = server.says(anna, anna, "why?")
    server.deletes(anna, asked)
    reply = ReplyParameters(message_id=asked)
    assert "replied not found" in await refused(bot.send_message(7, "so", reply_parameters=reply))
    lenient = ReplyParameters(message_id=asked, allow_sending_without_reply=True)
    await bot.send_message(7, "so", reply_parameters=lenient)
    assert [m.reply_to for m in server.sent(anna)] == [None]


async def test_topics(server: TelegramServer, bot: Bot) -> None:
    ops = server.group(-1001, "Ops", topics=[77])
    await bot.send_message(-1001, "in the topic", message_thread_id=77)
    server.removes_topic(ops, 77)
    gone = bot.send_message(-1001, "late", message_thread_id=77)
    assert "message thread not found" in await refused(gone)


async def test_chats_that_are_closed_to_the_bot(server: TelegramServer, bot: Bot) -> None:
    anna, ops = server.user(7, "Anna"), server.group(-1001, "Ops")
    server.blocks(anna)
    server.removes_bot(ops, anna)
    for chat, reason in ((7, "blocked by the user"), (-1001, "kicked from the supergroup")):
        with pytest.raises(TelegramForbiddenError, match=reason):
            await bot.send_message(chat, "hi")
    assert "chat not found" in await refused(bot.send_message(5, "hi"))


async def test_a_group_that_became_a_supergroup(server: TelegramServer, bot: Bot) -> None:
    anna, small = server.user(7, "Anna"), server.group(-4001, "Ops", kind="group")
    server.upgrades(small, anna, -1001234500001)
    with pytest.raises(TelegramMigrateToChat) as caught:
        await bot.send_message(-4001, "hi")
    assert caught.value.migrate_to_chat_id == -1001234500001
    old, new = await bot.get_updates()
    assert old.message
    assert old.message.migrate_to_chat_id == -1001234500001
    assert new.message
    assert new.message.migrate_from_chat_id == -4001


async def test_faults_meet_the_next_calls_of_one_chat(server: TelegramServer, bot: Bot) -> None:
    anna, oleg = server.user(7, "Anna"), server.user(8, "Oleg")
    slow = Refused(429, "Too Many Requests: retry after 7", retry_after=7)
    server.fail("sendMessage", slow, Lost(), Lost(done=False), chat=anna)
    await bot.send_message(oleg.id, "other chats work")
    with pytest.raises(TelegramRetryAfter) as caught:
        await bot.send_message(anna.id, "one")
    assert caught.value.retry_after == 7
    for text in ("two", "three"):
        with pytest.raises(TelegramNetworkError):
            await bot.send_message(anna.id, text)
    await bot.send_message(anna.id, "four")
    assert [m.text for m in server.sent(anna)] == ["two", "four"]


async def test_flood_control_counts_each_chat_and_prolongs_the_ban() -> None:
    now = 0.0
    async with TelegramServer(clock=lambda: now) as server:
        server.flood = Flood(burst=2, window=1.0, retry_after=5)
        server.user(7, "Anna")
        server.user(8, "Oleg")
        bot = client(server, server.token)
        for at, chat, fine in [
            (0.0, 7, True), (0.1, 7, True), (0.2, 7, False), (0.2, 8, True),
            (5.0, 7, False), (9.9, 7, False), (15.0, 7, True),
        ]:  # fmt: skip
            now = at
            if fine:
                await bot.send_message(chat, "x")
            else:
                with pytest.raises(TelegramRetryAfter):
                    await bot.send_message(chat, "x")
        await bot.session.close()


async def test_buttons(server: TelegramServer, bot: Bot) -> None:
    anna = server.user(7, "Anna")
    too_long = "open:" + "я" * 30
    assert "BUTTON_DATA_INVALID" in await refused(
        bot.send_message(7, "hi", reply_markup=keyboard(too_long))
    )
    sent = await bot.send_message(7, "hi", reply_markup=keyboard("fb:1:up"))
    server.presses(anna, anna, sent.message_id, "fb:1:up")
    (update,) = await bot.get_updates()
    assert update.callback_query
    assert update.callback_query.data == "fb:1:up"
    await bot.answer_callback_query(update.callback_query.id)
    assert "too old" in await refused(bot.answer_callback_query(update.callback_query.id))
    old = server.presses_old(anna, anna, 1, "fb:9f3a:down")
    assert "too old" in await refused(bot.answer_callback_query(old))


async def test_drafts_are_for_private_chats(server: TelegramServer, bot: Bot) -> None:
    anna, ops = server.user(7, "Anna"), server.group(-1001, "Ops")
    await bot.send_message_draft(7, 1, text="Restart")
    rich = InputRichMessage(markdown="# Restart")
    await bot.send_rich_message_draft(7, 1, rich, can_stop=True)
    assert [(d.text, d.can_stop) for d in server.drafts(anna)] == [
        ("Restart", False),
        ("# Restart", True),
    ]
    assert "TEXTDRAFT_PEER_INVALID" in await refused(bot.send_message_draft(ops.id, 1, text="x"))
    assert server.sent(anna) == []


async def test_rich_messages_and_their_limits(server: TelegramServer, bot: Bot) -> None:
    anna = server.user(7, "Anna")
    sent = await bot.send_rich_message(7, InputRichMessage(markdown="# Head\n\ntext"))
    assert sent.rich_message
    assert server.sent(anna)[0].rich == "# Head\n\ntext"
    for markdown in ("я" * 17_000, "- item\n" * 300, " "):
        with pytest.raises(TelegramBadRequest):
            await bot.send_rich_message(7, InputRichMessage(markdown=markdown))
    new = InputRichMessage(markdown="other")
    await bot.edit_message_text(rich_message=new, chat_id=7, message_id=sent.message_id)
    assert server.sent(anna)[0].rich == "other"
    server.rich = False
    with pytest.raises(TelegramNotFound):
        await bot.send_rich_message(7, new)


async def test_commands_are_kept_by_scope_and_language(server: TelegramServer, bot: Bot) -> None:
    groups = BotCommandScopeAllGroupChats()
    ask = [BotCommand(command="ask", description="Ask")]
    await bot.set_my_commands(ask, scope=groups, language_code="en")
    assert [c.command for c in await bot.get_my_commands(groups, "en")] == ["ask"]
    assert await bot.get_my_commands() == []
    wrong = [BotCommand(command="Ask!", description="Ask")]
    assert "BOT_COMMAND_INVALID" in await refused(bot.set_my_commands(wrong))


async def test_files_and_chats(server: TelegramServer, bot: Bot) -> None:
    server.user(7, "Anna")
    ops = server.group(-1001, "Ops")
    sent = await bot.send_document(7, BufferedInputFile(b"data", "answer.md"))
    assert sent.document
    assert (await bot.download(sent.document)).read() == b"data"  # type: ignore[union-attr]
    assert (await bot.get_chat(ops.id)).title == "Ops"
    assert (await bot.get_chat_member(ops.id, bot.id)).status == "member"
    await bot.leave_chat(ops.id)
    assert ops.bot_status == "left"


async def test_a_webhook_gets_each_update_until_it_acknowledges(
    server: TelegramServer, bot: Bot
) -> None:
    seen: list[tuple[str, int]] = []

    async def receive(request: web.Request) -> web.Response:
        secret = request.headers.get("X-Telegram-Bot-Api-Secret-Token", "")
        update = Update.model_validate(await request.json())
        seen.append((secret, update.update_id))
        if len(seen) == 1:
            return web.Response(status=500)
        return web.json_response({"method": "sendMessage", "chat_id": 7, "text": "got it"})

    app = web.Application()
    app.router.add_post("/hook", receive)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    port = runner.addresses[0][1]
    anna = server.user(7, "Anna")
    await bot.set_webhook(f"http://127.0.0.1:{port}/hook", secret_token="hush")
    server.says(anna, anna, "hello")
    await server.until(lambda: server.sent(anna))
    assert seen == [("hush", seen[0][1])] * 2
    with pytest.raises(TelegramConflictError):
        await bot.get_updates()
    assert (await bot.get_webhook_info()).url.endswith("/hook")
    await bot.delete_webhook()
    assert await bot.get_updates() == []
    await runner.cleanup()


async def test_unknown_methods_and_requests_are_on_record(server: TelegramServer, bot: Bot) -> None:
    server.user(7, "Anna")
    with pytest.raises(TelegramNotFound):
        await bot.get_forum_topic_icon_stickers()
    await bot.send_chat_action(7, "typing")
    assert [(c.method, c.error) for c in server.calls] == [
        ("getForumTopicIconStickers", 404),
        ("sendChatAction", 0),
    ]
