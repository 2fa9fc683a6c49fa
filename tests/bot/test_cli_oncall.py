"""`belay oncall`, and what `belay doctor` says of calendars, in processes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cli_kit import Belay

from tests.servers.calendar_server import calendar, event

NOW = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
DAY = timedelta(days=1)
SETTINGS = """
[oncall]
zone = "Europe/Berlin"

[[oncall.schedules]]
name = "payments"
file = "payments.ics"
aliases = "платежи"

[[oncall.schedules]]
name = "search"
url = "https://127.0.0.1:9/very-secret/search.ics"

[[oncall.people]]
name = "Ann Lee"
emails = "ann@example.com"
slack = "U012AB3CD"
"""


@pytest.fixture
def belay(tmp_path: Path) -> Belay:
    (tmp_path / "belay.toml").write_text(SETTINGS, encoding="utf-8")
    shifts = [
        event("On Call - A. Lee - payments", NOW - DAY, NOW + DAY, "ATTENDEE:ann@example.com"),
        event("On Call - Boris - payments", NOW + DAY, NOW + 3 * DAY),
    ]
    (tmp_path / "payments.ics").write_text(calendar(*shifts), encoding="utf-8")
    return Belay(tmp_path / "home")


def test_a_team_is_told_now_and_later(belay: Belay) -> None:
    now = belay("oncall", "payments")
    assert now.code == 0
    assert "**Ann Lee**" in now.out
    assert "(Europe/Berlin)" in now.out
    later = belay("oncall", "payments", "--at", "in 30h")
    assert "**Boris**" in later.out
    assert "**Boris**" in belay("oncall", "платежи", "через", "30", "часов").out


def test_all_teams_are_told_without_one(belay: Belay) -> None:
    ended = belay("oncall")
    assert "- **payments**: Ann Lee until" in ended.out
    assert "- **search**: unknown, the calendar cannot be read" in ended.out
    assert "very-secret" not in ended.out + ended.err


def test_what_cannot_be_read_as_a_time_is_refused(belay: Belay) -> None:
    belay("oncall", "payments", "--at", "gibberish").failed(2, "--at 'gibberish' is no time")


def test_without_schedules_it_says_what_to_do(tmp_path: Path) -> None:
    Belay(tmp_path / "home")("oncall").failed(2, "[[oncall.schedules]]")


def test_the_doctor_reads_every_calendar(belay: Belay) -> None:
    ended = belay.with_(WEB="off")("doctor", "--json")
    found = {row["message"].split(":")[0]: row for row in ended.json if row["check"] == "oncall"}
    assert found["payments"]["state"] == "ok"
    assert "A. Lee on call now" in found["payments"]["message"]
    assert found["the calendar of search cannot be read"]["state"] == "bad"
    assert "very-secret" not in ended.out + ended.err
