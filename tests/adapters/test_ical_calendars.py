"""Calendars as scheduling products write them: whom they name, and exactly when."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.ical import create
from adapters.ical.calendar import NoCalendar, parse
from bot.roster import Feed, Freshness, Roster, Schedule, Shift, Standing, horizon, standing
from tests.servers.calendar_server import calendar, event

BERLIN = ZoneInfo("Europe/Berlin")
PAYMENTS = Schedule("payments", ("billing-api",), "Europe/Berlin")
MONDAY = datetime(2026, 3, 2, 9, tzinfo=BERLIN)
NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
HOUR, DAY, WEEK = timedelta(hours=1), timedelta(days=1), timedelta(days=7)


def roster(tmp_path: Path, text: str, known: Sequence[str] = ()) -> Roster:
    (tmp_path / "rota.ics").write_text(text, encoding="utf-8")
    feeds = [Feed(PAYMENTS, file=tmp_path / "rota.ics")]
    return create(feeds, tmp_path / "copies", known=known, now=lambda: NOW)


async def people(made: Roster, at: datetime) -> list[str]:
    return [shift.person for shift in (await made.on_call("payments", at)).now]


def local(zone: str, start: datetime, end: datetime, *more: str) -> str:
    """An event on the clocks of a zone."""
    return "\n".join(
        [
            f"DTSTART;TZID={zone}:{start:%Y%m%dT%H%M%S}",
            f"DTEND;TZID={zone}:{end:%Y%m%dT%H%M%S}",
            *more,
        ]
    )


@pytest.mark.parametrize(
    ("lines", "person", "role"),
    [
        ("SUMMARY:On Call - Ann Lee - payments\nATTENDEE:ann@example.com", "Ann Lee", ""),
        ("SUMMARY:On Call - Ann Lee - Primary", "Ann Lee", "Primary"),
        ("SUMMARY:On Call - Ann Lee", "Ann Lee", ""),
        ("SUMMARY:On Call - Ann\n  Lee - Night shift", "Ann Lee", "Night shift"),
        ("SUMMARY:Ann Lee is on call for Payments", "Ann Lee", ""),
        ("SUMMARY:Ann Lee on-call: billing-api", "Ann Lee", ""),
        ("SUMMARY:Platform on call: Ann Lee", "Ann Lee", "Platform"),
        ("SUMMARY:[L1] ann", "ann", "L1"),
        ("SUMMARY:Ann Lee (secondary)", "Ann Lee", "secondary"),
        ("SUMMARY:Secondary: Ann Lee", "Ann Lee", "Secondary"),
        ("SUMMARY:Дежурный: Анна Ли", "Анна Ли", ""),
        ("SUMMARY:Дежурство по платежам — Анна Ли", "Анна Ли", "платежам"),
        ("SUMMARY:Payments on-call\nATTENDEE;CN=Ann Lee:mailto:ann@example.com", "Ann Lee", ""),
        ("SUMMARY:Primary On-Call\nATTENDEE:MAILTO:Ann@Example.com", "ann@example.com", "Primary"),
        ("SUMMARY:On call\nORGANIZER;CN=Ann Lee:mailto:ann@example.com", "Ann Lee", ""),
        (
            "SUMMARY:On call\nATTENDEE;CN=Boris;PARTSTAT=DECLINED:mailto:b@example.com\n"
            "ATTENDEE;CUTYPE=ROOM;CN=Room 5:mailto:room@example.com\n"
            "ATTENDEE;CN=Ann Lee:mailto:ann@example.com",
            "Ann Lee",
            "",
        ),
        ("SUMMARY:Ann-Maria Sørensen", "Ann-Maria Sørensen", ""),
        ("SUMMARY:Ann Lee https://example.com/invite?token=abc", "Ann Lee", ""),
    ],
)
async def test_the_person_is_found_however_a_product_writes_it(
    tmp_path: Path, lines: str, person: str, role: str
) -> None:
    made = roster(
        tmp_path, calendar(event("", MONDAY, MONDAY + WEEK).rpartition("\n")[0] + f"\n{lines}")
    )
    (shift,) = (await made.on_call("payments", NOW)).now
    assert (shift.person, shift.role) == (person, role)


async def test_the_address_of_an_attendee_goes_with_the_name(tmp_path: Path) -> None:
    text = calendar(
        event("On Call - Ann Lee - payments", MONDAY, MONDAY + WEEK, "ATTENDEE:a.lee@x.org")
    )
    (shift,) = (await roster(tmp_path, text).on_call("payments", NOW)).now
    assert (shift.person, shift.email) == ("Ann Lee", "a.lee@x.org")


@pytest.mark.parametrize("title", ["Ann Lee & Boris Ivanov", "On call: Ann Lee and Boris Ivanov"])
async def test_two_people_in_one_event_are_both_on_call(tmp_path: Path, title: str) -> None:
    made = roster(tmp_path, calendar(event(title, MONDAY, MONDAY + WEEK)))
    assert await people(made, NOW) == ["Ann Lee", "Boris Ivanov"]


async def test_a_comma_divides_names_only_of_people_who_are_known(tmp_path: Path) -> None:
    text = calendar(event("Lee, Ann", MONDAY, MONDAY + WEEK))
    assert await people(roster(tmp_path, text), NOW) == ["Lee, Ann"]
    assert await people(roster(tmp_path, text, ["lee", "ann"]), NOW) == ["Ann", "Lee"]


@pytest.mark.parametrize("title", ["On Call - Nobody", "No one", "On-call: unassigned", "никто"])
async def test_a_gap_that_is_written_down_is_a_gap(tmp_path: Path, title: str) -> None:
    made = roster(tmp_path, calendar(event(title, MONDAY, MONDAY + WEEK)))
    assert await people(made, NOW) == []


async def test_an_event_without_any_name_is_somebody_unnamed(tmp_path: Path) -> None:
    made = roster(tmp_path, calendar(event("On call", MONDAY, MONDAY + WEEK)))
    assert await people(made, NOW) == [""]


async def test_a_rotation_goes_on_for_ever(tmp_path: Path) -> None:
    rule = "RRULE:FREQ=WEEKLY;INTERVAL=2"
    made = roster(
        tmp_path,
        calendar(
            local("Europe/Berlin", MONDAY, MONDAY + WEEK, rule, "SUMMARY:Ann"),
            local("Europe/Berlin", MONDAY + WEEK, MONDAY + 2 * WEEK, rule, "SUMMARY:Boris"),
        ),
    )
    for week in range(60):
        start = MONDAY + week * WEEK  # on the clocks of Berlin
        person, other = ("Ann", "Boris") if week % 2 == 0 else ("Boris", "Ann")
        standing = await made.on_call("payments", start)
        assert standing.now == (Shift(person, utc(start), utc(start + WEEK)),)
        assert standing.next == (Shift(other, utc(start + WEEK), utc(start + 2 * WEEK)),)


def utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC)


async def test_overrides_moves_and_exceptions_replace_what_the_rule_says(tmp_path: Path) -> None:
    days = [MONDAY + n * DAY for n in range(6)]

    def other(day: datetime, *more: str) -> str:
        return "\n".join(
            ["UID:rota", f"RECURRENCE-ID;TZID=Europe/Berlin:{day:%Y%m%dT%H%M%S}", *more]
        )

    made = roster(
        tmp_path,
        calendar(
            local(
                "Europe/Berlin", days[0], days[1], "UID:rota", "SUMMARY:Ann",
                "RRULE:FREQ=DAILY;COUNT=6", f"EXDATE;TZID=Europe/Berlin:{days[2]:%Y%m%dT%H%M%S}",
            ),
            other(days[1], local("Europe/Berlin", days[1], days[2], "SUMMARY:Boris")),
            other(days[3], local("Europe/Berlin", days[3] + 2 * HOUR, days[4], "SUMMARY:Cara")),
            other(
                days[4],
                local("Europe/Berlin", days[4], days[5], "SUMMARY:Ann", "STATUS:CANCELLED"),
            ),
        ),
    )  # fmt: skip
    seen = [await people(made, day + HOUR) for day in days]
    assert seen == [["Ann"], ["Boris"], [], [], [], ["Ann"]]
    assert await people(made, days[3] + 3 * HOUR) == ["Cara"]


async def test_a_cancelled_event_is_nobodys(tmp_path: Path) -> None:
    made = roster(tmp_path, calendar(event("Ann", MONDAY, MONDAY + WEEK, "STATUS:CANCELLED")))
    assert await people(made, NOW) == []


@pytest.mark.parametrize(
    ("head", "zone"), [("", "Europe/Berlin"), ("X-WR-TIMEZONE:Asia/Tokyo", "Asia/Tokyo")]
)
@pytest.mark.parametrize(
    "lines",
    [
        "DTSTART;VALUE=DATE:20260302\nDTEND;VALUE=DATE:20260303\nSUMMARY:Ann",
        "DTSTART;VALUE=DATE:20260302\nSUMMARY:Ann",
        "DTSTART:20260302T000000\nDTEND:20260303T000000\nSUMMARY:Ann",
        "DTSTART:20260302T000000\nDURATION:P1D\nSUMMARY:Ann",
    ],
)
async def test_days_and_floating_times_are_those_of_the_calendar_or_the_schedule(
    tmp_path: Path, head: str, zone: str, lines: str
) -> None:
    made = roster(tmp_path, calendar(lines, head=head))
    midnight = datetime(2026, 3, 2, tzinfo=ZoneInfo(zone))
    standing = await made.on_call("payments", midnight)
    assert standing.now == (Shift("Ann", utc(midnight), utc(midnight + DAY)),)
    assert await people(made, midnight - timedelta(minutes=1)) == []


async def test_a_zone_that_the_calendar_defines_itself_is_used(tmp_path: Path) -> None:
    zone = (
        "BEGIN:VTIMEZONE\nTZID:Office\nBEGIN:STANDARD\nDTSTART:19700101T000000\n"
        "TZOFFSETFROM:+0530\nTZOFFSETTO:+0530\nEND:STANDARD\nEND:VTIMEZONE"
    )
    made = roster(
        tmp_path, calendar(local("Office", MONDAY, MONDAY + DAY, "SUMMARY:Ann"), head=zone)
    )
    start = datetime(2026, 3, 2, 3, 30, tzinfo=UTC)
    assert (await made.on_call("payments", start)).now == (Shift("Ann", start, start + DAY),)


async def test_the_night_when_clocks_go_back_is_one_hour_longer(tmp_path: Path) -> None:
    """LM-23: Berlin shows 02:30 twice on 2025-10-26."""
    evening = datetime(2025, 10, 25, 20, tzinfo=BERLIN)
    shifts = calendar(
        local("Europe/Berlin", evening, evening + timedelta(hours=12), "SUMMARY:Night",
              "RRULE:FREQ=DAILY;COUNT=3"),
        local("Europe/Berlin", evening + timedelta(hours=12), evening + DAY, "SUMMARY:Day",
              "RRULE:FREQ=DAILY;COUNT=3"),
    )  # fmt: skip
    made = roster(tmp_path, shifts)
    first = datetime(2025, 10, 26, 2, 30, tzinfo=BERLIN, fold=0)
    second = datetime(2025, 10, 26, 2, 30, tzinfo=BERLIN, fold=1)
    assert utc(second) - utc(first) == timedelta(hours=1)
    for moment in (first, second):
        (shift,) = (await made.on_call("payments", moment)).now
        assert shift == Shift(
            "Night",
            datetime(2025, 10, 25, 18, tzinfo=UTC),
            datetime(2025, 10, 26, 7, tzinfo=UTC),
        )
    assert await people(made, datetime(2025, 10, 26, 7, tzinfo=UTC)) == ["Day"]


@pytest.mark.parametrize(
    "broken",
    [
        "SUMMARY:no start",
        "DTSTART:garbage\nSUMMARY:Zoe",
        "DTSTART:20260302T000000Z\nDTEND:20260301T000000Z\nSUMMARY:Zoe",
        "DTSTART:20260302T000000Z\nDTEND:20260303T000000Z\nRRULE:FREQ=NONSENSE\nSUMMARY:Zoe",
        "DTSTART:20260302T000000Z\nDTEND:20260303T000000Z\nRRULE:FREQ=SECONDLY\nSUMMARY:Zoe",
        "DTSTART;TZID=Nowhere/Land:20260302T000000\nDURATION:P1D\nSUMMARY:Zoe",
    ],
)
async def test_an_event_that_cannot_be_understood_is_left_out_and_reported(
    tmp_path: Path, broken: str
) -> None:
    made = roster(tmp_path, calendar(broken, event("Ann", MONDAY, MONDAY + WEEK)))
    assert await people(made, NOW) == ["Ann"]
    (finding,) = await made.check()
    assert (finding.state, "left out" in finding.message) == ("note", True)


@pytest.mark.parametrize("text", ["", "<html>Sign in</html>", "BEGIN:VCALENDAR", "{}", "\x00\xff"])
def test_what_is_no_calendar_is_refused(text: str) -> None:
    with pytest.raises(NoCalendar):
        parse(text, PAYMENTS)


def test_a_calendar_of_endless_length_is_refused() -> None:
    with pytest.raises(NoCalendar, match="more than 3 events"):
        parse(calendar(*["DTSTART:20260302T000000Z\nSUMMARY:x"] * 4), PAYMENTS, most=3)


Turn = tuple[str, int, int]  # a person, hours from NOW, hours on call
TURNS = st.lists(
    st.tuples(
        st.sampled_from(["Ann", "Boris", "Cara"]), st.integers(-300, 300), st.integers(1, 90)
    ),
    max_size=8,
)
HOURS = st.integers(-300, 300)


@given(turns=TURNS, hour=HOURS, minutes=st.sampled_from([0, 1, 59]))
def test_at_any_instant_exactly_those_are_named_whose_shifts_hold(
    turns: list[Turn], hour: int, minutes: int
) -> None:
    """Against the events one by one, whatever overlaps, touches or leaves a gap."""
    spans = [
        (person, NOW + timedelta(hours=start), NOW + timedelta(hours=start + length))
        for person, start, length in turns
    ]
    at = NOW + timedelta(hours=hour, minutes=minutes)
    standing = stand([event(*span) for span in spans], at)
    assert {shift.person for shift in standing.now} == {p for p, s, e in spans if s <= at < e}
    assert len({shift.person for shift in standing.now}) == len(standing.now)
    for shift in standing.now:
        assert shift.start is not None
        assert shift.end is not None
        own = [(s, e) for p, s, e in spans if p == shift.person]
        assert covered(own, shift.start, shift.end)
        assert not any(s <= shift.end < e for s, e in own)
        assert not any(s < shift.start <= e for s, e in own)
    later = [s for _, s, _ in spans if s > at and not covered_start(spans, s)]
    starts = {shift.start for shift in standing.next}
    assert starts == ({min(later)} if later else set())


def covered(spans: Sequence[tuple[datetime, datetime]], start: datetime, end: datetime) -> bool:
    """Whether every hour from start to end lies in a span."""
    hours = (end - start) // timedelta(hours=1)
    return all(any(s <= start + timedelta(hours=n) < e for s, e in spans) for n in range(hours))


def covered_start(spans: Sequence[tuple[str, datetime, datetime]], start: datetime) -> bool:
    """Whether whoever begins at `start` was on call until then already."""
    begin = [p for p, s, _ in spans if s == start]
    return all(any(p == q and s < start <= e for q, s, e in spans) for p in begin)


@given(
    weekday=st.integers(0, 6),
    length=st.integers(1, 14 * 24),
    interval=st.integers(1, 3),
    hour=st.integers(0, 24 * 250),
)
def test_a_rule_says_the_same_as_its_occurrences_counted_on_the_clocks_of_its_zone(
    weekday: int, length: int, interval: int, hour: int
) -> None:
    first = datetime(2026, 1, 5, 9) + weekday * DAY  # noqa: DTZ001 - on the clocks of Berlin
    lines = local(
        "Europe/Berlin", first, first + timedelta(hours=length), "SUMMARY:Ann",
        f"RRULE:FREQ=WEEKLY;INTERVAL={interval}",
    )  # fmt: skip
    at = datetime(2026, 1, 5, tzinfo=UTC) + timedelta(hours=hour)
    starts = [first + n * interval * WEEK for n in range(60)]
    held = [
        utc(start.replace(tzinfo=BERLIN))
        <= at
        < utc((start + timedelta(hours=length)).replace(tzinfo=BERLIN))
        for start in starts
    ]
    assert [shift.person for shift in stand([lines], at).now] == (["Ann"] if any(held) else [])


def stand(events: Sequence[str], at: datetime) -> Standing:
    shifts = parse(calendar(*events), PAYMENTS).shifts(*horizon(at))
    return standing(PAYMENTS, shifts, at, Freshness(NOW))
