"""The answer to who is on call: from the roster alone, on the clocks of whoever asks."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.chat import Incoming, Reply
from bot.errors import RosterDown
from bot.oncall import Report, Watch
from bot.oncall_question import Inquiry, bare, inquiry, without_time
from bot.oncall_reply import Teller
from bot.roster import Schedule
from bot.texts import literal, text
from bot.when import When, parse
from graph.model import Language, Outcome

_LISTED = 30  # schedules
_UNREAD = re.compile(r"(?P<team>.*?)(?:^|\s)(?:at|@)\s+(?P<words>.+)", re.IGNORECASE | re.DOTALL)


def argument(words: str, watch: Watch) -> Inquiry:
    """What follows the command: `[team|service] [at <time>]`, or a whole question."""
    if watch.named(words) is not None:  # a team may be called "Sun"
        return Inquiry(words, "")
    asked = (inquiry(start + words, watch) for start in ("", "who ", "кто "))
    found = next((item for item in asked if item is not None), None)
    if found is not None:
        return found
    team = bare(without_time(words))
    unread = _UNREAD.fullmatch(team)
    if unread and (not unread["team"] or watch.named(unread["team"]) is not None):
        return Inquiry(unread["team"], words, unread["words"])
    return Inquiry(team, words)


async def answer(watch: Watch, asked: Inquiry, event: Incoming, language: Language) -> Reply:
    """Who is on call, or why that cannot be said. Never raises for a calendar that is down."""
    named = watch.named(asked.team) if asked.team else None
    if asked.team and named is None:
        return Reply(_unknown(watch, asked.team, language), outcome=Outcome.NOT_FOUND)
    schedules = (named,) if named is not None else watch.of_place(event.place)
    zone = watch.zone_of(event.person, event.place, next(iter(schedules), None))
    now = watch.now()
    found = parse(asked.text, now, zone)
    if problem := asked.unread or found.impossible:
        told = text("oncall_when", language, words=f"“{literal(problem)}”")
        return Reply(told, outcome=Outcome.NOT_FOUND)
    teller = Teller(watch, language, zone, now)
    reports = await _reports(watch, schedules or watch.roster.schedules(), found.when)
    if not schedules:
        at = found.when.start if found.when else now
        return Reply(teller.overview(reports[:_LISTED], at), outcome=_outcome(reports))
    pieces = [
        teller.report(report)
        if report is not None
        else text("oncall_down", language, schedule=literal(name))
        for name, report in reports
    ]
    present = found.when is None or found.when.end is None or found.when.start <= now
    shifts = [shift for _, report in reports if report and present for shift in report.shifts]
    mentions = watch.mentions(shifts, event.place.platform)
    return Reply("\n\n".join(pieces), mentions=mentions, outcome=_outcome(reports))


async def _reports(
    watch: Watch, schedules: Sequence[Schedule], when: When | None
) -> list[tuple[str, Report | None]]:
    """One after the other; None where the calendar is down."""
    found: list[tuple[str, Report | None]] = []
    for schedule in schedules:
        try:
            found.append((schedule.name, await watch.report(schedule, when)))
        except RosterDown:
            found.append((schedule.name, None))
    return found


def _outcome(reports: Sequence[tuple[str, Report | None]]) -> Outcome:
    """Nobody on call is an answer; a calendar that is down is none."""
    read = [report is not None for _, report in reports]
    if all(read):
        return Outcome.ANSWERED
    return Outcome.PARTIAL if any(read) else Outcome.FAILED


def _unknown(watch: Watch, team: str, language: Language) -> str:
    """That there is no such schedule, the name that comes close, and those there are."""
    sentences = [text("oncall_unknown", language, name=f"“{literal(team)}”")]
    close = watch.closest(team)
    if close is not None:
        sentences.append(text("oncall_closest", language, name=f"**{literal(close.name)}**"))
    names = [literal(item.name) for item in watch.roster.schedules()[:_LISTED]]
    sentences.append(text("oncall_schedules", language, names=", ".join(names)))
    return " ".join(sentences)
