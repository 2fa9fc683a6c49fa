"""Who is on call, asked in chats: what is said, on whose clocks, and to whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from answering_kit import ANN, BORIS, GROUP, STRANGER, Bot, Watched, private

from adapters.memory.audit import MemoryAudit
from adapters.memory.roster import MemoryRoster
from bot.audit import AuditQuery
from bot.auditor import Auditor
from bot.chat import Incoming, Kind, Person, Place, Reply
from bot.oncall import Colleague, Watch
from bot.roster import HORIZON, Schedule, Shift
from graph.model import Outcome

MOSCOW, BERLIN = ZoneInfo("Europe/Moscow"), ZoneInfo("Europe/Berlin")
NOW = datetime(2025, 6, 2, 22, 30, tzinfo=UTC)  # Tuesday 3 June 01:30 in Moscow
DEV = Place("telegram", "-300", "group", title="dev")
SLACK = Place("slack", "C1", "channel", title="payments")


def at(day: int, hour: int = 0) -> datetime:
    return datetime(2025, 6, day, hour, tzinfo=MOSCOW).astimezone(UTC)


PAYMENTS = Schedule("payments", ("платежи", "billing-api"), "Europe/Moscow")
SEARCH = Schedule("search", ("поиск", "SRE Nord"), "Europe/Berlin")
ROTA = [
    Shift("Ann", at(2), at(3)),
    Shift("Boris", at(3), at(4), email="boris@example.com"),
    Shift("Ann", at(4), at(5)),
]
NORTH = [Shift("Cara", at(9, 10), at(10, 10), "primary")]
PEOPLE = (
    Colleague("Boris Ivanov", ("boris@example.com",), (), ("telegram:2", "slack:U2"), "Asia/Tokyo"),
    Colleague("Ann Lee", (), ("Ann",), ("slack:U1",)),
)


def a_watch(
    shifts: Mapping[str, Sequence[Shift]] | None = None,
    *,
    schedules: Sequence[Schedule] = (PAYMENTS, SEARCH),
    trouble: str = "",
    people: tuple[Colleague, ...] = PEOPLE,
    now: datetime = NOW,
) -> Watch:
    told = {"payments": ROTA, "search": NORTH} if shifts is None else shifts
    roster = MemoryRoster(schedules, told, read_at=now - timedelta(minutes=7), trouble=trouble)
    places = {"telegram:-100": ("payments",), "slack:C1": ("payments",)}
    return Watch(roster, people, places, "UTC", lambda: now)


async def a_bot(watch: Watch | None) -> Bot:
    bot = Bot(options={"watch": watch, "on_duty": watch.on_duty if watch else None}, now=NOW)
    for who in (ANN, BORIS, GROUP, DEV, SLACK):
        await bot.let_in(who)
    return bot


async def told(
    bot: Bot, text: str, place: Place | None = None, person: Person = ANN, language: str = "en"
) -> Reply:
    """The one reply to a message."""
    seen = await bot.says(person, text, place, language=language)
    (reply,) = [*seen.said, *seen.answers]
    return reply


def looked_up(bot: Bot) -> int:
    """How often the documents were searched."""
    retriever = bot.machine.ports.retriever
    assert isinstance(retriever, Watched)
    return retriever.calls


async def test_person_since_until_next_age_and_the_zone_are_told() -> None:
    bot = await a_bot(a_watch())
    reply = await told(bot, "/oncall payments")
    assert reply.markdown == (
        "On call for **payments** on Tue 3 Jun 2025, 01:30 (Europe/Moscow):\n\n"
        "- **Boris Ivanov**: since Tue 3 Jun, 00:00, until Wed 4 Jun, 00:00\n\n"
        "Next: Ann Lee from Wed 4 Jun, 00:00. *Calendar read 7 min ago.*"
    )
    assert [person.key for person in reply.mentions] == ["telegram:2"]
    assert looked_up(bot) == 0


async def test_lm_23_today_is_the_teams_today_and_the_date_is_stated() -> None:
    """LM-23: at 22:30 UTC it is Tuesday already in Moscow, so Boris is on call."""
    bot = await a_bot(a_watch())
    reply = await told(bot, "кто сегодня дежурит?", GROUP)
    assert "Boris" in reply.markdown
    assert "вт 3 июня 2025, 01:30 (Europe/Moscow)" in reply.markdown
    utc = await a_bot(a_watch(schedules=[replace(PAYMENTS, zone="UTC")]))
    assert "Mon 2 Jun 2025, 22:30 (UTC)" in (await told(utc, "who is on call today?")).markdown


async def test_lm_23_tomorrow_is_the_day_of_whoever_asks() -> None:
    """LM-23: Boris lives in Tokyo, where Tuesday 3 June has begun as well, but at 07:30."""
    bot = await a_bot(a_watch())
    reply = await told(bot, "/oncall payments tomorrow", person=BORIS)
    assert "from Wed 4 Jun 2025, 00:00 until Thu 5 Jun, 00:00 (Asia/Tokyo)" in reply.markdown
    assert "- **Boris Ivanov**: since Tue 3 Jun, 06:00, until Wed 4 Jun, 06:00" in reply.markdown
    assert "- **Ann Lee**: since Wed 4 Jun, 06:00, until Thu 5 Jun, 06:00" in reply.markdown


async def test_lm_23_an_hour_that_clocks_show_twice_is_told_with_its_offset() -> None:
    """LM-23: Berlin 2025-10-26, 02:30 twice: whoever is on call changes in between."""
    change = datetime(2025, 10, 26, 1, tzinfo=UTC)
    shifts = [
        Shift("Ann", change - timedelta(hours=9), change),
        Shift("Boris", change, change + timedelta(hours=9)),
    ]
    half = timedelta(minutes=30)
    for now, name, offset in ((change - half, "Ann", "+0200"), (change + half, "Boris", "+0100")):
        watch = a_watch({"search": shifts}, schedules=[SEARCH], people=(), now=now)
        reply = await told(await a_bot(watch), "who is on call now?")
        assert f"on Sun 26 Oct 2025, 02:30 UTC{offset} (Europe/Berlin):" in reply.markdown
        assert f"- **{name}**:" in reply.markdown


@pytest.mark.parametrize(
    "asked",
    [
        "/oncall", "/oncall payments", "/oncall billing-api", "/whoisoncall", "/who", "/on-call",
        "/oncall PAYMENTS team", "/oncall for payments", "/дежурный", "/кто", "oncall",
        "on call for payments?", "who is on call?", "Who's on-call right now?", "whos oncall",
        "who is the on-call engineer for payments?", "hey, who is on call for billing-api today?",
        "who is payments on call", "who's on duty?", "can you tell me who is on call for payments",
        "кто дежурит?", "кто сейчас дежурный по платежам?", "кто на дежурстве", "кто у нас дежурит",
        "а кто по платежам дежурит сейчас?", "кто дежурит по billing-api", "дежурный по платежам",
        "подскажите, кто дежурный?", "/ask who is on call for payments?", "/oncall who is on call",
        "/who is on call for payments?", "who is on call next?", "who is the current on call rn",
        "is anyone on call for payments?", "кто следующий дежурный?",
    ],
)  # fmt: skip
async def test_every_way_to_ask_gets_the_roster_and_no_search(asked: str) -> None:
    bot = await a_bot(a_watch())
    assert "Boris Ivanov" in (await told(bot, asked, GROUP)).markdown
    assert looked_up(bot) == 0
    assert bot.traces == []


@pytest.mark.parametrize(
    "asked",
    [
        "who is on call for payments and how do they restart it?",
        "who is responsible for the on-call rotation?",
        "what does the person on call do when redis is down?",
        "who do I call when payments are down?",
        "oncall rotation: how is it planned?",
        "who is on call for payments according to the handbook of last year?",
        "кто дежурит и что ему делать, если упала база?",
        "кто отвечает за график дежурств?",
        "who called?",
        "кто написал runbook?",
    ],
)
async def test_a_question_about_anything_else_is_for_the_documents(asked: str) -> None:
    bot = await a_bot(a_watch())
    assert "Boris" not in (await told(bot, asked, GROUP)).markdown
    assert bot.traces


async def test_without_a_roster_nothing_is_taken_from_the_documents() -> None:
    bot = await a_bot(None)
    await told(bot, "who is on call for payments?")
    assert bot.traces
    assert "No on-call schedule is set up" in (await told(bot, "/oncall")).markdown
    assert "не настроены" in (await told(bot, "/oncall", language="ru")).markdown


@pytest.mark.parametrize(
    ("asked", "who", "when"),
    [
        ("/oncall payments at tomorrow 9:00", "Ann Lee", "Wed 4 Jun 2025, 09:00"),
        ("/oncall payments at 2025-06-02 18:00", "Ann Lee", "Mon 2 Jun 2025, 18:00"),
        ("/oncall payments at 18:00", "Boris Ivanov", "Tue 3 Jun 2025, 18:00"),
        ("/oncall payments in 23h", "Ann Lee", "Wed 4 Jun 2025, 00:30"),
        ("who was on call for payments 2 hours ago?", "Ann Lee", "Mon 2 Jun 2025, 23:30"),
        ("/oncall payments на 9 утра среды", "Ann Lee", "ср 4 июня 2025, 09:00"),
        ("кто дежурит по платежам завтра в 9:00?", "Ann Lee", "ср 4 июня 2025, 09:00"),
    ],
)
async def test_another_time(asked: str, who: str, when: str) -> None:
    reply = await told(await a_bot(a_watch()), asked)
    assert who in reply.markdown
    assert f"{when} (Europe/Moscow)" in reply.markdown


async def test_a_span_shows_everybody_in_it_and_every_gap() -> None:
    reply = await told(await a_bot(a_watch()), "who is on call for search next week?")
    assert reply.markdown.splitlines()[2:5] == [
        "- Nobody is on call from Mon 9 Jun, 00:00 until Mon 9 Jun, 09:00",
        "- **Cara (primary)**: since Mon 9 Jun, 09:00, until Tue 10 Jun, 09:00",
        "- Nobody is on call from Tue 10 Jun, 09:00 until Mon 16 Jun, 00:00",
    ]
    assert reply.mentions == ()


async def test_nobody_is_nobody_and_until_when() -> None:
    reply = await told(await a_bot(a_watch()), "/oncall search")
    assert reply.markdown.startswith(
        "Nobody is on call for **search** on Tue 3 Jun 2025, 00:30 (Europe/Berlin), "
        "until Mon 9 Jun, 09:00."
    )
    assert "Next: Cara (primary) from Mon 9 Jun, 09:00" in reply.markdown
    empty = await told(await a_bot(a_watch({"search": []})), "/oncall search")
    assert "the calendar names nobody before" in empty.markdown
    assert (reply.mentions, empty.mentions) == ((), ())


async def test_a_shift_without_an_end_in_sight_is_told_as_that() -> None:
    always = Shift("Ann", NOW - 3 * HORIZON, NOW + 3 * HORIZON)
    reply = await told(await a_bot(a_watch({"search": [always]})), "/oncall search")
    assert "**Ann Lee**: since before" in reply.markdown
    assert "not relieved before" in reply.markdown


async def test_several_people_are_told_by_their_roles() -> None:
    shifts = [
        Shift("Boris", at(3), at(4), "primary", "boris@example.com"),
        Shift("Ann", at(3), at(9), "secondary"),
    ]
    reply = await told(await a_bot(a_watch({"payments": shifts})), "/oncall payments", SLACK)
    assert "**Boris Ivanov (primary)**" in reply.markdown
    assert "**Ann Lee (secondary)**" in reply.markdown
    assert [person.key for person in reply.mentions] == ["slack:U2", "slack:U1"]


async def test_while_a_calendar_is_down_its_copy_is_told_as_one() -> None:
    bot = await a_bot(a_watch(trouble="the server answers 503"))
    reply = await told(bot, "/oncall payments")
    assert "Boris Ivanov" in reply.markdown
    assert "cannot be read at the moment. This comes from a copy, read 7 min ago" in reply.markdown
    assert "503" not in reply.markdown


async def test_a_calendar_that_is_down_without_a_copy_gives_no_name() -> None:
    bot = await a_bot(a_watch({"search": NORTH}))
    reply = await told(bot, "/oncall payments")
    assert "I do not know who is on call" in reply.markdown
    assert reply.mentions == ()


async def test_an_unknown_team_gets_the_list_and_the_closest_name_but_no_guess() -> None:
    bot = await a_bot(a_watch())
    reply = await told(bot, "/oncall paymets")
    assert reply.markdown == (
        "There is no on-call schedule named “paymets”. Did you mean **payments**? "
        "Schedules: payments, search."
    )
    far = await told(bot, "who is on call for the warehouse?")
    assert "Did you mean" not in far.markdown
    assert "Schedules: payments, search." in far.markdown
    assert "Boris" not in reply.markdown + far.markdown


@pytest.mark.parametrize("asked", ["/oncall payments at gibberish", "/oncall payments at 25:00"])
async def test_a_time_that_is_none_is_not_taken_for_now(asked: str) -> None:
    reply = await told(await a_bot(a_watch()), asked)
    assert "I do not understand the time" in reply.markdown
    assert "Boris" not in reply.markdown


async def test_elsewhere_every_schedule_has_a_line_and_nobody_is_rung() -> None:
    reply = await told(await a_bot(a_watch()), "/oncall", DEV)
    assert reply.markdown == (
        "On call on Mon 2 Jun 2025, 22:30 (UTC):\n\n"
        "- **payments**: Boris Ivanov until Tue 3 Jun, 21:00\n"
        "- **search**: nobody"
    )
    assert reply.mentions == ()
    only = a_watch(schedules=[PAYMENTS])
    assert "On call for **payments**" in (await told(await a_bot(only), "/oncall", DEV)).markdown


async def test_a_team_may_have_the_name_of_a_day() -> None:
    sun = Schedule("Sun")
    watch = a_watch({"Sun": [Shift("Ann", at(2), at(9))]}, schedules=[sun, PAYMENTS])
    assert (
        "On call for **Sun** on Mon 2 Jun"
        in (await told(await a_bot(watch), "/oncall sun")).markdown
    )


async def test_what_a_calendar_writes_is_never_markup_nor_a_mention() -> None:
    """SC-18: a name is data. Only the reply's own list of people rings."""
    name = "<!here> *Zed* [x](https://evil.example) @boris `x`"
    shifts = [Shift(name, at(3), at(4), "<@U2>"), Shift("Ann", at(4), at(5))]
    reply = await told(await a_bot(a_watch({"payments": shifts})), "/oncall payments")
    assert reply.mentions == ()
    for live in ("<!here>", "<@U2>", "[x](", "*Zed*"):
        assert live not in reply.markdown.replace("**", "")


async def test_two_people_of_one_name_are_not_mixed_up() -> None:
    twins = (
        Colleague("Ann", (), (), ("telegram:1",)),
        Colleague("ann", ("a2@example.com",), (), ("telegram:5",)),
    )
    shifts = [Shift("Ann", at(3), at(4))]
    bot = await a_bot(a_watch({"payments": shifts}, people=twins))
    assert (await told(bot, "/oncall payments")).mentions == ()
    known = [replace(shifts[0], email="A2@example.com")]
    bot = await a_bot(a_watch({"payments": known}, people=twins))
    assert [p.id for p in (await told(bot, "/oncall payments")).mentions] == ["5"]


async def test_sc_08_a_stranger_learns_nobodys_name() -> None:
    """SC-08: no schedule, no name, however it is asked."""
    bot = Bot(options={"watch": a_watch()}, now=NOW)
    for asked in ("/oncall payments", "who is on call?", "кто дежурит?", "/oncall nowhere"):
        seen = await bot.says(STRANGER, asked)
        assert "/allow" in seen.shown
        assert "Boris" not in seen.shown
        assert "search" not in seen.shown


async def test_a_hand_off_gets_the_people_of_the_channels_schedule() -> None:
    watch = a_watch()
    asked = Incoming(Kind.QUESTION, GROUP, ANN, "1")
    duty = await watch.on_duty(asked)
    assert duty is not None
    assert (duty.names, [person.key for person in duty.mentions]) == (
        ("Boris Ivanov",),
        ["telegram:2"],
    )
    assert await watch.on_duty(replace(asked, place=DEV)) is None
    assert await a_watch({}).on_duty(asked) is None


async def test_help_tells_how_to_ask() -> None:
    reply = await told(await a_bot(a_watch()), "/help")
    assert "`/oncall [team|service] [at <time>]`: who is on call" in reply.markdown


def test_a_private_place_has_no_schedule_of_its_own() -> None:
    assert a_watch().of_place(private(ANN)) == ()


@pytest.mark.parametrize(
    ("asked", "question", "outcome"),
    [
        ("/oncall payments", "payments", Outcome.ANSWERED),
        ("/oncall", "/oncall", Outcome.ANSWERED),
        ("who is on call for payments?", "who is on call for payments?", Outcome.ANSWERED),
        ("/oncall paymints", "paymints", Outcome.NOT_FOUND),
        ("/oncall payments at 25:00", "payments at 25:00", Outcome.NOT_FOUND),
    ],
)
async def test_who_asked_who_is_on_call_is_audited(
    asked: str, question: str, outcome: Outcome
) -> None:
    audit = MemoryAudit(now=lambda: NOW)
    bot = await a_bot(a_watch())
    bot.options |= {"auditor": Auditor(audit)}
    bot.__post_init__()
    await told(bot, asked, GROUP)
    await told(bot, "/help", GROUP)
    (row,) = await audit.find(AuditQuery())
    assert (row.way, row.question, row.outcome) == ("oncall", question, outcome)
    assert (row.person, row.place.id) == (ANN.key, GROUP.id)
    assert (row.rights.levels, row.hits, row.model_calls) == (("staff",), (), 0)


async def test_a_question_that_no_calendar_answers_is_audited_as_failed() -> None:
    audit = MemoryAudit(now=lambda: NOW)
    bot = await a_bot(a_watch({"search": NORTH}))
    bot.options |= {"auditor": Auditor(audit)}
    bot.__post_init__()
    await told(bot, "/oncall payments")
    assert [row.outcome for row in await audit.find(AuditQuery())] == [Outcome.FAILED]
