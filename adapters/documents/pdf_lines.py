"""The lines of a PDF page: how they are set, and how they become Markdown."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from pypdf import PageObject

_LIGATURES = str.maketrans(
    {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st", "\xa0": " "}
)
_CODE_FONT = re.compile(r"courier|mono|consol|menlo|typewriter|fixed|cmtt", re.IGNORECASE)
_EDGE = 2  # lines at the top and at the bottom that may repeat on every page
_REPEATED = 0.6  # of the pages that must have a line for it to be a header or footer
_FEWEST = 3  # pages before anything can be said to repeat
_NUMBER = re.compile(
    r"^\W*(?:page|pg\.?|p\.|стр\.?|страница|с\.)?\s*(?:\d{1,5}|[ivxlc]{1,6})"
    r"(?:\s*(?:of|/|из|\|)\s*\d{1,5})?\W*$",
    re.IGNORECASE,
)
_PARAGRAPH = 1.6  # times the usual distance of lines: a new paragraph
_BULLET = re.compile(r"^\s*[•●▪◦‣■–]\s+")
_SPECIAL = re.compile(r"^\s*(?:#{1,6}\s|>|\||`{3}|~{3}|<[a-zA-Z/!])")
_SOFT_INSIDE = re.compile("\u00ad(?=.)")
_RULE = re.compile(r"^\s*(?:[-=_*]\s*){3,}$")
_HYPHEN = re.compile(r"(?<![\w./\\-])([^\W\d_]{2,})-$")
_REST = re.compile(r"^([^\W\d_]{2,})(.*)$")
_LONGEST_REST = 6  # lines of a sentence that are taken back over a page
_END = re.compile(r"[.!?:;…»”\")]\s*$")


@dataclass(frozen=True, slots=True)
class Line:
    """`size` in points as it is shown, `top` the distance from the lower edge of the page;
    `level` of a heading, or 0."""

    text: str
    size: float = 0.0
    top: float = 0.0
    code: bool = False
    level: int = 0


@dataclass(frozen=True, slots=True)
class Sheet:
    """One page, numbered from 1."""

    number: int
    lines: tuple[Line, ...]


def lines_of(page: PageObject) -> list[Line]:
    """The lines in the order of the page's own text."""
    parts: list[tuple[str, float, float, bool]] = []

    def visit(text: str, cm: Any, tm: Any, font: Any, size: float) -> None:
        if text:
            scale = math.hypot(tm[2], tm[3]) * math.hypot(cm[2], cm[3])
            top = tm[4] * cm[1] + tm[5] * cm[3] + cm[5]
            name = str(font.get("/BaseFont", "")) if font else ""
            parts.append((text, round(size * scale, 1), top, bool(_CODE_FONT.search(name))))

    page.extract_text(visitor_text=visit)
    return list(_assembled(parts))


def _assembled(parts: Sequence[tuple[str, float, float, bool]]) -> Iterator[Line]:
    current: list[tuple[str, float, float, bool]] = []
    for text, size, top, code in parts:
        first, *others = text.replace("\r", "\n").split("\n")
        current.append((first, size, top, code))
        for other in others:
            yield _line(current)
            current = [(other, size, top, code)]
    yield _line(current)


def _line(parts: Sequence[tuple[str, float, float, bool]]) -> Line:
    text = "".join(text for text, *_ in parts).translate(_LIGATURES)
    text = _SOFT_INSIDE.sub("", text.replace("\x00", "")).rstrip()
    weights: Counter[float] = Counter()
    for part, size, *_ in parts:
        weights[size] += len(part.strip())
    told = [part for part in parts if part[0].strip()]
    return Line(
        text,
        size=weights.most_common(1)[0][0] if weights else 0.0,
        top=told[0][2] if told else 0.0,
        code=bool(told) and all(code for *_, code in told),
    )


def without_repeats(sheets: Sequence[Sheet]) -> list[Sheet]:
    """The pages without running headers, footers and page numbers. A heading is one of them only
    when it is the same on every page: `Step 1`, `Step 2` are headings."""
    sheets = [replace(sheet, lines=tuple(_nonblank(sheet.lines))) for sheet in sheets]
    counts: Counter[str] = Counter()
    for sheet in sheets:
        counts.update({pattern for index in _edges(sheet) for pattern in _patterns(sheet, index)})
    least = max(_FEWEST, sum(bool(sheet.lines) for sheet in sheets) * _REPEATED)
    repeated = {pattern for pattern, count in counts.items() if count >= least}
    kept = [_without(sheet, repeated) for sheet in sheets]
    return kept if any(sheet.lines for sheet in kept) else sheets


def _without(sheet: Sheet, repeated: Set[str]) -> Sheet:
    gone = {index for index in _edges(sheet) if repeated & _patterns(sheet, index)}
    for index in (0, len(sheet.lines) - 1):
        if sheet.lines and _NUMBER.match(sheet.lines[index].text):
            gone.add(index)
    kept = tuple(line for index, line in enumerate(sheet.lines) if index not in gone)
    return replace(sheet, lines=kept)


def _nonblank(lines: Sequence[Line]) -> Iterator[Line]:
    return (line for line in lines if line.text.strip())


def _edges(sheet: Sheet) -> list[int]:
    count = len(sheet.lines)
    return sorted({*range(min(_EDGE, count)), *range(max(count - _EDGE, 0), count)})


def _patterns(sheet: Sheet, index: int) -> set[str]:
    """A line as it is, and unless it is a heading with the page's own number left open."""
    line = sheet.lines[index]
    text = " ".join(line.text.split()).casefold()
    open_text = re.sub(rf"(?<!\d){sheet.number}(?!\d)", "#", text)
    return {text} if line.level else {text, open_text}


def joined(sheets: Sequence[Sheet]) -> list[Sheet]:
    """The pages with words joined that a line end had cut, and with the rest of a sentence taken
    back to the page on which it began."""
    words = Counter(
        word for sheet in sheets for line in sheet.lines for word in _compounds(line.text)
    )
    found: list[Sheet] = []
    for sheet in sheets:
        lines = list(sheet.lines)
        if found and found[-1].lines and lines:
            last = found[-1].lines[-1]
            moved = _rest_of_sentence(last, lines)
            found[-1] = replace(found[-1], lines=(*found[-1].lines, *lines[:moved]))
            lines = lines[moved:]
        found.append(replace(sheet, lines=tuple(lines)))
    return [replace(sheet, lines=tuple(_unhyphenated(sheet.lines, words))) for sheet in found]


def _rest_of_sentence(last: Line, lines: Sequence[Line]) -> int:
    """How many lines at the top of the next page end the sentence of `last`."""
    first = lines[0]
    begins_small = first.text.lstrip()[:1].islower()
    if _END.search(last.text) or not begins_small or last.code or last.level:
        return 0
    for count, line in enumerate(lines, start=1):
        if line.size != last.size or line.code or line.level:
            return 0
        if _END.search(line.text) or count == _LONGEST_REST:
            return count
    return 0


def _compounds(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]+-[^\W\d_]+", text.casefold())


def _unhyphenated(lines: Sequence[Line], compounds: Mapping[str, int]) -> Iterator[Line]:
    """A hyphen stays that the same compound has elsewhere in the document."""
    pending: Line | None = None
    for following in lines:
        line = _merged(pending, following, compounds) if pending is not None else following
        pending = None
        if not line.code and (_HYPHEN.search(line.text) or line.text.endswith("\u00ad")):
            pending = line
        else:
            yield line
    if pending is not None:
        yield pending


def _merged(first: Line, second: Line, compounds: Mapping[str, int]) -> Line:
    rest = second.text.lstrip()
    if first.text.endswith("\u00ad"):
        return replace(second, text=first.text[:-1] + rest, top=first.top)
    head, tail = _HYPHEN.search(first.text), _REST.match(rest)
    if head is None or tail is None or not rest[:1].islower():
        return replace(second, text=f"{first.text} {rest}", top=first.top)
    whole = f"{head.group(1)}-{tail.group(1)}".casefold()
    text = first.text if compounds.get(whole) else first.text[:-1]
    return replace(second, text=text + rest, top=first.top)


def markdown(sheet: Sheet) -> Iterator[str]:
    """The lines of a page as Markdown: headings, paragraphs, code that is set as code."""
    gap = _usual_gap(sheet.lines)
    before: Line | None = None
    for line in sheet.lines:
        if before is not None and before.code and not line.code:
            yield _CODE
        if before is not None and not (before.code and line.code) and _apart(before, line, gap):
            yield ""
        if line.code and not (before is not None and before.code):
            yield _CODE
        text = _marked(line)
        if text:
            yield text
        before = line
    if before is not None and before.code:
        yield _CODE


def _usual_gap(lines: Sequence[Line]) -> float:
    gaps = sorted(a.top - b.top for a, b in pairwise(lines) if a.top > b.top and not a.level)
    return gaps[len(gaps) // 2] if gaps else 0.0


def _apart(above: Line, below: Line, gap: float) -> bool:
    """True where a new block begins: at headings, code, and wider distances."""
    if above.level or below.level or above.code != below.code:
        return True
    distance = above.top - below.top
    return bool(gap) and (distance > gap * _PARAGRAPH or distance < 0)


def _marked(line: Line) -> str:
    """A line of Markdown that reads as the line does, and is no markup by accident."""
    if line.code:
        return line.text.replace("```", "\u02cb\u02cb\u02cb") or " "
    text = line.text.strip()
    if line.level:
        return f"{'#' * line.level} {text}"
    if _RULE.match(text):
        return ""
    text = _BULLET.sub("- ", text)
    return f"\\{text}" if _SPECIAL.match(text) else text


_CODE = "```"
