"""The words and shapes that times are written in: what bot/when.py looks for in a text."""

from __future__ import annotations

import re

DAY_HOURS = 24
_NOON = 12
_LATE = 9  # "11 ночи" is before midnight, "2 ночи" after it

_MONTHS = (
    ("jan", "янв"), ("feb", "фев"), ("mar", "мар"), ("apr", "апр"), ("may", "май мая"),
    ("jun", "июн"), ("jul", "июл"), ("aug", "авг"), ("sep", "сен"), ("oct", "окт"),
    ("nov", "ноя"), ("dec", "дек"),
)  # fmt: skip
_DAYS = (
    ("mon", "пн пон"), ("tue", "вт вто"), ("wed", "ср сре"), ("thu", "чт чет"),
    ("fri", "пт пят"), ("sat", "сб суб"), ("sun", "вс вос"),
)  # fmt: skip
_RELATIVE = {
    "the day after tomorrow": 2, "day after tomorrow": 2, "day before yesterday": -2,
    "tomorrow": 1, "today": 0, "yesterday": -1,
    "послезавтра": 2, "позавчера": -2, "завтра": 1, "сегодня": 0, "вчера": -1,
}  # fmt: skip
_PARTS = {  # hours; from 24 on they are the next day's
    "morning": (6, 12), "утром": (6, 12), "afternoon": (12, 18), "днем": (12, 18),
    "evening": (18, 24), "вечером": (18, 24), "tonight": (18, 30), "night": (22, 30),
    "ночью": (22, 30),
}  # fmt: skip
_HOURS = {"noon": 12, "midday": 12, "полдень": 12, "midnight": 0, "полночь": 0}
_HALVES = {"am": "am", "pm": "pm", "утра": "am", "дня": "pm", "вечера": "pm", "ночи": "night"}
_UNITS = (
    ("seconds", "s с"), ("minutes", "m м"), ("hours", "h ч"), ("days", "d д"), ("weeks", "w н"),
)  # fmt: skip
_COUNTS = {"": 1.0, "a": 1.0, "an": 1.0, "one": 1.0, "half an": 0.5, "пол": 0.5, "один": 1.0}

_MONTH = (
    r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)(?:uary|ruary|ch|il|ust|ember|ober)?"
    r"|(?:янв|фев|мар|апр|ма[йя]|июн|июл|авг|сен|окт|ноя|дек)[а-я]*"
)
_DAY = (
    r"mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?|fri(?:day)?"
    r"|sat(?:urday)?|sun(?:day)?|понедельник\w*|вторник\w*|сред[аеуы]|четверг\w*|пятниц\w*"
    r"|суббот\w*|воскресень\w*|пн|вт|ср|чт|пт|сб|вс"
)
_UNIT = (
    r"seconds?|secs?|minutes?|mins?|m|hours?|hrs?|h|days?|d|weeks?|w"
    r"|секунд\w*|минут\w*|мин|час\w*|ч|день|дня|дней|недел\w*|нед"
)
_RELATIVE_NAMES = "|".join(r"\s+".join(name.split()) for name in _RELATIVE)
_ZONE = r"(?:\s*(?P<zone>z|utc|gmt|[+-]\d{2}:?\d{2}|[a-z]+/[a-z_/+\-]+)(?![\w/]))?"


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE | re.VERBOSE)


PATTERNS: dict[str, re.Pattern[str]] = {
    "distance": _pattern(
        rf"""\b(?:in|через)\s+(?P<count>\d+(?:[.,]\d+)?|half\ an|an?|one|один|пол)?\s*
              (?P<unit>{_UNIT})(?!\w)
          | (?<![\w:])(?P<ago_count>\d+(?:[.,]\d+)?|half\ an|an?|one|один)?\s*
              \b(?P<ago_unit>{_UNIT})\s+(?:ago|назад)\b"""
    ),
    "week": _pattern(
        r"""\b(?:(?:this|next|coming|the)\s+)?(?P<weekend>weekend|выходны(?:е|х|м))\b
          | \b(?:(?P<next>next|следующ\w+)|this|эт\w+)\s+(?:week|недел\w+)\b"""
    ),
    "date": _pattern(
        rf"""(?<![\w.\-])(?:
            (?P<year>\d{{4}})-(?P<month>\d{{1,2}})-(?P<day>\d{{1,2}})(?:t(?=\d)|(?![\w\-]))
          | (?P<day2>\d{{1,2}})\.(?P<month2>\d{{1,2}})(?:\.(?P<year2>\d{{4}}))?(?![\w:]|\.\d)
          | (?P<day3>\d{{1,2}})(?:st|nd|rd|th|-?го)?\s+(?P<name3>{_MONTH})\b
                (?:,?\s+(?P<year3>\d{{4}})(?!\w))?
          | (?P<name4>{_MONTH})\s+(?P<day4>\d{{1,2}})(?:st|nd|rd|th)?(?![\w:])
                (?:,?\s+(?P<year4>\d{{4}})(?!\w))?
          | (?P<relative>{_RELATIVE_NAMES})(?![\w\-])
          | (?:(?:(?P<last>last|прошл\w+)|(?P<next>next|следующ\w+)|this|эт\w+)\s+)?
                (?P<weekday>{_DAY})(?![\w\-])
        )"""
    ),
    "clock": _pattern(
        rf"""(?<![\w:.\-])(?:
            (?P<hour>\d{{1,2}}):(?P<minute>\d{{2}})(?::\d{{2}})?(?:\s*(?P<half>{"|".join(_HALVES)})\b)?
          | (?P<hour2>\d{{1,2}})\s*(?:(?P<half2>{"|".join(_HALVES)})|час(?:ов|а)?|h|ч)\b
          | (?:(?<=at\ )|(?<=в\ ))(?P<hour3>\d{{1,2}})(?![\w:.])
          | (?P<word>{"|".join(_HOURS)})\b
        ){_ZONE}"""
    ),
    "part": _pattern(
        rf"(?<![\w\-])(?:this\s+|in\s+the\s+|at\s+)?(?P<part>{'|'.join(_PARTS)})(?![\w\-])"
    ),
    "now": _pattern(r"(?<![\w\-])(?:right\s+now|now|currently|сейчас|прямо\s+сейчас)(?![\w\-])"),
}
"""Looked for in this order; see WHOLE."""

WHOLE = frozenset({"distance", "week"})
"""Kinds that say everything: nothing is looked for beside them."""

PAST = _pattern(r"\b(?:was|were|ago|yesterday|last|дежурил\w*|был[аи]?|вчера|назад|прошл\w+)\b")
BEFORE = _pattern(
    r"(?:(?<=\s)|^)(?:at|on|by|from|for|as\s+of|в|во|на|к|ко|с|со|до)\s*,?\s*$|[\s,]+$"
)


def count(written: str | None) -> float:
    low = " ".join((written or "").lower().split())
    return _COUNTS[low] if low in _COUNTS else float(low.replace(",", "."))


def unit(written: str) -> str:
    """A keyword of timedelta."""
    low = written.lower()
    return next(name for name, starts in _UNITS if low.startswith(tuple(starts.split())))


def clock(match: re.Match[str]) -> tuple[int, int]:
    """Hour and minute; they may be impossible."""
    if match["word"]:
        return _HOURS[match["word"].lower()], 0
    hour = int(match["hour"] or match["hour2"] or match["hour3"])
    minute = int(match["minute"] or 0)
    half = _HALVES.get((match["half"] or match["half2"] or "").lower(), "")
    if half and not 1 <= hour <= (_NOON if match["half"] is None else DAY_HOURS):
        raise ValueError(hour)
    if hour > DAY_HOURS or (hour == DAY_HOURS and minute):
        raise ValueError(hour)
    if (half == "am" and hour == _NOON) or (half == "night" and hour == _NOON):
        return 0, minute
    later = half == "pm" or (half == "night" and hour >= _LATE)
    return hour + _NOON if later and hour < _NOON else hour, minute


def part(written: str) -> tuple[int, int]:
    return _PARTS[written.lower().split()[-1]]


def relative(written: str) -> int:
    """Days from today."""
    return _RELATIVE[" ".join(written.lower().split())]


def weekday(written: str) -> int:
    """0 is Monday."""
    return _numbered(written, _DAYS)


def calendar_date(match: re.Match[str]) -> tuple[int | None, int, int]:
    """Year (None when not written), month, day; they may be impossible."""
    year = match["year"] or match["year2"] or match["year3"] or match["year4"]
    day = match["day"] or match["day2"] or match["day3"] or match["day4"]
    number, name = match["month"] or match["month2"], match["name3"] or match["name4"]
    month = int(number) if number else _numbered(name, _MONTHS) + 1
    return int(year) if year else None, month, int(day)


def _numbered(written: str, table: tuple[tuple[str, str], ...]) -> int:
    low = written.lower()
    return next(
        number
        for number, starts in enumerate(table)
        if low.startswith(tuple(" ".join(starts).split()))
    )
