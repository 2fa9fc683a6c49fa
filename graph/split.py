"""Takes a question apart by rule: several questions, comparisons, lists of things.

Every part can be searched alone. A part that left its subject to the first one ("and how much in
staging") gets it back, as a follow-up would.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from graph.followup import ASKER, resolve
from graph.mentions import is_telling, weight, word_stems
from graph.model import Turn
from graph.pointers import points_elsewhere
from graph.slots import substituted
from graph.text import WORD, content_words, fold, stem

_SHORT = 1  # weight (graph/mentions.py) up to which a part does not say what it is about
_TOPIC_WORDS = 12  # of the announcement in front of a colon
_LIST_WORDS = 9  # of one item of a list
_NAME_WORDS = 2
_PART_CHARACTERS = 240
_KEPT = 32  # questions: several nodes take the same one apart
_QUESTION_CHARACTERS = 1000  # a longer message is a paste, not a list of questions

_ASK_EN = r"how|what|which|who|whose|why|when|where|can|could|should|does|do|did|is|are|will|would"
_ASK_RU = (
    r"как|какой|какая|какое|какие|какую|каким|какими|каких|каком|что|чем|кто|кого|почему|зачем|"
    r"когда|где|куда|откуда|сколько|можно|нужно|надо"
)
_PREPOSITION = (
    r"on|in|at|for|of|with|from|to|by|after|within|under|до|на|в|во|для|у|от|с|со|из|через|после|по|"
    r"при|за|под"
)
_ASKING = rf"(?:(?:{_PREPOSITION})\s+)?(?:{_ASK_EN}|{_ASK_RU})\b"
_AND = r"(?:and|or|plus|as well as|а также|а ещё|а еще|и заодно|и|или)"

_SENTENCES = re.compile(r"(?<=[?;])\s+|\n+|(?<=[.!])\s+(?=\S+\s+\S)")
_ANNOUNCED = re.compile(r"^([^:?]{3,}?):\s+(\S.*)$", re.DOTALL)
_CLAUSES = re.compile(rf"\s*[,;]?\s+{_AND}\s+(?={_ASKING})|\s*[,;]\s+(?={_ASKING})", re.IGNORECASE)
_REPEATED = re.compile(
    rf"^(?P<head>.*?)\b(?P<first>(?P<place>{_PREPOSITION})\s+[^,;]+?)\s*,?\s+{_AND}\s+"
    rf"(?P<rest>(?P=place)\s+.+)$",
    re.IGNORECASE | re.DOTALL,
)
_ITEM = r"[\w\-./']+(?:\s+[\w\-./']+)?"
_ENUMERATED = re.compile(
    rf"^(?P<head>.*\b(?:{_PREPOSITION})\s+)"
    rf"(?P<items>{_ITEM}(?:\s*,\s*{_ITEM})*\s*,?\s+{_AND}\s+{_ITEM})\W*$",
    re.IGNORECASE | re.DOTALL,
)
_OF = re.compile(rf"^(?P<head>.+\b(?:{_PREPOSITION})\s+){_ITEM}$", re.IGNORECASE)
_GAPPED = re.compile(rf"^{_ASKING}\s+(?P<rest>(?:{_PREPOSITION})\s.+)$", re.IGNORECASE | re.DOTALL)
_BETWEEN = re.compile(
    r"\b(?:difference|differences|разниц[аыу]|отличи[еяй])\s+(?:in\s+\w+\s+)?(?:between|между)\s+"
    r"(?P<a>.+?)\s+(?:and|и)\s+(?P<b>.+?)(?P<tail>[,?:].*)?$",
    re.IGNORECASE | re.DOTALL,
)
_DIFFERS = re.compile(
    r"\b(?:чем|how)\s+(?:does|do|is)?\s*(?P<a>.+?)\s+"
    r"(?:отлича(?:ется|ются)|differs?(?:ent)?|different)\s+(?:от|from|to|than)\s+"
    r"(?P<b>.+?)(?P<tail>[,?].*)?$",
    re.IGNORECASE | re.DOTALL,
)
_COMPARE = re.compile(
    r"\b(?:compare|сравни(?:те|ть)?)\s+(?P<a>.+?)\s+(?:and|with|to|и|с|со)\s+"
    r"(?P<b>.+?)(?P<tail>[,?:].*)?$",
    re.IGNORECASE | re.DOTALL,
)
_VERSUS = re.compile(
    r"^(?P<a>.+?)\s+(?:vs\.?|versus|против|или|or)\s+(?P<b>[^,:?]+?)\s*(?P<tail>[,:?].*)?$",
    re.IGNORECASE | re.DOTALL,
)
_CHOICE = re.compile(
    r"^(?:what|which|что|какой|какую|кого)\b[^,:]*?\b(?:better|choose|prefer|лучше|выбрать)\b[^,:]*[,:]\s*"
    r"(?P<a>.+?)\s+(?:or|или)\s+(?P<b>[^,:?]+)(?P<tail>[,:?].*)?$",
    re.IGNORECASE | re.DOTALL,
)
_STRICT_VERSUS = re.compile(r"\s(?:vs\.?|versus|против)\s", re.IGNORECASE)
_BETTER = re.compile(r"\b(?:better|prefer|choose|pick|лучше|выбрать|предпочесть)\b", re.IGNORECASE)
_ITEMS = re.compile(rf"\s*,\s*(?:{_AND}\s+)?|\s+{_AND}\s+", re.IGNORECASE)
_ARTICLE = re.compile(r"^(?:the|a|an)\s+", re.IGNORECASE)
_EDGE = " \t\n,;.?!:—–-"


@lru_cache(maxsize=_KEPT)
def split(question: str, limit: int) -> tuple[str, ...]:
    """The parts of `question`, at most `limit`; empty when it asks one thing."""
    text = question.strip()
    if len(text) > _QUESTION_CHARACTERS:
        return ()
    found = [_unlike(_once(rule(text)), text)[:limit] for rule in _RULES]
    parts = found[0] if len(found[0]) > 1 else max(found, key=len)
    return tuple(parts) if len(parts) > 1 else ()


def distinct(parts: Iterable[str], question: str, limit: int) -> tuple[str, ...]:
    """The first `limit` parts that ask something, each once, without the question itself."""
    whole = _fingerprint(question)
    return tuple(part for part in _once(parts) if _fingerprint(part) != whole)[:limit]


def _once(parts: Iterable[str]) -> list[str]:
    """Parts of a sane length; of two with the same telling words, the first."""
    kept: dict[frozenset[str], str] = {}
    for part in parts:
        text = " ".join(part.split())
        mark = _fingerprint(text)
        if mark and len(text) <= _PART_CHARACTERS:
            kept.setdefault(mark, text)
    return list(kept.values())


def _unlike(parts: list[str], question: str) -> list[str]:
    words = WORD.findall(fold(question))
    return [part for part in parts if WORD.findall(fold(part)) != words]


def _fingerprint(text: str) -> frozenset[str]:
    return frozenset(root for _, root in content_words(text))


def _several(question: str) -> list[str]:
    """Sentences and clauses that each ask something, below one announced topic."""
    topic, rest = _announced(question)
    sentences = [piece for piece in _SENTENCES.split(rest) if piece.strip(_EDGE)]
    clauses = [piece for sentence in sentences for piece in _CLAUSES.split(sentence)]
    pieces = [piece.strip(_EDGE) for piece in clauses if piece.strip(_EDGE)]
    if len(pieces) < 2:  # noqa: PLR2004
        return []
    return _with_subject(_joined_statements(pieces), topic)


def _joined_statements(pieces: list[str]) -> list[str]:
    """A statement before a question belongs to it: "disk is full, what do I delete"."""
    if len(pieces) > 1 and not re.search(_ASKING, pieces[0], re.IGNORECASE):
        return [f"{pieces[0]}: {pieces[1]}", *pieces[2:]]
    return pieces


def _compared(question: str) -> list[str]:
    """The two sides of a comparison, each with what is asked about both."""
    for pattern in (_BETWEEN, _DIFFERS, _COMPARE, _CHOICE):
        match = pattern.search(question)
        if match:
            return _sides(match, question[: match.start()])
    match = _VERSUS.search(question)
    strict = _STRICT_VERSUS.search(question) or _BETTER.search(question)
    return _sides(match, "") if match and strict else []


def _sides(match: re.Match[str], head: str) -> list[str]:
    tail = (match.group("tail") or "").strip(_EDGE)
    context = " ".join(piece for piece in (head.strip(_EDGE), tail) if content_words(piece))
    sides = _shared_noun(*(_ARTICLE.sub("", match.group(side).strip(_EDGE)) for side in "ab"))
    return [f"{side}: {context}" if context else side for side in sides]


def _shared_noun(first: str, second: str) -> tuple[str, str]:
    """Gives the side that lost its noun or its subject the other's: "local vs remote disks"."""
    if len(first.split()) == 1 and weight(first) <= 1 < len(second.split()):
        return " ".join([first, *second.split()[1:]]), second
    owned = _OF.match(first)
    if owned and len(second.split()) <= _NAME_WORDS:
        return first, owned.group("head") + second
    if points_elsewhere(second):
        return first, resolve(second, (Turn(ASKER, first),))
    return first, second


def _repeated(question: str) -> list[str]:
    """The same question with each ending: "restart command for A and for B"."""
    match = _REPEATED.match(question)
    if not match:
        return []
    head = match.group("head").strip()
    return [f"{head} {match.group(end).strip(_EDGE)}" for end in ("first", "rest")]


def _enumerated(question: str) -> list[str]:
    """The same question for each of its last names: "ports of A, B and C"."""
    match = _ENUMERATED.match(question)
    if not match:
        return []
    items = [item for item in _ITEMS.split(match.group("items")) if content_words(item)]
    return [f"{match.group('head')}{item.strip(_EDGE)}" for item in items]


def _listed(question: str) -> list[str]:
    """Short items of a list behind an announcement: "checklist: A, B and C"."""
    topic, rest = _announced(question)
    if not topic:
        return []
    items = [item.strip(_EDGE) for item in _ITEMS.split(rest)]
    if len(items) < 2 or any(len(item.split()) > _LIST_WORDS for item in items):  # noqa: PLR2004
        return []
    return [f"{topic}: {item}" for item in items if content_words(item)]


def _announced(question: str) -> tuple[str, str]:
    match = _ANNOUNCED.match(question)
    if not match or len(match.group(1).split()) > _TOPIC_WORDS:
        return "", question
    return match.group(1).strip(_EDGE), match.group(2)


def _with_subject(pieces: list[str], topic: str) -> list[str]:
    if topic:
        return [f"{topic}: {piece}" for piece in pieces]
    return [pieces[0], *(_owned(piece, pieces[0]) for piece in pieces[1:])]


def _owned(piece: str, first: str) -> str:
    """`piece` with the subject of `first` when it does not name one itself."""
    gap = _GAPPED.match(piece)
    filled = substituted(first, gap.group("rest")) if gap else None
    if filled:
        return filled
    if points_elsewhere(piece):
        return resolve(piece, (Turn(ASKER, first),))
    if weight(piece) > _SHORT:
        return piece
    known = word_stems(piece)
    subject = [word for word in _telling(first) if stem(fold(word)) not in known]
    return f"{' '.join(subject)}: {piece}" if subject else piece


def _telling(text: str) -> list[str]:
    return [word for word in WORD.findall(text) if is_telling(word)]


_RULES: tuple[Callable[[str], list[str]], ...] = (
    _compared,
    _several,
    _repeated,
    _enumerated,
    _listed,
)
