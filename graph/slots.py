"""The one thing a short follow-up changes: an environment, a service, a side of a pair.

"How do I find the leader in production?" and "and on staging?" give one new question in which
production has gone.
"""

from __future__ import annotations

import re

from graph.mentions import is_telling, names
from graph.pointers import without_opener
from graph.smalltalk import asks
from graph.text import WORD, fold, stem

_FAMILIES = tuple(
    re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE)
    for pattern in (
        r"prod|production|prd|staging|stage|stg|preprod|dev|development|test|testing|qa|uat|sandbox|"
        r"прод\w{0,2}|продакш\w+|стейдж\w*|стейджинг\w*|стенд\w*|тест\w{0,2}|дев\w{0,2}|"
        r"предпрод\w*|песочниц\w+|боев\w+",
        r"client|server|клиентск\w+|серверн\w+",
        r"warning|critical|варнинг\w*|критикал\w*",
        r"primary|replica|leader|follower|master|standby|лидер\w*|мастер\w*|реплик\w+",
        r"reads?|writes?|чтени\w+|запис[ьи]\w*",
        r"ingress|egress|inbound|outbound|входящ\w+|исходящ\w+",
        r"cpu|memory|ram|памят\w+",
        r"internal|external|внутренн\w+|внешн\w+",
        r"upgrade|downgrade|rollback",
        r"linux|windows|macos",
        r"python|golang|java|ruby|rust|node\.?js|php",
        r"monday|tuesday|wednesday|thursday|friday|saturday|sunday|"
        r"понедельник\w*|вторник\w*|сред[уы]|четверг\w*|пятниц\w+|суббот\w+|воскресень\w+",
    )
)
_PLACES = (  # prepositions that stand for one another
    r"(?:on|in|at|inside|under)",
    r"(?:for|of|from)",
    r"(?:with|via|through|using)",
    r"(?:на|в|во)",
    r"(?:для|у|от)",
    r"(?:по|про|о|об)",
    r"(?:с|со|через)",
)
_ANY_PLACE = rf"(?:{'|'.join(_PLACES)})"
_ARTICLE = r"(?:(?:the|a|an|our|my)\s+)?"
_NOUN = rf"{_ARTICLE}[\w\-./']+"
_PREPOSITIONAL = re.compile(rf"^({_ANY_PLACE})\s+{_ARTICLE}\S+(?:\s+\S+){{0,3}}$", re.IGNORECASE)
_BARE = re.compile(
    rf"^(?:(?:if|when|если|когда)\s+)?(?:(?:it's|its|it is|that's|это|у нас)\s+)?"
    rf"(?:{_ANY_PLACE}\s+)?{_ARTICLE}(?:\S+)$",
    re.IGNORECASE,
)
_THING = r"(?P<thing>[\w\-./']+)(?=\W*$)"
_LAST_OBJECT = re.compile(
    rf"\b(?:of|for|on|in|at|from|у|для|на|в|по|от)\s+{_ARTICLE}{_THING}", re.IGNORECASE
)
_LAST_WORD = re.compile(rf"(?<=\w ){_THING}", re.IGNORECASE)
_LEADING_ARTICLE = re.compile(rf"^{_ARTICLE}", re.IGNORECASE)
_PLACED = re.compile(rf"\b{_ANY_PLACE}\s+{_ARTICLE}$", re.IGNORECASE)
_TAIL = re.compile(
    r"(?:\s+(?:one|then|instead|too|there|as well|тоже|тогда|там))?\W*$", re.IGNORECASE
)


def substituted(asked: str, follow_up: str) -> str | None:
    """`asked` with the one thing changed that `follow_up` names; None when it names none."""
    fragment = _TAIL.sub("", without_opener(follow_up), count=1)
    if not fragment or "\n" in fragment:
        return None
    return (
        _by_family(asked, fragment) or _by_preposition(asked, fragment) or _by_name(asked, fragment)
    )


def replaced_word(asked: str, old: str, new: str) -> str | None:
    """`asked` with the word `old`, in any form, replaced by the phrase `new`."""
    target = stem(fold(old))
    for match in WORD.finditer(asked):
        if stem(fold(match.group())) == target:
            return asked[: match.start()] + _LEADING_ARTICLE.sub("", new) + asked[match.end() :]
    return None


def replaced_object(asked: str, new: str) -> str | None:
    """`asked` with its last thing replaced: "metrics port of the collector", "restart billing".

    None when that is a slot of another kind: a service does not take the place of "on prod".
    """
    match = _LAST_OBJECT.search(asked) or _LAST_WORD.search(asked)
    if not match or not is_telling(match.group("thing")) or _in_family(match.group("thing")):
        return None
    return asked[: match.start("thing")] + _LEADING_ARTICLE.sub("", new) + asked[match.end() :]


def _in_family(word: str) -> bool:
    return any(family.fullmatch(word) for family in _FAMILIES)


def _by_family(asked: str, fragment: str) -> str | None:
    if not _BARE.match(fragment):
        return None
    for family in _FAMILIES:
        new, old = family.search(fragment), family.search(asked)
        if not new or not old or fold(new.group()) == fold(old.group()):
            continue
        placed = _PLACED.search(asked[: old.start()])
        if placed and _PREPOSITIONAL.match(fragment):
            return asked[: placed.start()] + fragment + asked[old.end() :]
        return asked[: old.start()] + new.group() + asked[old.end() :]
    return None


def _by_preposition(asked: str, fragment: str) -> str | None:
    phrase = _PREPOSITIONAL.match(fragment)
    if not phrase or asks(fragment):
        return None
    for place in _PLACES:
        if not re.fullmatch(place, phrase.group(1), re.IGNORECASE):
            continue
        old = re.search(rf"\b{place}\s+{_NOUN}", asked, re.IGNORECASE)
        if old:
            return asked[: old.start()] + fragment + asked[old.end() :]
    bare = asked.rstrip(" ?!.")
    return f"{bare} {fragment}{asked[len(bare) :].strip() or '?'}"


def _by_name(asked: str, fragment: str) -> str | None:
    """A lone identifier takes the place of the question's only identifier."""
    new, old = names(fragment), names(asked)
    if new != [fragment] or len(old) != 1:
        return None
    return asked.replace(old[0], new[0])
