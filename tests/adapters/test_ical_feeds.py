"""Fetching calendars from a server that breaks in every way it can."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from adapters.ical import create
from adapters.ical.options import Options
from bot.errors import RosterDown
from bot.roster import Feed, Roster, Schedule
from tests.servers.calendar_server import CalendarServer, Page, calendar, calendar_server, event

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
SECRET = "/private/8f2e-very-secret/rota.ics"
DAY = timedelta(days=1)
QUICK = Options(timeout=2, most_bytes=20_000)  # a busy machine answers a page within it


def rota(person: str) -> str:
    return calendar(event(person, NOW - DAY, NOW + DAY))


class Enough(Exception):
    """A test has seen enough."""


@dataclass
class Office:
    """A schedule on a server, and a clock that a test moves."""

    server: CalendarServer
    folder: Path
    options: Options = QUICK
    now: datetime = NOW
    slept: list[float] = field(default_factory=list)

    def roster(self, url: str = "", ca_file: str | None = None) -> Roster:
        """A new process, on the same data folder."""
        return create(
            [Feed(Schedule("payments"), url or self.server.url(SECRET))],
            self.folder / "oncall",
            ca_file=self.server.ca_file if ca_file is None else ca_file,
            options=self.options,
            now=lambda: self.now,
            sleep=self._sleep,
        )

    async def _sleep(self, seconds: float) -> None:
        """Time passes; after a while the test has seen enough."""
        self.slept.append(seconds)
        self.now += timedelta(seconds=seconds)
        if len(self.slept) > 12:
            raise Enough

    def sends(self, page: Page | str, path: str = SECRET) -> None:
        self.server.pages[path] = Page(page) if isinstance(page, str) else page

    def passes(self, **time: float) -> None:
        self.now += timedelta(**time)


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    async with calendar_server(tmp_path) as server:
        yield Office(server, tmp_path)


async def seen(roster: Roster, office: Office) -> tuple[list[str], timedelta, bool]:
    """Who is on call, how old that is, and whether the feed is known to be down."""
    standing = await roster.on_call("payments", office.now)
    age = office.now - standing.freshness.read_at
    return [shift.person for shift in standing.now], age, bool(standing.freshness.trouble)


BROKEN = [
    Page("no", 404),
    Page("no", 503),
    Page("<html>Sign in</html>"),
    Page(""),
    Page(hangs=True),
    Page(b"BEGIN:VCALENDAR\r\n" + b"X:" + b"x" * 30_000),
    Page("", 302, {"Location": "http://example.com/rota.ics"}),
    Page("", 302, {"Location": SECRET}),
    Page("", 302),
    Page("", 302, {"Location": "file:///etc/passwd"}),
    Page("", 302, {"Location": "https://[nowhere/"}),
]


@pytest.mark.parametrize("page", BROKEN)
async def test_while_the_feed_is_down_the_last_good_copy_answers_with_its_age(
    office: Office, page: Page
) -> None:
    office.sends(rota("Ann"))
    roster = office.roster()
    assert await seen(roster, office) == (["Ann"], timedelta(), False)
    office.sends(page)
    office.passes(hours=3)
    assert await seen(roster, office) == (["Ann"], timedelta(hours=3), True)
    assert await seen(office.roster(), office) == (["Ann"], timedelta(hours=3), True)
    office.sends(rota("Boris"))
    office.passes(minutes=2)
    assert await seen(roster, office) == (["Boris"], timedelta(), False)


@pytest.mark.parametrize("page", BROKEN)
async def test_without_a_copy_nothing_is_said_and_no_secret_leaks(
    office: Office, page: Page, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    office.sends(page)
    roster = office.roster()
    with pytest.raises(RosterDown) as caught:
        await roster.on_call("payments", NOW)
    (finding,) = await roster.check()
    assert finding.state == "bad"
    told = f"{caught.value} {caught.value.remedy} {finding} {caplog.text}"
    assert "secret" not in told.replace("secret iCal address", "")
    assert "127.0.0.1" not in told


async def test_a_server_that_is_not_there_or_not_trusted_is_down(office: Office) -> None:
    office.sends(rota("Ann"))
    with pytest.raises(RosterDown, match="not trusted"):
        await office.roster(ca_file="").on_call("payments", NOW)
    with pytest.raises(RosterDown, match="cannot be reached"):
        await office.roster("https://127.0.0.1:9/rota.ics").on_call("payments", NOW)
    assert office.server.asked == []


async def test_a_redirect_within_https_is_followed(office: Office) -> None:
    office.sends(Page("", 301, {"Location": "/moved.ics"}))
    office.sends(rota("Ann"), "/moved.ics")
    assert (await seen(office.roster(), office))[0] == ["Ann"]


async def test_the_copy_of_another_address_is_not_used(office: Office) -> None:
    office.sends(rota("Ann"))
    await seen(office.roster(), office)
    with pytest.raises(RosterDown):
        await office.roster(office.server.url("/other")).on_call("payments", NOW)


async def test_a_damaged_copy_is_as_good_as_none(office: Office) -> None:
    office.sends(rota("Ann"))
    await seen(office.roster(), office)
    (copy,) = (office.folder / "oncall").iterdir()
    assert copy.stat().st_mode & 0o077 == 0
    assert "secret" not in copy.read_text()
    copy.write_text(copy.read_text()[:50])
    office.sends(Page("no", 503))
    with pytest.raises(RosterDown):
        await office.roster().on_call("payments", NOW)


async def test_a_folder_that_cannot_be_written_keeps_nobody_from_asking(office: Office) -> None:
    (office.folder / "oncall").write_text("a file in the way")
    office.sends(rota("Ann"))
    assert await seen(office.roster(), office) == (["Ann"], timedelta(), False)


async def test_a_fresh_calendar_is_not_fetched_for_every_question(office: Office) -> None:
    office.sends(rota("Ann"))
    roster = office.roster()
    for _ in range(5):
        await seen(roster, office)
        office.passes(seconds=50)
    assert len(office.server.asked) == 1
    office.passes(seconds=60)
    assert (await seen(roster, office))[1] == timedelta()
    assert len(office.server.asked) == 2


async def test_a_feed_that_is_down_is_not_asked_at_every_question(office: Office) -> None:
    office.sends(rota("Ann"))
    roster = office.roster()
    await seen(roster, office)
    office.sends(Page("no", 503))
    office.passes(minutes=6)
    for _ in range(5):
        await seen(roster, office)
    assert len(office.server.asked) == 2


async def test_while_the_bot_runs_calendars_are_read_before_anybody_asks(office: Office) -> None:
    office.sends(rota("Ann"))
    roster = office.roster()
    with pytest.raises(Enough):
        await roster.run()
    assert len(office.server.asked) == 3  # every five minutes of twelve
    office.sends(Page("no", 503))
    assert (await seen(office.roster(), office))[0] == ["Ann"]


async def test_a_file_is_as_old_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "rota.ics"
    path.write_text(rota("Ann"))
    written = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    now = written + timedelta(days=4)
    roster = create([Feed(Schedule("payments"), file=path)], tmp_path / "copies", now=lambda: now)
    assert (await roster.on_call("payments", NOW)).freshness.read_at == written
    path.unlink()
    (finding,) = await roster.check()
    assert (finding.state, "answering from the copy" in finding.message) == ("bad", True)
    assert [s.person for s in (await roster.on_call("payments", NOW)).now] == ["Ann"]
