"""Answers as people see them on Telegram: whole, in place, once, whatever Telegram refuses."""

from __future__ import annotations

import asyncio

import pytest

from adapters.telegram.message import cut
from bot.chat import Button, Incoming, Kind, Person, Reply
from bot.ports import Conversation
from tests.adapters.telegram_kit import At, Handle, answer_with, echo, office
from tests.servers.telegram_server import Lost, Refused, TelegramServer

SCRIPT = "\n".join(f"systemctl restart service-{n:03} --wait --now" for n in range(120))
LONG = f"Restart everything.\nIn this order.\n\n```bash\n{SCRIPT}\n```\n\nSource: [1]"


def refused(text: str, code: int = 400) -> Refused:
    return Refused(code, text)


async def test_a_private_question_is_answered_as_a_reply() -> None:
    async with office() as at:
        question = at.server.says(at.anna, at.anna, "which port?")
        (answer,) = await at.answered(at.anna)
        assert answer.text == "re: which port?"
        assert (answer.reply_to, answer.rich) == (question, answer.text)


@pytest.mark.parametrize("rich", [True, False])
async def test_tg_01_a_long_script_arrives_whole_and_in_order(rich: bool) -> None:
    async with office(answer_with(LONG)) as at:
        at.server.rich = rich
        at.server.says(at.anna, at.anna, "show the full restart script")
        parts = await at.answered(at.anna, 2)
        shown = "\n".join(part.text for part in parts)
        lines = [line for line in shown.splitlines() if line.startswith("systemctl")]
        assert "\n".join(lines) == SCRIPT
        assert "Source:" in parts[-1].text
        if rich:
            assert all(part.text.count("```") == 2 for part in parts)
            assert all("```bash" in part.text for part in parts)
        else:
            languages = [e.get("language") for p in parts for e in p.entities]
            assert languages.count("bash") == 2


async def test_tg_03_punctuation_is_shown_as_the_model_wrote_it() -> None:
    told = "Fixed in v1.2.3! Run `make fix-db` (see step 4) - it takes ~5 min. a_b_c = 2*3"
    async with office(answer_with(told)) as at:
        at.server.rich = False
        at.server.says(at.anna, at.anna, "what now?")
        (answer,) = await at.answered(at.anna)
        assert answer.text == told.replace("`", "")


async def test_tg_03_what_is_refused_in_one_form_is_sent_in_the_next() -> None:
    async with office(answer_with("It is **8081**.")) as at:
        bad = refused("Bad Request: can't parse rich message")
        at.server.fail("sendRichMessage", bad)
        at.server.fail("sendMessage", refused("Bad Request: can't parse entities"))
        at.server.says(at.anna, at.anna, "which port?")
        (answer,) = await at.answered(at.anna)
        assert (answer.text, answer.entities) == ("It is 8081.", ())


@pytest.mark.parametrize("rich", [True, False])
async def test_tg_04_what_looks_like_html_is_text(rich: bool) -> None:
    told = "Set `Map<String, List<Pod>>` then<br/>restart <details> & wait"
    async with office(answer_with(told)) as at:
        at.server.rich = rich
        at.server.says(at.anna, at.anna, "what type is used?")
        (answer,) = await at.answered(at.anna)
        for piece in ("Map<String, List<Pod>>", "br/", "details"):
            assert piece in answer.text
        assert not {e["type"] for e in answer.entities} - {"code"}


async def test_an_old_server_is_asked_for_rich_messages_once() -> None:
    async with office() as at:
        at.server.rich = False
        for number in range(3):
            at.server.says(at.anna, at.anna, f"question {number}")
        await at.answered(at.anna, 3)
        assert len(at.server.called("sendRichMessage")) == 1


async def test_nobody_knows_whether_it_arrived_so_it_is_not_sent_again() -> None:
    async with office() as at:
        at.server.fail("sendRichMessage", Lost(done=True))
        at.server.says(at.anna, at.anna, "which port?")
        await at.until(lambda: at.server.called("sendRichMessage"))
        await at.passes(5)
        first, note = await at.answered(at.anna, 2)
        assert first.text == "re: which port?"
        assert "interrupted" in note.text


async def test_tg_09_an_answer_follows_the_group_to_its_new_id() -> None:
    go = asyncio.Event()

    async def wait(event: Incoming, conversation: Conversation) -> None:
        if event.kind is Kind.QUESTION:
            await go.wait()
            await conversation.answer(Reply(f"re: {event.text}"))

    async with office(wait) as at:
        old = at.server.group(-4001, "Small", kind="group")
        at.server.says(old, at.anna, "/ask restart billing?")
        await at.until(lambda: at.seen)
        new = at.server.upgrades(old, at.anna, -1001234500001)
        await at.until(lambda: at.moved)
        go.set()
        await at.until(lambda: at.server.sent(new))
        at.server.says(new, at.anna, "/ask and for staging?")
        answers = await at.answered(new, 2)
        assert [each.text for each in answers] == [
            "re: /ask restart billing?",
            "re: /ask and for staging?",
        ]
        assert at.server.sent(old) == []


async def test_tg_09_either_message_of_the_move_is_enough() -> None:
    """TG-09: also when only the new group's word of it is delivered."""
    async with office() as at:
        old = at.server.group(-4001, "Small", kind="group")
        at.server.says(old, at.anna, "/ask restart billing?")
        await at.answered(old)
        new = at.server.upgrades(old, at.anna, -1001234500001, told=("new",))
        await at.until(lambda: at.moved)
        at.server.says(new, at.anna, "/ask and for staging?")
        await at.answered(new)
        assert [(event.place.id, event.moved_to) for event in at.moved] == [
            ("-4001", "-1001234500001")
        ]


def gated(go: asyncio.Event) -> Handle:
    async def wait(event: Incoming, conversation: Conversation) -> None:
        await go.wait()
        await conversation.answer(Reply(f"re: {event.text}"))

    return wait


async def in_a_gone_topic(at: At, go: asyncio.Event) -> None:
    at.server.says(at.ops, at.anna, "/ask why", thread=77)
    await at.until(lambda: at.seen)
    at.server.removes_topic(at.ops, 77)
    go.set()
    await at.until(lambda: at.server.called("sendRichMessage"))


async def test_tg_11_a_topic_that_is_gone_is_left() -> None:
    go = asyncio.Event()
    async with office(gated(go)) as at:
        await in_a_gone_topic(at, go)
        (answer,) = await at.answered(at.ops)
        assert (answer.thread, answer.text) == (None, "re: /ask why")
        assert len(at.server.called("sendRichMessage")) == 2


async def test_the_asker_of_an_answer_that_no_form_of_is_taken_is_told() -> None:
    async with office() as at:
        bad = refused("Bad Request: BUTTON_DATA_INVALID")
        at.server.fail("sendRichMessage", bad)
        at.server.fail("sendMessage", bad, bad)
        at.server.says(at.anna, at.anna, "which port?")
        (told,) = await at.answered(at.anna)
        assert "went wrong" in told.text


async def test_tg_11_nothing_of_a_restricted_topic_is_shown_elsewhere() -> None:
    go = asyncio.Event()
    async with office(gated(go), leaves_topic=False) as at:
        await in_a_gone_topic(at, go)
        await at.idle()
        assert at.server.sent(at.ops) == []
        assert len(at.server.called("sendRichMessage")) == 1


async def test_tg_11_a_second_refusal_is_the_last() -> None:
    async with office() as at:
        gone = refused("Bad Request: message thread not found")
        at.server.fail("sendRichMessage", gone, gone)
        at.server.says(at.ops, at.anna, "/ask why", thread=77)
        await at.idle()
        await at.passes(100)
        assert len(at.server.called("sendRichMessage")) == 2
        assert at.gone == []


async def test_tg_12_a_question_that_was_deleted_is_answered_once() -> None:
    go = asyncio.Event()
    async with office(gated(go)) as at:
        question = at.server.says(at.ops, at.anna, "/ask why")
        await at.until(lambda: at.seen)
        at.server.deletes(at.ops, question)
        go.set()
        (answer,) = await at.answered(at.ops)
        assert (answer.reply_to, answer.text) == (None, "re: /ask why")


@pytest.mark.parametrize(
    "title",
    [
        "Регламент перезапуска платёжного шлюза (тестовый стенд, вторая очередь)",
        "👩‍🚒" * 30,
        "ok",
    ],
)
async def test_tg_14_a_value_that_telegram_refuses_costs_no_answer(title: str) -> None:
    buttons = (Button("Open " + title, title), Button("Sources", "s:0123456789ab"))
    async with office(answer_with("Here it is.", buttons=buttons)) as at:
        at.server.says(at.anna, at.anna, "where is it?")
        (answer,) = await at.answered(at.anna)
        assert "s:0123456789ab" in [button["callback_data"] for button in answer.buttons]
        assert all(len(button["callback_data"].encode()) <= 64 for button in answer.buttons)


async def test_buttons_stand_under_the_last_part() -> None:
    async with office(answer_with(LONG, buttons=(Button("Sources", "s:0123456789ab"),))) as at:
        at.server.says(at.anna, at.anna, "show the script")
        first, last = await at.answered(at.anna, 2)
        assert (len(first.buttons), len(last.buttons)) == (0, 1)


@pytest.mark.parametrize(
    ("words", "thread", "replied"),
    [
        ("message thread not found", False, True),
        ("TOPIC_CLOSED", False, True),
        ("the chat is not a forum", False, True),
        ("message to be replied not found", True, False),
        ("reply message not found", True, False),
        ("REPLY_MESSAGE_ID_INVALID", True, False),
    ],
)
async def test_tg_12_what_is_gone_is_left_out_in_whatever_words_telegram_says_so(
    words: str, thread: bool, replied: bool
) -> None:
    async with office() as at:
        at.server.fail("sendRichMessage", refused(f"Bad Request: {words}"))
        question = at.server.says(at.ops, at.anna, "/ask why", thread=77)
        (answer,) = await at.answered(at.ops)
        assert (answer.thread, answer.reply_to) == (
            77 if thread else None,
            question if replied else None,
        )
        assert len(at.server.called("sendRichMessage")) == 2


async def test_tg_15_whoever_blocks_the_bot_is_left_alone_and_others_are_served() -> None:
    go = asyncio.Event()
    async with office(gated(go)) as at:
        at.server.says(at.anna, at.anna, "why?")
        at.server.says(at.boris, at.boris, "why?")
        await at.until(lambda: len(at.seen) == 2)
        at.anna.blocked = True
        go.set()
        await at.answered(at.boris)
        await at.until(lambda: at.gone)
        await at.passes(100)
        assert [place.id for place in at.gone] == ["7"]
        assert len(at.server.called("sendRichMessage", at.anna)) == 1


async def test_tg_15_who_blocked_the_bot_while_it_wrote_is_not_called_again() -> None:
    async def write(event: Incoming, conversation: Conversation) -> None:
        await conversation.progress("searching …")
        await echo(event, conversation)

    async with office(write) as at:
        at.anna.blocked = True
        at.server.updates.put("message", at.server.chats.new(at.anna, at.anna, text="why?"))
        await at.until(lambda: at.gone)
        await at.passes(100)
        assert [call.method for call in at.server.calls if call.chat == at.anna.id] == [
            "sendRichMessageDraft"
        ]


async def test_a_group_that_the_bot_may_not_write_to_is_given_up() -> None:
    async with office() as at:
        rights = "Bad Request: not enough rights to send text messages to the chat"
        at.server.fail("sendRichMessage", refused(rights))
        at.server.says(at.ops, at.anna, "/ask why")
        await at.until(lambda: at.gone)
        await at.passes(100)
        assert len(at.server.called("sendRichMessage")) == 1


async def test_telegram_is_down_and_the_answer_waits() -> None:
    async with office() as at:
        at.server.fail("sendRichMessage", refused("Unauthorized", 401))
        at.server.says(at.anna, at.anna, "why?")
        await at.until(lambda: at.server.called("sendRichMessage"))
        assert at.server.sent(at.anna) == []
        await at.passes(5)
        await at.answered(at.anna)


async def test_too_fast_is_waited_for_and_sent_once() -> None:
    async with office() as at:
        flood = Refused(429, "Too Many Requests: retry after 7", retry_after=7)
        at.server.fail("sendRichMessage", flood)
        at.server.says(at.anna, at.anna, "why?")
        await at.until(lambda: at.server.called("sendRichMessage"))
        await at.passes(6)
        assert len(at.server.called("sendRichMessage")) == 1
        await at.passes(2)
        await at.answered(at.anna)


async def test_tg_18_a_long_paste_is_one_question() -> None:
    log = "ERROR disk full on node-07 " * 200
    async with office() as at:
        for text in (log[:4096], log[:4090], "why does it fail?"):
            at.server.says(at.anna, at.anna, text)
        await at.until(lambda: len(at.server.updates.delivered) == 3)
        await at.passes(5)
        await at.until(lambda: at.seen)
        await at.idle()
        (event,) = at.seen
        assert event.text.endswith("why does it fail?")
        assert event.text.count("ERROR") > 290


PASTES = [
    ("@belay_bot {log}", "{log}", "why does it fail?"),
    ("{log}", "{log}", "the rest of it", "why does it fail? @belay_bot"),
    ("{log}", "@belay_bot why does it fail?"),
    ("/ask@belay_bot {log}", "why does it fail?"),
]


@pytest.mark.parametrize("said", PASTES, ids=[str(len(said)) + said[0][:4] for said in PASTES])
async def test_tg_18_in_a_group_one_mention_is_enough_for_all_pieces(said: tuple[str, ...]) -> None:
    log = ("ERROR disk full on node-07 " * 200)[:4060]
    async with office() as at:
        for text in said:
            at.server.says(at.ops, at.anna, text.format(log=log))
        at.server.says(at.ops, at.boris, "not for the bot")
        await at.until(lambda: len(at.server.updates.delivered) == len(said) + 1)
        await at.passes(5)
        await at.until(lambda: at.server.sent(at.ops))
        await at.idle()
        (event,) = at.seen
        assert "why does it fail?" in event.text
        assert event.text.count("ERROR") == 151 * sum("{log}" in text for text in said)


async def test_tg_18_a_long_text_that_nobody_asks_about_is_left_alone() -> None:
    async def polite(event: Incoming, conversation: Conversation) -> None:
        if event.addressed:
            await echo(event, conversation)

    async with office(polite) as at:
        at.server.says(at.ops, at.anna, "x" * 4096)
        at.server.says(at.ops, at.boris, "@belay_bot which port?")
        await at.until(lambda: len(at.server.updates.delivered) == 2)
        await at.passes(5)
        (answer,) = await at.answered(at.ops)
        assert answer.text == "re: which port?"
        assert [event.text for event in at.seen if event.addressed] == ["which port?"]


@pytest.mark.parametrize("place", ["private", "group"])
@pytest.mark.parametrize("captioned", [0, 1, 2])
async def test_tg_16_an_album_is_one_question(place: str, captioned: int) -> None:
    async with office() as at:
        chat = at.anna if place == "private" else at.ops
        for number in range(3):
            caption = "@belay_bot what is broken?" if number == captioned else ""
            at.server.says(chat, at.anna, caption, photo=True, media_group_id="77")
        await at.until(lambda: len(at.server.updates.delivered) == 3)
        await at.passes(2)
        (answer,) = await at.answered(chat)
        assert answer.text == "re: what is broken?"


async def test_se_01_questions_at_once_get_their_own_answers_in_order() -> None:
    async with office() as at:
        asked = {
            at.server.says(at.ops, at.anna, "/ask restart billing?", thread=77): "billing",
            at.server.says(at.ops, at.boris, "/ask and orders?", thread=77): "orders",
        }
        answers = await at.answered(at.ops, 2)
        assert [asked[each.reply_to or 0] in each.text for each in answers] == [True, True]
        assert [each.thread for each in answers] == [77, 77]


async def test_se_01_conversations_do_not_wait_for_each_other() -> None:
    go = asyncio.Event()

    async def slow_topic(event: Incoming, conversation: Conversation) -> None:
        if event.place.thread == "77":
            await go.wait()
        await echo(event, conversation)

    async with office(slow_topic) as at:
        at.server.says(at.ops, at.anna, "/ask first", thread=77)
        at.server.says(at.ops, at.boris, "/ask second", thread=78)
        await at.until(lambda: at.server.sent(at.ops))
        assert [each.text for each in at.server.sent(at.ops)] == ["re: /ask second"]
        go.set()
        await at.answered(at.ops, 2)


TOKENS = "See https://wiki.corp/a and https://idp.example/reset?user=7&token=abc#top today."


@pytest.mark.parametrize("rich", [True, False])
async def test_sc_03_no_previews_and_no_one_time_links(rich: bool) -> None:
    async with office(answer_with(TOKENS)) as at:
        at.server.rich = rich
        at.server.says(at.anna, at.anna, "where do I reset it?")
        (answer,) = await at.answered(at.anna)
        assert "token=abc" not in answer.text
        assert "token=masked" in answer.text.replace("\\", "")
        assert "https://wiki.corp/a" in answer.text.replace("\\", "")
        assert answer.preview is rich  # rich messages have none; text says so each time


@pytest.mark.parametrize(
    ("address", "hidden"),
    [
        ("https://x.example/?reset_token=s3cr", True),
        ("https://x.example/?a=1&X-Amz-Signature=s3cr", True),
        ("https://x.example/cb?code=s3cr&state=2", True),
        ("https://x.example/?page=s3cr&country_code=s3cr", False),
        ("https://x.example/token/s3cr", False),
        ("https://x.example/?pass=s3cr", True),
        ("https://x.example/?user[token]=s3cr", True),
        ("https://x.example/?SAMLResponse=s3cr", True),
        ("https://x.example/?next=https%3A%2F%2Fy%2F%3Ftoken%3Ds3cr%26a%3D1", True),
        ("https://ops:s3cr@db.example/x", True),
        ("postgres://ops:s3cr@db.example/x", True),
        ("https://x.example/?key=AIza4Zs3cr_Xy-01", True),
    ],
)
def test_sc_03_only_what_opens_something_is_masked(address: str, hidden: bool) -> None:
    (part,) = cut(f"Open [this]({address}) or <{address}>.")
    assert ("s3cr" not in part) is hidden


@pytest.mark.parametrize(
    "address",
    [
        "https://wiki.example/errors?code=WB-5031",
        "https://status.example/?code=404&key=PROJ-12",
        "https://jira.example/?ticket=OPS-7#ticket=latest",
        "https://host.example:8080/@ops",
        "https://grafana.example/d/x?var=a:b@c",
    ],
)
def test_sc_03_links_that_open_nothing_stay_usable(address: str) -> None:
    (part,) = cut(f"See {address} first.")
    assert address in part


async def test_op_10_a_backlog_is_answered_once_each_with_the_newest_words() -> None:
    server = TelegramServer()
    anna, boris = server.user(7, "Anna"), server.user(8, "Boris")
    for number in range(6):
        server.says(anna, anna, f"question {number}")
    edited = server.says(boris, boris, "v0")
    for number in range(1, 6):
        server.edits(boris, boris, edited, f"v{number}")
    async with office(server=server, workers=1) as at:
        await at.until(lambda: len(server.updates.delivered) == 12)
        answers = await at.answered(at.server.chats.known[7], 6)
        assert [each.text for each in answers] == [f"re: question {n}" for n in range(6)]
        assert len(server.sent(boris)) == 1


@pytest.mark.parametrize("rich", [True, False])
async def test_people_are_mentioned_by_their_ids_and_by_nothing_in_the_text(rich: bool) -> None:
    told = "On call: **@boris** 🚨 and [Ann](tg://user?id=7)"
    people = (Person("telegram", "8", "Боря 🙂"), Person("slack", "U1", "Cara"))
    async with office(answer_with(told, mentions=people)) as at:
        at.server.rich = rich
        at.server.says(at.anna, at.anna, "who is on call?")
        (answer,) = await at.answered(at.anna)
        assert answer.text.endswith("\n\nБоря 🙂")
        units = answer.text.encode("utf-16-le")
        rings = [e for e in answer.entities if e["type"] in ("text_mention", "mention")]
        spans = [units[2 * e["offset"] : 2 * (e["offset"] + e["length"])] for e in rings]
        assert [span.decode("utf-16-le") for span in spans] == ["Боря 🙂"]
        assert [e["user"]["id"] for e in rings] == [8]


async def test_a_person_of_another_messenger_is_not_mentioned() -> None:
    people = (Person("slack", "U1", "Cara"),)
    async with office(answer_with("Cara is on call.", mentions=people)) as at:
        at.server.says(at.anna, at.anna, "who is on call?")
        (answer,) = await at.answered(at.anna)
        assert answer.text == "Cara is on call."
