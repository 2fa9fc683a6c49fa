"""Whom a calendar event names.

Schedulers write it in many ways: "On Call - Ann Lee - Payments", "Ann is on call for Payments",
"[L1] ann", "Ann (primary)", "Дежурный: Анна", or a title for everybody with the person as the
only attendee. A part of the title that is the schedule's own name, or a role, is no person.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from icalendar import Event

_PHRASE = re.compile(
    r"(?:\b(?:is|are)\s+)?\bon[\s\-]?(?:call|duty)\b(?:\s+(?:engineer|shift)\b)?(?P<en>\s+for\b)?"
    r"|\bдежур(?:ит|ят|ств\w*|н\w*)(?:\s+(?:инженер|смена)\b)?(?P<ru>\s+по\b)?",
    re.IGNORECASE,
)
_ROLE = re.compile(
    r"(?:primary|secondary|tertiary|backup|shadow|manager|lead|override|(?:l|level|tier)\s?\d"
    r"|основн\w+|резервн\w+|запасн\w+|стаж[её]р|(?:перв|втор|трет)\w+ линия|\d[-\s]?я линия)"
    r"(?:\s+(?:engineer|responder|инженер))?",
    re.IGNORECASE,
)
_NOBODY = re.compile(
    r"no[\s\-]?(?:one|body)|unassigned|not assigned|unstaffed|gap|empty|никто|никого"
    r"|не назначен\w*|свободно",
    re.IGNORECASE,
)
_BREAK = re.compile(r"\s+[-–—|•]+(?=\s|$)|^[-–—|•]+\s|:\s+|:$|[\[\]()]")
_SEVERAL = re.compile(r"\s+(?:&|\+|and|и)\s+|\s*;\s*|\s+/\s+", re.IGNORECASE)
_COMMA = re.compile(r"\s*,\s*")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.\-]*://\S+", re.IGNORECASE)
_MAIL = re.compile(r"[^\s@<>]+@[^\s@<>]+\.[^\s@<>]+")
_WORDS = re.compile(r"[^\W_]+")
_OTHERS = frozenset({"ROOM", "RESOURCE", "GROUP"})
_GENERIC = frozenset(
    {"schedule", "rota", "rotation", "team", "the", "график", "команда", "группа", "смены"}
)
_TEAM = "\x00"  # before a part that follows "on call for"
_SHOWN = 80  # characters


@dataclass(frozen=True, slots=True)
class Named:
    person: str  # "" when the event has no name for them
    role: str = ""
    email: str = ""


def people(
    event: Event, *, titles: Collection[str] = (), known: Collection[str] = ()
) -> list[Named]:
    """Everybody whom `event` puts on call; none when it marks a gap.

    `titles` are names of the schedule, `known` names and addresses of people, all folded by
    `fold`.
    """
    segments, role = _segments(_line(event.get("SUMMARY")), titles, known)
    guests = _guests(event)
    names = _names(segments, guests, known)
    if len(names) == 1 and _NOBODY.fullmatch(names[0]):
        return []
    role = role or _role_beside(segments, names)
    if not names or (len(guests) > 1 and not any(_meant(n, g) for n in names for g in guests)):
        guests = guests or _organiser(event)
        return [Named(g.person, role, g.email) for g in guests] or [Named("", role)]
    return [Named(_cut(name), role, _address(name, names, guests)) for name in names]


def fold(words: str) -> str:
    """A name as it is compared: case, ё, and blanks do not count."""
    return " ".join(words.casefold().replace("ё", "е").split())


def _segments(
    summary: str, titles: Collection[str], known: Collection[str]
) -> tuple[list[str], str]:
    """The telling parts of a title, the likeliest name first, and the role."""
    marked = _PHRASE.sub(lambda m: f" - {_TEAM if m['en'] or m['ru'] else ''}", summary)
    parts = [part.strip(" .,-–—") for part in _BREAK.split(marked)]
    parts = [part for part in parts if part.strip(_TEAM) and not _is_title(part, titles)]
    after = _after_colon(summary)
    role = next((part for part in parts if _ROLE.fullmatch(part)), "")
    rest = [part for part in parts if part != role]
    rest.sort(
        key=lambda part: (fold(part) not in known, fold(part) not in after, part.startswith(_TEAM))
    )
    return [part.strip(_TEAM).strip() for part in rest], role


def _is_title(part: str, titles: Collection[str]) -> bool:
    words = fold(part.strip(_TEAM)).split()
    bare = " ".join(word for word in words if word not in _GENERIC)
    return not bare or bare in titles or " ".join(words) in titles


def _after_colon(summary: str) -> frozenset[str]:
    """ "Payments on call: Ann" names the person after the colon."""
    phrase = _PHRASE.search(summary)
    _, colon, after = summary[phrase.start() :].partition(":") if phrase else ("", "", "")
    return frozenset(fold(part) for part in _BREAK.split(after) if part) if colon else frozenset()


def _names(segments: Sequence[str], guests: Sequence[Named], known: Collection[str]) -> list[str]:
    """The names in the part that an attendee belongs to, else in the first part."""
    if not segments:
        return []
    meant = [part for part in segments if any(_meant(part, guest) for guest in guests)]
    chosen = segments[0] if fold(segments[0]) in known or not meant else meant[0]
    pieces = [piece.strip() for piece in _SEVERAL.split(chosen) if piece.strip()]
    commas = _COMMA.split(chosen)
    return commas if all(fold(piece) in known for piece in commas) else pieces


def _role_beside(segments: Sequence[str], names: Sequence[str]) -> str:
    """What else the title says: the name of a rotation, mostly."""
    others = [part for part in segments if not any(name in part for name in names)]
    return _cut(others[0]) if others else ""


def _address(name: str, names: Sequence[str], guests: Sequence[Named]) -> str:
    if mail := _MAIL.search(name):
        return mail.group().casefold()
    meant = [guest for guest in guests if _meant(name, guest)]
    if not meant and len(names) == len(guests) == 1:
        meant = list(guests)
    return meant[0].email if len(meant) == 1 else ""


def _meant(words: str, guest: Named) -> bool:
    """Whether a part of a title names this attendee: by address, or by a whole word of it."""
    if guest.email and guest.email in words.casefold():
        return True
    local = guest.email.partition("@")[0]
    own = {fold(word) for word in _WORDS.findall(f"{guest.person} {local}")}
    return any(fold(word) in own for word in _WORDS.findall(words) if len(word) > 1)


def _guests(event: Event) -> list[Named]:
    """The attendees who did not decline; rooms and groups are none."""
    return list(_addressed(event.get("ATTENDEE")))


def _organiser(event: Event) -> list[Named]:
    return list(_addressed(event.get("ORGANIZER")))


def _addressed(value: object) -> Iterator[Named]:
    for item in value if isinstance(value, list) else [value] if value else []:
        params = getattr(item, "params", {})
        state = str(params.get("PARTSTAT", "")).upper()
        if state == "DECLINED" or str(params.get("CUTYPE", "")).upper() in _OTHERS:
            continue
        mail = _MAIL.search(str(item))
        email = (
            re.sub(r"^mailto:", "", mail.group(), flags=re.IGNORECASE).casefold() if mail else ""
        )
        name = _line(params.get("CN"))
        if name or email:
            yield Named(_cut(email if not name or _MAIL.fullmatch(name) else name), "", email)


def _line(value: object) -> str:
    """One line of plain words; web addresses in it are left out."""
    return " ".join(_ADDRESS.sub(" ", str(value or "")).split())


def _cut(words: str) -> str:
    return words if len(words) <= _SHOWN else words[: _SHOWN - 1] + "…"
