"""Times as people write them, from a given now, on the clocks of a given zone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.when import When, parse

MOSCOW, BERLIN = ZoneInfo("Europe/Moscow"), ZoneInfo("Europe/Berlin")
NOW = datetime(2025, 6, 2, 22, 30, tzinfo=UTC)  # Tuesday 3 June 01:30 in Moscow


def moscow(month: int, day: int, hour: int = 0, minute: int = 0, year: int = 2025) -> datetime:
    return datetime(year, month, day, hour, minute, tzinfo=MOSCOW)


@pytest.mark.parametrize(
    ("words", "start"),
    [
        ("now", moscow(6, 3, 1, 30)),
        ("сейчас", moscow(6, 3, 1, 30)),
        ("today", moscow(6, 3, 1, 30)),
        ("сегодня", moscow(6, 3, 1, 30)),
        ("at 18:00", moscow(6, 3, 18)),
        ("at 1:00", moscow(6, 4, 1)),
        ("at 9", moscow(6, 3, 9)),
        ("9pm", moscow(6, 3, 21)),
        ("12am", moscow(6, 4)),
        ("noon", moscow(6, 3, 12)),
        ("в 9", moscow(6, 3, 9)),
        ("в 9 утра", moscow(6, 3, 9)),
        ("в 9 вечера", moscow(6, 3, 21)),
        ("в 2 ночи", moscow(6, 3, 2)),
        ("в 11 ночи", moscow(6, 3, 23)),
        ("в 12 ночи", moscow(6, 4)),
        ("в полдень", moscow(6, 3, 12)),
        ("в 18 часов", moscow(6, 3, 18)),
        ("at tomorrow 9:00", moscow(6, 4, 9)),
        ("tomorrow at 9", moscow(6, 4, 9)),
        ("завтра в 9:30", moscow(6, 4, 9, 30)),
        ("послезавтра в 10:00", moscow(6, 5, 10)),
        ("on Friday at 8am", moscow(6, 6, 8)),
        ("в пятницу в 9 утра", moscow(6, 6, 9)),
        ("Tuesday 0:30", moscow(6, 10, 0, 30)),
        ("in 2h", moscow(6, 3, 3, 30)),
        ("in 90 minutes", moscow(6, 3, 3)),
        ("in an hour", moscow(6, 3, 2, 30)),
        ("in half an hour", moscow(6, 3, 2)),
        ("через час", moscow(6, 3, 2, 30)),
        ("через полчаса", moscow(6, 3, 2)),
        ("через 2 часа", moscow(6, 3, 3, 30)),
        ("через 3 дня", moscow(6, 6, 1, 30)),
        ("через неделю", moscow(6, 10, 1, 30)),
        ("2 hours ago", moscow(6, 2, 23, 30)),
        ("30 минут назад", moscow(6, 3, 1)),
        ("at 2026-12-01 18:00", moscow(12, 1, 18, year=2026)),
        ("2026-12-01T18:00", moscow(12, 1, 18, year=2026)),
        ("2026-12-01T18:00Z", datetime(2026, 12, 1, 18, tzinfo=UTC)),
        ("2026-12-01 18:00+05:30", datetime(2026, 12, 1, 12, 30, tzinfo=UTC)),
        ("2026-12-01 18:00 Europe/Berlin", datetime(2026, 12, 1, 18, tzinfo=BERLIN)),
        ("24.12 12:00", moscow(12, 24, 12)),
        ("24.12.2027 12:00", moscow(12, 24, 12, year=2027)),
        ("1 декабря в 18:00", moscow(12, 1, 18)),
        ("December 24th at 8pm", moscow(12, 24, 20)),
        ("2 June 10:00", moscow(6, 2, 10, year=2026)),
    ],
)
def test_a_moment(words: str, start: datetime) -> None:
    assert parse(words, NOW, MOSCOW).when == When(start.astimezone(UTC))


@pytest.mark.parametrize(
    ("words", "start", "end"),
    [
        ("tomorrow", moscow(6, 4), moscow(6, 5)),
        ("завтра", moscow(6, 4), moscow(6, 5)),
        ("yesterday", moscow(6, 2), moscow(6, 3)),
        ("on Friday", moscow(6, 6), moscow(6, 7)),
        ("в пятницу", moscow(6, 6), moscow(6, 7)),
        ("next Tuesday", moscow(6, 10), moscow(6, 11)),
        ("who was on call on Friday", moscow(5, 30), moscow(5, 31)),
        ("last Tuesday", moscow(5, 27), moscow(5, 28)),
        ("tonight", moscow(6, 3, 1, 30), moscow(6, 3, 6)),
        ("this afternoon", moscow(6, 3, 12), moscow(6, 3, 18)),
        ("сегодня вечером", moscow(6, 3, 18), moscow(6, 4)),
        ("завтра ночью", moscow(6, 4, 22), moscow(6, 5, 6)),
        ("tomorrow morning", moscow(6, 4, 6), moscow(6, 4, 12)),
        ("this week", moscow(6, 3, 1, 30), moscow(6, 9)),
        ("на следующей неделе", moscow(6, 9), moscow(6, 16)),
        ("at the weekend", moscow(6, 7), moscow(6, 9)),
        ("на выходных", moscow(6, 7), moscow(6, 9)),
        ("29 February", moscow(2, 29, year=2028), moscow(3, 1, year=2028)),
    ],
)
def test_a_span(words: str, start: datetime, end: datetime) -> None:
    found = parse(words, NOW, MOSCOW).when
    assert found == When(start.astimezone(UTC), end.astimezone(UTC))


@pytest.mark.parametrize(
    ("words", "rest"),
    [
        ("payments at tomorrow 9:00", "payments"),
        ("payments", "payments"),
        ("billing-api on Friday", "billing-api"),
        ("по платежам завтра в 9 утра", "по платежам"),
        ("for payments tonight", "for payments"),
        ("payments at gibberish", "payments at gibberish"),
        ("v1.12 service", "v1.12 service"),
        ("mayor's team", "mayor's team"),
        ("friday-team", "friday-team"),
        ("node-07:9100", "node-07:9100"),
    ],
)
def test_what_is_no_time_is_left(words: str, rest: str) -> None:
    assert parse(words, NOW, MOSCOW).rest == rest


@pytest.mark.parametrize(
    "words", ["at 25:00", "at 9:75", "2026-02-30", "31.02", "at 13pm", "18:00 Mars/Base"]
)
def test_an_impossible_time_is_told_apart_from_none(words: str) -> None:
    found = parse(f"payments {words}", NOW, MOSCOW)
    assert (found.when, found.rest) == (None, "payments")
    assert found.impossible
    assert parse("payments", NOW, MOSCOW).impossible == ""


def test_lm_23_today_is_the_askers_today() -> None:
    """LM-23: at 22:30 UTC it is tomorrow already in Moscow."""
    assert parse("tomorrow", NOW, MOSCOW).when == When(
        moscow(6, 4).astimezone(UTC), moscow(6, 5).astimezone(UTC)
    )
    assert parse("tomorrow", NOW, UTC).when == When(
        datetime(2025, 6, 3, tzinfo=UTC), datetime(2025, 6, 4, tzinfo=UTC)
    )


def test_lm_23_a_time_that_clocks_show_twice_or_never() -> None:
    """LM-23: Berlin, the nights of 2025-10-26 and 2026-03-29."""
    before = datetime(2025, 10, 25, 12, tzinfo=UTC)
    first = parse("at 2025-10-26 02:30", before, BERLIN).when
    assert first == When(datetime(2025, 10, 26, 0, 30, tzinfo=UTC))
    again = parse("at 2025-10-26 02:30 +01:00", before, BERLIN).when
    assert again == When(datetime(2025, 10, 26, 1, 30, tzinfo=UTC))
    skipped = parse("at 2026-03-29 02:30", before, BERLIN).when
    assert skipped == When(datetime(2026, 3, 29, 1, 30, tzinfo=UTC))
    tomorrow = parse("tomorrow", before, BERLIN).when
    assert tomorrow is not None
    assert tomorrow.end is not None
    assert tomorrow.end - tomorrow.start == timedelta(hours=25)


@given(
    now=st.integers(0, 3_000_000).map(lambda minutes: NOW + timedelta(minutes=minutes)),
    hour=st.integers(0, 23),
    minute=st.integers(0, 59),
    zone=st.sampled_from(["UTC", "Europe/Berlin", "Asia/Kathmandu", "America/New_York"]),
)
def test_a_time_of_day_is_the_next_one_on_the_clocks_of_the_zone(
    now: datetime, hour: int, minute: int, zone: str
) -> None:
    found = parse(f"at {hour}:{minute:02}", now, ZoneInfo(zone)).when
    assert found is not None
    assert now.replace(second=0, microsecond=0) <= found.start <= now + timedelta(hours=26)
    shown = found.start.astimezone(ZoneInfo(zone))
    skipped = shown.replace(hour=hour, minute=minute).astimezone(UTC) == found.start
    assert (shown.hour, shown.minute) == (hour, minute) or skipped


@given(words=st.text(max_size=60), now=st.just(NOW))
def test_no_text_breaks_it(words: str, now: datetime) -> None:
    found = parse(words, now, MOSCOW)
    assert found.when is None or found.when.start.tzinfo is not None
