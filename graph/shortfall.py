"""What quotations plainly lack of a question: told when no model reads them critically.

The best passage may be the right page of the wrong edition, or of a colleague's rights: it holds
the subject and not the asked fact. Each rule names something that an answer would have to hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from graph.blocks import blocks, sentences
from graph.marks import used, without_marks
from graph.mentions import is_telling
from graph.model import Passage, Ranked
from graph.text import content_stems, fold, tokens
from graph.unwritten import unwritten_section
from graph.view import QuestionView, Word

HARDLY_COVERED = 0.3  # coverage of the best passage under which it is about something else

_QUOTED = re.compile(r"[\"“«„]([^\"“”«»„]{4,200})[\"”»“]")
_YEAR = re.compile(r"(?<![\w.\-/])(?:19|20)\d\d(?![\w/]|[.\-]\d)")
_CODE = re.compile(r"(?<![\w\-./])[A-Za-zА-Яа-яЁё]{1,3}-?\d{1,2}(?![\w\-/]|\.\d)")
_NUMBER = r"(?:v|version |версии |верси[яю] )?(\d+(?:\.\d+)*)"
_EDITION = re.compile(  # a name and its number, and no amount of something
    rf"(?<![\w./-])([^\W\d_][\w+#-]*)[ ]{_NUMBER}(?![\w%]|[ ]?%)"
    r"(?=\W*(?:$|[?!.,;:)\n]|(?:on|in|at|to|from|for|with|and|or|is|are|на|в|и|или|с|для|до)\b))",
    re.IGNORECASE,
)
_OPEN_QUESTION = re.compile(
    r"\b(?:how|what|where|when|which|who|why|как|что|где|когда|какой|какая|какие|кто|почему)\b",
    re.IGNORECASE,
)
_THING = re.compile(
    r"\b(?:where|what|which)(?:'s|\s+(?:is|are|was|were))\s+(?:(?:the|a|an|our|my)\s+)?([a-z-]+)",
    re.IGNORECASE,
)
_SETTING = re.compile(  # "which max_shards", maxShards, max.shards, --max-shards
    r"\b(?i:what|which|how (?:much|many|long|big)|как(?:ой|ая|ое|ие|ую)|сколько|значени[ея])\s+"
    r"(?:(?:is|are|should|values?|the|of|for|у|для|в)\s+){0,4}`?"
    r"(--[a-z][\w-]+|[A-Za-z][A-Za-z\d]+(?:[_.][A-Za-z\d]{2,})+|[a-z][a-z\d]*[A-Z][A-Za-z\d]*)"
)
_CLAUSE = re.compile(r"[,;:?]\s|\b(?:and|or|и|или)\b", re.IGNORECASE)
_WHO = re.compile(
    r"(?:^|[,;:?]\s*|\b(?:and|but|и|а|но)\s+)(?:who|whom|whose|кто|кого|кому|чей|чья|у кого)\b",
    re.IGNORECASE,
)
_SOMEBODY = re.compile(
    r"\b(?:team|lead|leader|manager|director|engineer|officer|owner|admin\w*|operator|developer|"
    r"colleague|person|people|staff|employee|user|duty|on-?call|support|desk|group|department|"
    r"responder|commander|analyst|approver|maintainer|senior|supervisor|chief|head|shift|vendor|"
    r"sre|dba|we|you|he|she|they|call|ask|page|contact|e-?mail|"
    r"команд\w+|руководител\w+|менеджер\w*|директор\w*|инженер\w*|начальник\w*|администратор\w*|"
    r"оператор\w*|разработчик\w*|дежурн\w+|ответственн\w+|отдел\w*|групп\w+|сотрудник\w*|люд\w+|"
    r"человек\w*|владел\w+|поддержк\w+|аналитик\w*|старш\w+|смен[аыеу]|вы|мы|он|она|они|"
    r"(?:по)?звони(?:те|ть)?|обратитесь|обращайтесь|спросите|(?:на)?пишите)\b|@\w|#\w",
    re.IGNORECASE,
)
_NAME = re.compile(r"\b[A-ZА-ЯЁ][a-zа-яё]+(?:-[A-ZА-ЯЁ][a-zа-яё]+)?\s+[A-ZА-ЯЁ][a-zа-яё]{2,}\b")
_LEFT_OUT = re.compile(
    r"\b(?:not|never|nor)\s+(?:\w+\s+){0,2}(?:part of|included in|given in|listed in|shown in|"
    r"contained in|printed in|repeated in|in)\s+this\s+(?:edition|document|page|version|file|guide|"
    r"note|copy)\b"
    r"|\bв\s+(?:этой|этом|данной|данном)\s+(?:редакции|документе|версии|файле|заметке|странице)\s+"
    r"(?:\w+\s+)?не\s+\w+"
    r"|\bне\s+(?:приводит\w*|приведен\w*|указан\w*|входит|входят|включен\w*)\s+(?:\w+\s+)?в\s+"
    r"(?:эту|этой|этот|этом|данн\w+)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Quotation:
    """A statement of the answer with the passages that it is marked with."""

    text: str
    passages: tuple[Passage, ...]

    @property
    def stems(self) -> frozenset[str]:
        around = [" ".join((item.title, *item.heading)) for item in self.passages]
        return frozenset(tokens(" ".join((self.text, *around))))


@dataclass(frozen=True, slots=True)
class Shortfall:
    """Why quotations leave a question open, for `belay why`; `note` is told to the asker."""

    reason: str
    note: str = ""


def shortfall(view: QuestionView, text: str, given: Sequence[Ranked]) -> Shortfall | None:
    """What the quotations in `text` lack, None when nothing is seen.

    Mark `[n]` in `text` points at `given[n - 1]`.
    """
    found = _quotations(text, [item.passage for item in given])
    if not found:
        return None
    passages = list(dict.fromkeys(item for one in found for item in one.passages))
    best = max((item.scores.coverage for item in given if item.passage in passages), default=0.0)
    if best < HARDLY_COVERED:
        return Shortfall(f"hardly any asked word is there, coverage {best:.2f}")
    if _LEFT_OUT.search(found[0].text):
        return Shortfall("the document says that it leaves this out")
    missing = _missing(view, passages)
    if missing:
        return Shortfall(f"nothing quoted says {missing[0]}")
    if _WHO.search(view.text) and not any(map(_names_somebody, found)):
        return Shortfall("asks who, and nobody is named")
    return _unwritten(view, found[0])


def _unwritten(view: QuestionView, first: _Quotation) -> Shortfall | None:
    empty = next((unwritten_section(view.text, item) for item in first.passages), "")
    reason = f"the page leaves its section {empty!r} empty"
    return Shortfall(reason, "unwritten") if empty else None


def _missing(view: QuestionView, passages: Sequence[Passage]) -> list[str]:
    return [
        *_missing_titles(view, passages),
        *_missing_years(view, passages),
        *_missing_codes(view, passages),
        *_missing_editions(view, passages),
        *_missing_settings(view, passages),
        *(word for word in _THING.findall(view.text) if fold(word) in view.unknown),
    ]


def _quotations(text: str, given: Sequence[Passage]) -> list[_Quotation]:
    """Statements in the order they are quoted; one without marks belongs to the one before."""
    found: list[_Quotation] = []
    for block in blocks(text):
        for piece in sentences(block.text):
            marks = [number for number in used(piece) if 1 <= number <= len(given)]
            said = without_marks(piece).strip()
            if marks and not said and found:  # the mark stands behind the full stop
                before = found.pop()
                found.append(_Quotation(before.text, tuple(given[n - 1] for n in marks)))
            elif said and not said.startswith("#"):
                found.append(_Quotation(said, tuple(given[n - 1] for n in marks)))
    return found


def _missing_titles(view: QuestionView, passages: Iterable[Passage]) -> list[str]:
    """Phrases that the question quotes and that no cited passage holds."""
    asked = [match[1] for match in _QUOTED.finditer(view.text)]
    if not asked:
        return []
    held = [frozenset(tokens(_all_of(item))) for item in passages]
    return [
        phrase
        for phrase in asked
        if len(stems := content_stems(phrase)) > 1 and not any(stems <= own for own in held)
    ]


def _missing_years(view: QuestionView, passages: Sequence[Passage]) -> list[str]:
    return [
        match.group()
        for match in _YEAR.finditer(view.text)
        if not any(_is_of_year(item, match.group()) for item in passages)
    ]


def _is_of_year(passage: Passage, year: str) -> bool:
    if year in _all_of(passage):
        return True
    start, end = passage.effective_from, passage.effective_until
    if start is None and end is None:
        return passage.updated_at is not None and passage.updated_at.year == int(year)
    first = datetime(int(year), 1, 1, tzinfo=UTC)
    last = first.replace(month=12, day=31)
    return (start is None or start <= last) and (end is None or first < end)


def _missing_codes(view: QuestionView, passages: Iterable[Passage]) -> list[str]:
    """Short codes such as E5 of which no cited passage says what their clause asks, though it
    says something of E4: no sentence has them beside another word of the clause."""
    if not _CODE.search(view.text):
        return []
    missing: list[str] = []
    found = [_Quotation(piece, (item,)) for item in passages for piece in _sentences(item)]
    held = {code for item in found for code in _CODE.findall(item.text)}
    for clause in _CLAUSE.split(view.text):
        codes = _CODE.findall(clause)
        beside = content_stems(_CODE.sub(" ", clause))
        others = [word for word in view.words if word.stem in beside]
        missing += [
            code
            for code in codes
            if others
            and any(_series(other) == _series(code) for other in held if fold(other) != fold(code))
            and not any(_has_beside(item, code, others) for item in found)
        ]
    return missing


def _missing_settings(view: QuestionView, passages: Sequence[Passage]) -> list[str]:
    """Settings and metrics whose value is asked for and that no cited passage names."""
    names = _SETTING.findall(view.text)
    held = fold(" ".join(map(_all_of, passages))) if names else ""
    return [name for name in names if fold(name) not in held]


def _missing_editions(view: QuestionView, passages: Sequence[Passage]) -> list[str]:
    """What the question names with a number (PostgreSQL 15, error 502), where the cited passages
    speak of its namesakes with other numbers only. Whether it is so may be asked of any."""
    if not _OPEN_QUESTION.search(view.text):
        return []
    missing: list[str] = []
    for match in _EDITION.finditer(view.text):
        name, number = match.groups()
        numbered = re.compile(rf"(?<!\w){re.escape(name)}[ ]{_NUMBER}", re.IGNORECASE)
        texts = [_all_of(item) for item in passages]
        others = {found[1] for text in texts for found in numbered.finditer(text)}
        said = re.compile(rf"(?<![\w.])v?{re.escape(number)}(?!\w)")
        within = any(number.startswith(f"{other}.") for other in others)
        if is_telling(name) and others and not within and not any(map(said.search, texts)):
            missing.append(match.group())
    return missing


def _series(code: str) -> str:
    """What E4 and E5 have in common."""
    return fold(code).rstrip("0123456789")


def _has_beside(item: _Quotation, code: str, others: Sequence[Word]) -> bool:
    if fold(code) not in fold(item.text):
        return False
    stems = item.stems
    return any(stems & word.worths(lang).keys() for word in others for lang in word.reach)


def _sentences(passage: Passage) -> Iterable[str]:
    return (piece for block in blocks(passage.text) for piece in sentences(block.text))


def _names_somebody(item: _Quotation) -> bool:
    return bool(_SOMEBODY.search(item.text) or _NAME.search(item.text))


def _all_of(passage: Passage) -> str:
    name = passage.document.rsplit("/", 1)[-1]
    return " ".join((passage.title, *passage.heading, passage.text, name))
