"""Numbers, dates and times as values, so that 10 000 = 10,000 and 7 PM = 19:00.

A text is read into the set of things it may mean. An answer's quantity is supported when one of
its readings is among those of the passages; where a notation is ambiguous (04/03, 10.000) every
reading counts. A comma before three digits always groups thousands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from itertools import chain

_SPACE = "[ \u00a0\u202f\u2009]"
NUMBER = re.compile(
    rf"(?<![\w.,])(?:\d{{1,3}}(?:(?:{_SPACE}|[,'’])\d{{3}})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,]\d+)*)"
)
_UNITS = {
    "%": r"%|per ?cent|percent|процент[а-я]*",
    "ms": r"ms|msec|milliseconds?|мс|миллисекунд[а-я]*",
    "us": r"us|µs|microseconds?|мкс",
    "s": r"s|secs?|seconds?|с|сек|секунд[а-я]*",
    "min": r"m|mins?|minutes?|мин|минут[а-я]*",
    "h": r"h|hrs?|hours?|ч|час(?:а|ов|ы|у)?",
    "d": r"d|days?|д|дн(?:я|ей|и|ю)|день|сут(?:ки|ок)",
    "w": r"w|weeks?|недел[а-я]+",
    "month": r"months?|месяц[а-я]*",
    "y": r"y|years?|год(?:а|у|ов)?|лет",
    "b": r"b|bytes?|байт[а-я]*",
    "kb": r"k|kb|кб|килобайт[а-я]*",
    "mb": r"mb|мб|мегабайт[а-я]*|megabytes?",
    "gb": r"g|gb|гб|гигабайт[а-я]*|gigabytes?",
    "tb": r"tb|тб|терабайт[а-я]*|terabytes?",
    "ki": r"kib?|киб",
    "mi": r"mib?|миб",
    "gi": r"gib?|гиб",
    "ti": r"tib?|тиб",
    "core": r"cores?|ядр[а-я]*|ядер",
}
_UNIT = re.compile(
    rf"(?:{_SPACE}|-)?(?:"
    + "|".join(f"(?P<u{index}>{pattern})" for index, pattern in enumerate(_UNITS.values()))
    + r")(?![^\W_])",
    re.IGNORECASE,
)
_UNIT_START = re.compile(rf"(?:{_SPACE}|-)?[^\W\d_]|(?:{_SPACE}|-)?%")
_RANGE = re.compile(r"\s?(?:-|–|/|to|до)\s?\d+(?:[.,]\d+)?")
_UNIT_NAMES = tuple(_UNITS)
_WORDS = {
    word: value
    for value, words in enumerate(
        (
            "zero ноль нуля",
            "one once один одна одно одну одного одной",
            "two twice два две двух двумя оба обе",
            "three три трёх трех тремя",
            "four четыре четырёх четырех",
            "five пять пяти",
            "six шесть шести",
            "seven семь семи",
            "eight восемь восьми",
            "nine девять девяти",
            "ten десять десяти",
            "eleven одиннадцать",
            "twelve двенадцать",
        )
    )
    for word in words.split()
}
_RUN = re.compile(r"\d+")
_WORD = re.compile(r"\w+")
_SPACES = re.compile(rf"{_SPACE}|['’]")
_COMMA_GROUPS = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")
_POINT_GROUPS = re.compile(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?")


@dataclass(frozen=True, slots=True)
class Amount:
    """A number in its text. `values` are its readings as plain decimals, `unit` "" when none."""

    text: str
    values: frozenset[str]
    unit: str
    start: int


def amounts(text: str) -> Iterator[Amount]:
    """Every number of `text`, with its unit when one follows."""
    for match in _numeric(NUMBER, text):
        unit, width = _unit(text, match.end())
        shown = text[match.start() : match.end() + width]
        yield Amount(shown, readings(match.group()), unit, match.start())


def spelled(text: str) -> Iterator[Amount]:
    """Numbers written as words, zero to twelve: they support a digit, they claim none."""
    if _WORDS.keys().isdisjoint(_WORD.findall(text.lower())):
        return
    for match in _WORD.finditer(text):
        value = _WORDS.get(match.group().lower())
        if value is not None:
            unit = _unit(text, match.end())[0]
            yield Amount(match.group(), frozenset({str(value)}), unit, match.start())


def _numeric(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """`pattern.finditer(text)` for a pattern that can only begin at the start of a run of digits;
    trying these few places is many times faster than trying all."""
    free = 0
    for run in _RUN.finditer(text):
        match = pattern.match(text, run.start()) if run.start() >= free else None
        if match is not None:
            free = match.end()
            yield match


def _unit(text: str, place: int) -> tuple[str, int]:
    match = _UNIT.match(text, place) if _UNIT_START.match(text, place) else None
    if match is None or match.lastgroup is None:
        further = _RANGE.match(text, place)
        return (_unit(text, further.end())[0], 0) if further else ("", 0)
    return _UNIT_NAMES[int(match.lastgroup[1:])], len(match.group())


@lru_cache(maxsize=4096)
def readings(number: str) -> frozenset[str]:
    """The decimals that a written number may stand for: "10.000" is 10 and 10000."""
    plain = _SPACES.sub("", number)
    if _COMMA_GROUPS.fullmatch(plain):
        return frozenset({_decimal(plain.replace(",", ""))})
    found = {_decimal(plain.replace(",", "."))}
    if _POINT_GROUPS.fullmatch(plain):
        found.add(_decimal(plain.replace(".", "").replace(",", ".")))
    return frozenset(found)


def _decimal(text: str) -> str:
    whole, point, fraction = text.partition(".")
    if "." in fraction:
        return text  # a version
    whole, fraction = whole.lstrip("0") or "0", fraction.rstrip("0")
    return f"{whole}{point}{fraction}" if fraction else whole


# Dates and times

_MONTHS = (
    ("jan", "янв"), ("feb", "фев"), ("mar", "мар"), ("apr", "апр"), ("may", "ма"), ("jun", "июн"),
    ("jul", "июл"), ("aug", "авг"), ("sep", "сен"), ("oct", "окт"), ("nov", "ноя"), ("dec", "дек"),
)  # fmt: skip
_EN_MONTH = (
    r"jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
_RU_MONTH = (
    r"янв(?:ар[ьяе])?|фев(?:рал[ьяе])?|март[ае]?|мар|апр(?:ел[ьяе])?|ма[йяе]|июн[ьяе]?|июл[ьяе]?"
    r"|авг(?:уст[ае]?)?|сен(?:т(?:ябр[ьяе])?)?|окт(?:ябр[ьяе])?|ноя(?:бр[ьяе])?|дек(?:абр[ьяе])?"
)
_MONTH = rf"(?:{_EN_MONTH}|{_RU_MONTH})"
_DATES = (  # each begins with a run of digits
    re.compile(r"(?<!\d)(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?!\d)"),
    re.compile(r"(?<![\d.])(?P<a>\d{1,2})(?P<s>[./])(?P<b>\d{1,2})(?P=s)(?P<y>\d{4}|\d{2})(?!\d)"),
    re.compile(
        rf"(?<!\d)(?P<d>\d{{1,2}})(?:st|nd|rd|th|-?го|-?е)?\s+(?:of\s+)?(?P<n>{_MONTH})\b\.?"
        rf"(?:,?\s+(?P<y>\d{{4}}))?",
        re.IGNORECASE,
    ),
)
_MONTH_FIRST = re.compile(
    rf"\b(?P<n>{_EN_MONTH})\b\.?\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,?\s+(?P<y>\d{{4}}))?",
    re.IGNORECASE,
)
_LONGEST_MONTH = len("september")
_TIME = re.compile(
    r"(?<![\d:.])(?P<h>\d{1,2})(?::(?P<m>\d{2})(?::\d{2})?)?\s*(?P<half>[ap]\.?m\b\.?)?"
    r"(?:\s*(?P<zone>UTC|GMT|Z|MSK|МСК)\b(?P<offset>\s?[+-]\d{1,2})?)?",
    re.IGNORECASE,
)
_ZONE_HOURS = {"utc": 0, "gmt": 0, "z": 0, "msk": 3, "мск": 3}
Day = tuple[int | None, int, int]  # year, month, day
Clock = tuple[int, int | None]  # minutes of the day; the zone's minutes east of UTC


@dataclass(frozen=True, slots=True)
class Moment:
    """A date or a time of day in its text, with all its readings."""

    text: str
    start: int
    days: frozenset[Day] = frozenset()
    clocks: frozenset[Clock] = frozenset()


def dates(text: str) -> Iterator[Moment]:
    """Dates with day and month: 2024-03-04, 04.03.24, 4 March, March 4, 2024."""
    found = [_numeric(pattern, text) for pattern in _DATES]
    for match in chain(*found, _months_first(text)):
        days = frozenset(_days(match.groupdict()))
        if days:
            yield Moment(match.group(), match.start(), days=days)


def _months_first(text: str) -> Iterator[re.Match[str]]:
    """The matches of _MONTH_FIRST, tried only where a word stands before a number."""
    free = 0
    for run in _RUN.finditer(text):
        start = _word_before(text, run.start())
        match = _MONTH_FIRST.match(text, start) if start >= free else None
        if match is not None:
            free = match.end()
            yield match


def _word_before(text: str, place: int) -> int:
    """Where the word begins that white space parts from `place`; -1 when there is none."""
    end = place
    while end and text[end - 1].isspace():
        end -= 1
    if end == place:
        return -1
    end -= text.endswith(".", 0, end)
    start = end
    while start and end - start <= _LONGEST_MONTH and text[start - 1].isalpha():
        start -= 1
    return start


def _days(groups: dict[str, str | None]) -> Iterator[Day]:
    year = _year(groups.get("y"))
    a, b = groups.get("a"), groups.get("b")
    if a and b:
        orders = [(int(b), int(a)), (int(a), int(b))]
    else:
        orders = [(_month(groups), int(groups["d"] or 0))]
    for month, day in orders:
        if 1 <= month <= 12 and 1 <= day <= 31:  # noqa: PLR2004
            yield year, month, day


def _year(text: str | None) -> int | None:
    if not text:
        return None
    return int(text) + 2000 if len(text) == 2 else int(text)  # noqa: PLR2004


def _month(groups: dict[str, str | None]) -> int:
    name = (groups.get("n") or "").lower()
    if not name:
        return int(groups["m"] or 0)
    return next(
        (index for index, starts in enumerate(_MONTHS, start=1) if name.startswith(starts)), 0
    )


def times(text: str) -> Iterator[Moment]:
    """Times of day: 22:00, 7 PM, 7:30 p.m. UTC; a bare number is none."""
    for match in _numeric(_TIME, text):
        hour, minute, half = int(match["h"]), int(match["m"] or 0), (match["half"] or "").lower()
        if (match["m"] is None and not half) or hour > 24 or minute > 59:  # noqa: PLR2004
            continue
        if half:
            hour = hour % 12 + (12 if half.startswith("p") else 0)
        zone = _zone(match["zone"], match["offset"])
        clock = (hour % 24 * 60 + minute, zone)
        yield Moment(match.group().rstrip(), match.start(), clocks=frozenset({clock}))


def _zone(name: str | None, offset: str | None) -> int | None:
    if not name:
        return None
    hours = int(offset.replace(" ", "")) if offset else 0
    return 60 * (_ZONE_HOURS[name.lower()] + hours)


def same_day(claimed: Iterable[Day], known: Iterable[Day]) -> bool:
    """True when a claimed date is among the known; a missing year is no contradiction."""
    years: dict[tuple[int, int], set[int | None]] = {}
    for year, month, day in known:
        years.setdefault((month, day), set()).add(year)
    return any(
        year in found or year is None or None in found
        for year, month, day in claimed
        if (found := years.get((month, day)))
    )


def same_clock(claimed: Iterable[Clock], known: Iterable[Clock]) -> bool:
    """True when a claimed time is known as written, or after conversion between known zones."""
    known = frozenset(known)
    written = {minutes for minutes, _ in known}
    absolute = {(minutes - zone) % 1440 for minutes, zone in known if zone is not None}
    return any(
        (minutes, zone) in known
        or (zone is None and minutes in written)
        or (zone is not None and (minutes, None) in known)
        or (zone is not None and (minutes - zone) % 1440 in absolute)
        for minutes, zone in claimed
    )


def day_of(moment: date) -> Day:
    return moment.year, moment.month, moment.day
