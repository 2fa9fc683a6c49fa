"""What is said about who is on call. Dates are written here too: a weekday, a day, a time."""

from __future__ import annotations

from datetime import datetime, timedelta, tzinfo

from graph.model import Language

SENTENCES: dict[str, dict[Language, str]] = {
    "oncall_at": {
        "en": "On call for **{schedule}** on {at} ({zone}):",
        "ru": "Дежурство **{schedule}**, {at} ({zone}):",
    },
    "oncall_over": {
        "en": "On call for **{schedule}** from {start} until {end} ({zone}):",
        "ru": "Дежурство **{schedule}** с {start} до {end} ({zone}):",
    },
    "oncall_shift": {
        "en": "- **{who}**: since {since}, until {until}",
        "ru": "- **{who}**: с {since} до {until}",
    },
    "oncall_shift_open": {
        "en": "- **{who}**: since {since}, and not relieved before {until}",
        "ru": "- **{who}**: с {since}, смены нет как минимум до {until}",
    },
    "oncall_since_before": {"en": "before {at}", "ru": "даты раньше {at}"},
    "oncall_gap": {
        "en": "- Nobody is on call from {start} until {end}",
        "ru": "- С {start} до {end} никто не дежурит",
    },
    "oncall_nobody_until": {
        "en": "Nobody is on call for **{schedule}** on {at} ({zone}), until {until}.",
        "ru": "На {at} ({zone}) по **{schedule}** никто не дежурит — до {until}.",
    },
    "oncall_nobody": {
        "en": "Nobody is on call for **{schedule}** on {at} ({zone}), and the calendar names "
        "nobody before {until}.",
        "ru": "На {at} ({zone}) по **{schedule}** никто не дежурит, и до {until} в календаре "
        "никого нет.",
    },
    "oncall_nobody_over": {
        "en": "Nobody is on call for **{schedule}** from {start} until {end} ({zone}).",
        "ru": "С {start} до {end} ({zone}) по **{schedule}** никто не дежурит.",
    },
    "oncall_next": {"en": "Next: {people}.", "ru": "Дальше: {people}."},
    "oncall_next_one": {"en": "{who} from {at}", "ru": "{who} с {at}"},
    "oncall_unnamed": {
        "en": "somebody whom the calendar does not name",
        "ru": "кто-то, кого календарь не называет",
    },
    "oncall_read": {"en": "Calendar read {age}.", "ru": "Календарь прочитан {age}."},
    "oncall_copy": {
        "en": "The calendar cannot be read at the moment. This comes from a copy, read {age}.",
        "ru": "Календарь сейчас недоступен. Это из копии, прочитанной {age}.",
    },
    "oncall_down": {
        "en": "The calendar of **{schedule}** cannot be read at the moment, and I have no copy of "
        "it: I do not know who is on call.",
        "ru": "Календарь **{schedule}** сейчас недоступен, и копии у меня нет: кто дежурит, я не "
        "знаю.",
    },
    "oncall_unknown": {
        "en": "There is no on-call schedule named {name}.",
        "ru": "Графика дежурств {name} нет.",
    },
    "oncall_closest": {"en": "Did you mean {name}?", "ru": "Может быть, {name}?"},
    "oncall_schedules": {"en": "Schedules: {names}.", "ru": "Графики: {names}."},
    "oncall_overview": {
        "en": "On call on {at} ({zone}):",
        "ru": "Дежурят, {at} ({zone}):",
    },
    "oncall_overview_line": {
        "en": "- **{schedule}**: {people}",
        "ru": "- **{schedule}**: {people}",
    },
    "oncall_overview_one": {"en": "{who} until {until}", "ru": "{who} до {until}"},
    "oncall_overview_open": {"en": "{who}", "ru": "{who}"},
    "oncall_overview_nobody": {"en": "nobody", "ru": "никто"},
    "oncall_overview_down": {
        "en": "unknown, the calendar cannot be read",
        "ru": "неизвестно, календарь недоступен",
    },
    "oncall_when": {
        "en": "I do not understand the time {words}. Write it like `at 18:00`, `at tomorrow 9:00`, "
        "`at 2026-12-01 18:00`, `in 2h` or `on Friday`.",
        "ru": "Не понимаю время {words}. Пишите, например, `в 18:00`, `завтра в 9:00`, "
        "`2026-12-01 18:00`, `через 2 часа` или `в пятницу`.",
    },
    "oncall_off": {
        "en": "No on-call schedule is set up. An admin adds one under `[[oncall.schedules]]` in "
        "belay.toml.",
        "ru": "Графики дежурств не настроены. Администратор добавляет их в belay.toml, раздел "
        "`[[oncall.schedules]]`.",
    },
    "age_now": {"en": "just now", "ru": "только что"},
    "age_minutes": {"en": "{count} min ago", "ru": "{count} мин. назад"},
    "age_hours": {"en": "{count} h ago", "ru": "{count} ч. назад"},
    "age_days": {"en": "{count} days ago", "ru": "{count} дн. назад"},
}

_DAYS: dict[Language, tuple[str, ...]] = {
    "en": ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"),
    "ru": ("пн", "вт", "ср", "чт", "пт", "сб", "вс"),
}
_MONTHS: dict[Language, tuple[str, ...]] = {
    "en": (
        *("Jan", "Feb", "Mar", "Apr", "May", "Jun"),
        *("Jul", "Aug", "Sep", "Oct", "Nov", "Dec"),
    ),
    "ru": (
        *("января", "февраля", "марта", "апреля", "мая", "июня"),
        *("июля", "августа", "сентября", "октября", "ноября", "декабря"),
    ),
}
_HOURS_FROM, _DAYS_FROM = timedelta(hours=2), timedelta(days=2)


def written(moment: datetime, zone: tzinfo, language: Language, *, year: bool = False) -> str:
    """ "Tue 3 Jun, 01:30" on the clocks of `zone`. Where clocks show a time twice, with its offset
    from UTC."""
    local = moment.astimezone(zone)
    day = f"{_DAYS[language][local.weekday()]} {local.day} {_MONTHS[language][local.month - 1]}"
    offset = f" UTC{local:%z}" if _is_double(local) else ""
    return f"{day}{f' {local.year}' if year else ''}, {local:%H:%M}{offset}"


def age(since: timedelta) -> tuple[str, int]:
    """The key of the sentence about an age, and its count."""
    if since >= _DAYS_FROM:
        return "age_days", since // timedelta(days=1)
    if since >= _HOURS_FROM:
        return "age_hours", since // timedelta(hours=1)
    minutes = since // timedelta(minutes=1)
    return ("age_minutes", minutes) if minutes > 0 else ("age_now", 0)


def _is_double(local: datetime) -> bool:
    return local.replace(fold=0).utcoffset() != local.replace(fold=1).utcoffset()
