"""Commands: what each says, and to whom."""

from __future__ import annotations

import re
from datetime import timedelta
from functools import partial

import pytest

from adapters.memory.conversation import MemoryConversation
from adapters.memory.index import MemoryIndex
from bot.access import Role, place_key
from bot.chat import Person, Place
from bot.commands.call import parse
from bot.commands.table import COMMANDS, find, menu
from bot.ports import SourceRecord
from bot.readable_sources import readable_sources
from graph.model import LANGUAGES, Access, Language, SourceType
from tests.bot.answering_kit import ANN, BORIS, BOSS, GROUP, NOW, STRANGER, Bot, private
from tests.contract.index_chunks import EMBEDDER, put


def code_in(seen: MemoryConversation) -> str:
    found = re.search(r"/allow ([A-Z0-9]{8})", seen.shown)
    assert found, seen.shown
    return found[1]


@pytest.mark.parametrize(
    ("typed", "parsed"),
    [
        ("/help", ("help", "")),
        ("/ASK which port?", ("ask", "which port?")),
        ("/ask@opsbot which port?", ("ask", "which port?")),
        ("/ask\nline one\nline two", ("ask", "line one\nline two")),
        ("/помощь", ("помощь", "")),
        ("/etc/hosts is wrong on node-07", None),
        ("what is /var for?", None),
        ("/", None),
        ("/42", None),
    ],
)
def test_a_command_is_a_word_and_a_path_is_a_question(
    typed: str, parsed: tuple[str, str] | None
) -> None:
    assert parse(typed) == parsed


def test_names_and_aliases_are_unique_and_described_in_every_language() -> None:
    names = [name for command in COMMANDS for name in (command.name, *command.aliases)]
    assert len(names) == len(set(names))
    for command in COMMANDS:
        assert find(command.name) is command
        assert set(command.describe) == set(LANGUAGES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_menus_offer_admin_commands_to_admins_only(language: Language) -> None:
    names = {name for name, _ in menu(language, private=True)}
    assert {"ask", "runbook", "incident", "sources", "why", "forget", "help"} <= names
    assert names.isdisjoint({"mute", "pair", "allow", "revoke"})
    assert {name for name, _ in menu(language, private=False)} == names | {"mute"}
    admin = {name for name, _ in menu(language, private=True, admin=True)}
    assert admin == names | {"allow", "revoke"}
    # The platform's rules: https://core.telegram.org/bots/api#botcommand
    for name, description in menu(language, private=True, admin=True):
        assert re.fullmatch(r"[a-z0-9_]{1,32}", name)
        assert 1 <= len(description) <= 256


async def test_the_first_admin_pairs_with_the_printed_code() -> None:
    bot = Bot(admins=frozenset())
    code = await bot.access.first_code()
    assert code is not None
    assert "not valid" in (await bot.says(STRANGER, "/pair WRONGONE")).shown
    assert "You are an admin now" in (await bot.says(ANN, f"/pair {code.text.lower()}")).shown
    assert "not valid" in (await bot.says(BORIS, f"/pair {code.text}")).shown


async def test_pairing_in_a_group_is_sent_to_private() -> None:
    bot = Bot(admins=frozenset())
    code = await bot.access.first_code()
    assert code is not None
    seen = await bot.says(ANN, f"/pair {code.text}", GROUP)
    assert "private chat" in seen.shown
    assert await bot.access.role(ANN) is Role.STRANGER


async def test_an_admin_lets_a_person_in_with_the_code_they_pass_on() -> None:
    bot = Bot()
    code = code_in(await bot.says(ANN, "hello?"))
    seen = await bot.says(BOSS, f"/allow {code} manager")
    assert ANN.key in seen.shown
    assert "manager" in seen.shown
    grant = await bot.roll.grant(ANN.key)
    assert grant is not None
    assert (grant.level, grant.admin, grant.by) == ("manager", False, BOSS.key)
    assert "unknown or has expired" in (await bot.says(BOSS, f"/allow {code}")).shown


async def test_an_admin_can_make_an_admin() -> None:
    bot = Bot()
    code = code_in(await bot.says(ANN, "hello?"))
    await bot.says(BOSS, f"/allow {code} admin")
    code = code_in(await bot.says(BORIS, "hello?"))
    assert BORIS.key in (await bot.says(ANN, f"/allow {code} staff")).shown


async def test_a_group_is_let_in_by_its_code_or_from_inside() -> None:
    bot = Bot()
    code = code_in(await bot.says(ANN, "which port?", GROUP))
    await bot.says(BOSS, f"/allow {code}")
    assert await bot.roll.grant(place_key(GROUP)) is not None
    other = Place("telegram", "-200", "group")
    assert place_key(other) in (await bot.says(BOSS, "/allow", other)).shown


@pytest.mark.parametrize("argument", ["CODE2345 boss", "CODE2345 staff manager", "CODE2345 `x`"])
async def test_a_wrong_level_is_named_and_lets_nobody_in(argument: str) -> None:
    bot = Bot()
    seen = await bot.says(BOSS, f"/allow {argument}")
    assert "There is no level" in seen.shown
    assert await bot.roll.grants() == []


async def test_usage_is_shown_when_something_is_missing() -> None:
    bot = Bot()
    for typed in ("/allow", "/revoke", "/ask"):
        assert "Write it like this" in (await bot.says(BOSS, typed)).shown
    assert "Пишите так" in (await bot.says(BOSS, "/ask", language="ru")).shown


async def test_access_is_taken_back() -> None:
    bot = Bot()
    await bot.let_in(ANN)
    assert "No longer let in" in (await bot.says(BOSS, f"/revoke {ANN.key}")).shown
    assert "/allow" in (await bot.says(ANN, "which port?")).shown
    assert "nobody" in (await bot.says(BOSS, "/revoke telegram:5")).shown


async def test_help_lists_what_the_person_may_use_in_their_language() -> None:
    bot = Bot()
    await bot.let_in(ANN)
    english = await bot.says(ANN, "/help")
    assert "/sources" in english.shown
    assert "/allow" not in english.shown
    assert "/allow" in (await bot.says(BOSS, "/start")).shown
    assert "Напишите вопрос" in (await bot.says(ANN, "/start", language="ru-RU")).shown


async def test_an_unknown_command_points_to_help() -> None:
    bot = Bot()
    await bot.let_in(ANN)
    for typed in ("/reindex", "/setprompt be nice", "/frobnicate"):
        seen = await bot.says(ANN, typed)
        assert "`/help`" in seen.shown
        assert seen.answers == []


async def test_sources_shows_names_and_dates_but_no_place_of_the_machine() -> None:
    bot = Bot(
        records=(
            SourceRecord("run*books", SourceType.FOLDER, "/srv/secret", last_run=NOW, files=7),
        )
    )
    await bot.let_in(ANN)
    seen = await bot.says(ANN, "/sources")
    assert "run\\*books" in seen.shown
    assert "7" in seen.shown
    assert "2026-03-02" in seen.shown
    assert "/srv" not in seen.shown


async def test_sources_names_only_what_may_be_read_here() -> None:
    """SC-08's kind: a name such as "layoffs" tells something too, and so does a count of files."""
    index = MemoryIndex()
    await index.begin(*EMBEDDER)
    board = Access(audience="director")
    await put(index, "a.md", "Drain the node.")
    await put(index, "b.md", "The plan for next year.", access=board)
    await put(index, "c.md", "Who has to go.", source="layoffs", access=board)
    for name in ("runbooks", "layoffs"):
        await index.save_source(SourceRecord(name, SourceType.FOLDER, f"/{name}", files=9))
    bot = Bot(sources=partial(readable_sources, index))
    await bot.let_in(ANN)
    await bot.let_in(BORIS, "director")
    await bot.let_in(GROUP)
    for seen in (await bot.says(ANN, "/sources"), await bot.says(BOSS, "/sources", GROUP)):
        assert "**runbooks**: 1 file" in seen.shown
        assert "layoffs" not in seen.shown
    assert "**runbooks**: 2 files" in (await bot.says(BORIS, "/sources")).shown
    assert "layoffs" in (await bot.says(BORIS, "/sources")).shown
    await index.remove("runbooks", ["a.md"])
    assert "no documents here" in (await bot.says(ANN, "/sources")).shown


async def test_why_without_a_question_says_so() -> None:
    bot = Bot()
    await bot.let_in(ANN)
    assert "no question" in (await bot.says(ANN, "/why")).shown


ADMIN_COMMANDS = ["/allow telegram:5", "/allow", "/revoke telegram:9", "/revoke telegram:-100:chat"]


@pytest.mark.parametrize("typed", ADMIN_COMMANDS)
@pytest.mark.parametrize("place", [None, GROUP], ids=["private", "group"])
@pytest.mark.parametrize("who", [ANN, STRANGER], ids=["member", "stranger"])
async def test_sc_15_admin_commands_are_checked_for_each_person(
    typed: str, place: Place | None, who: Person
) -> None:
    """SC-15: being in a group with an admin, or in an allowed one, makes nobody an admin."""
    bot = Bot()
    await bot.let_in(ANN)
    await bot.let_in(GROUP)
    before = await bot.roll.grants()
    seen = await bot.says(who, typed, place)
    assert seen.shown == "Only admins may do that."
    assert await bot.roll.grants() == before


async def test_sc_15_a_member_named_admin_in_the_chat_is_none() -> None:
    """SC-15: neither a name nor a quoted admin's message gives rights."""
    bot = Bot()
    await bot.let_in(GROUP)
    seen = await bot.says(STRANGER, "/allow telegram:777 admin", GROUP, quote="/allow telegram:777")
    assert "Only admins" in seen.shown
    assert await bot.roll.grant(STRANGER.key) is None


async def test_sc_15_an_admin_who_was_revoked_is_refused_at_once() -> None:
    bot = Bot()
    await bot.let_in(ANN, "administrator", admin=True)
    assert BORIS.key in (await bot.says(ANN, f"/allow {BORIS.key}")).shown
    await bot.says(BOSS, f"/revoke {ANN.key}")
    assert "Only admins" in (await bot.says(ANN, f"/allow {STRANGER.key}")).shown


async def test_a_reply_that_tells_of_a_change_is_delivered_like_an_answer() -> None:
    """Tracked by the desk: a retry sends it again instead of running the command again."""
    bot = Bot()
    seen = await bot.says(BOSS, f"/allow {ANN.key}")
    assert len(seen.answers) == 1
    assert seen.said == []


async def test_a_code_lives_an_hour() -> None:
    bot = Bot()
    code = code_in(await bot.says(ANN, "hi"))
    bot.now += timedelta(hours=2)
    assert "expired" in (await bot.says(BOSS, f"/allow {code}")).shown
    assert code_in(await bot.says(ANN, "hi")) != code
    assert private(ANN).conversation == "telegram:1:"
