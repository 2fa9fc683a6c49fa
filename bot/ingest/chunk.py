"""Chunks: pieces of a document that are embedded, found and quoted as one.

Short sections that follow each other share a chunk; long ones are cut between their blocks.
Fences, tables and list items are cut only when one alone is too long, and then each piece of a
fence is a fence again and each piece of a table has its header.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from bot.ingest.markdown import Block, Kind
from bot.ingest.nesting import Keys, is_nested, stretches
from bot.ingest.sections import THIN, Outline, Section
from graph.model import Language
from graph.text import has_words, passage_language

_TABLE_HEAD = 2  # lines: the header and the rule below it
_ENDS = (  # of records, sentences, words and values: where a line is cut, best first
    re.compile(r"[}\])];?,\s*(?=[{\[(\"'])|\);\s*(?=[A-Z])"),
    re.compile(r"(?<=[\w ][\w)\]`%])[.!?…][\"»”)]?\s+(?=[^\W\d_a-zа-яё]|[\"«“(`*])|;\s+"),
    re.compile(r"\s+"),
    re.compile(r"[,;&|]+"),
)


@dataclass(frozen=True, slots=True)
class ChunkLimits:
    """Sizes in characters."""

    small: int = 700  # a smaller chunk takes in the section after it
    target: int = 1400  # of a chunk made of several blocks
    hard: int = 2800  # of one block; only a longer one is cut inside
    overlap: int = 200  # of prose repeated at the start of the next piece
    caption: int = 160  # of a line above a table that each of its pieces repeats
    names: int = 100  # of the section names shown for a chunk of several sections


@dataclass(frozen=True, slots=True)
class ChunkText:
    """A chunk without identity and vector. `lines` are the first and last line on disk.

    `head` is the path of headings that holds for the whole text; `heading` also names the
    sections inside, as a reader wants to see them. `anchor` is the place in the original.
    """

    head: tuple[str, ...]
    heading: tuple[str, ...]
    text: str
    lines: tuple[int, int]
    language: Language
    stub: bool
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class _Piece:
    section: Section
    start: int
    end: int
    text: str
    bare: bool = False  # nothing but a heading
    apart: bool = False

    @property
    def size(self) -> int:
        return len(self.text)


@dataclass(frozen=True, slots=True)
class _Atom:
    """What is not cut any further."""

    kind: Kind
    start: int
    end: int
    text: str
    apart: bool = False  # shares no chunk with another piece of its block


def chunks(outline: Outline, limits: ChunkLimits) -> list[ChunkText]:
    """The chunks of a document in reading order; none of them is without words."""
    found: list[ChunkText] = []
    for group in _packed(outline, limits):
        chunk = _chunk(outline, group, limits)
        if has_words(chunk.text):
            found.append(chunk)
    return found


def _packed(outline: Outline, limits: ChunkLimits) -> Iterator[list[_Piece]]:
    group: list[_Piece] = []
    for section in outline.sections:
        for piece in _pieces(outline, section, limits):
            if group and not (_fits(group, piece, limits) and _one_page(outline, group, piece)):
                yield group
                group = []
            group.append(piece)
    if group:
        yield group


def _fits(group: Sequence[_Piece], piece: _Piece, limits: ChunkLimits) -> bool:
    size = sum(member.size for member in group)
    if all(member.bare for member in group):
        return size + piece.size <= limits.hard
    if group[-1].apart:
        return False
    opens_part = piece.section.level == 1 and piece.start == piece.section.start
    return not opens_part and size < limits.small and size + piece.size <= limits.target


def _one_page(outline: Outline, group: Sequence[_Piece], piece: _Piece) -> bool:
    """True unless the text of `group` is on another page; headings belong to what follows."""
    if not outline.breaks or all(member.bare for member in group):
        return True
    return outline.page(_body(outline, group)) == outline.page(_body(outline, [piece]))


def _body(outline: Outline, group: Sequence[_Piece]) -> int:
    """The first line that is not part of a heading, or else the first line."""
    for piece in group:
        for block in piece.section.blocks:
            start, end = max(block.start, piece.start), min(block.end, piece.end)
            if block.kind is Kind.HEADING:
                continue
            for index in range(start, end):
                if outline.lines[index].strip():
                    return index
    return group[0].start


def _pieces(outline: Outline, section: Section, limits: ChunkLimits) -> Iterator[_Piece]:
    text = _text(outline, section.start, section.end)
    if len(text) <= limits.target:
        bare = all(block.kind is Kind.HEADING for block in section.blocks)
        yield _Piece(section, section.start, section.end, text, bare)
        return
    current: list[_Atom] = []
    for atom in _section_atoms(outline, section, limits):
        if current and _full(current, atom, limits):
            yield _piece(section, current)
            current = _overlap(outline, current[-1], atom, limits)
        current.append(atom)
    if current:
        yield _piece(section, current)


def _full(current: Sequence[_Atom], atom: _Atom, limits: ChunkLimits) -> bool:
    size = sum(len(item.text) for item in current) + len(atom.text)
    if all(item.kind is Kind.HEADING for item in current):
        return size > limits.hard
    return size > limits.target or (current[-1].apart and atom.apart)


def _piece(section: Section, atoms: Sequence[_Atom]) -> _Piece:
    text = atoms[0].text
    for atom in atoms[1:]:
        text += ("\n" if atom.kind is Kind.CONTAINER else "\n\n") + atom.text
    return _Piece(section, atoms[0].start, atoms[-1].end, text.strip("\n"), apart=atoms[-1].apart)


def _overlap(outline: Outline, last: _Atom, following: _Atom, limits: ChunkLimits) -> list[_Atom]:
    """The last whole lines of a paragraph, when a paragraph follows."""
    if not (last.kind is following.kind is Kind.PROSE):
        return []
    start, size = last.end, 0
    while start > last.start and size + len(outline.lines[start - 1]) < limits.overlap:
        start -= 1
        size += len(outline.lines[start]) + 1
    text = _text(outline, start, last.end)
    return [_Atom(Kind.PROSE, start, last.end, text)] if text and start > last.start else []


def _section_atoms(outline: Outline, section: Section, limits: ChunkLimits) -> Iterator[_Atom]:
    previous: Block | None = None
    for block in section.blocks:
        caption = _caption(outline, previous, limits) if block.kind is Kind.TABLE else ""
        yield from _atoms(outline, block, limits, caption)
        previous = block


def _caption(outline: Outline, block: Block | None, limits: ChunkLimits) -> str:
    if block is None or block.kind is not Kind.PROSE:
        return ""
    text = _text(outline, block.start, block.end)
    return text if len(text) <= limits.caption and "\n" not in text else ""


def _atoms(
    outline: Outline, block: Block, limits: ChunkLimits, caption: str = ""
) -> Iterator[_Atom]:
    text = _text(outline, block.start, block.end)
    if not text:
        return
    if len(text) <= limits.hard and not (outline.fence and len(text) > limits.target):
        yield _Atom(block.kind, block.start, block.end, text)
    elif block.children:
        for child in block.children:
            for atom in _atoms(outline, child, limits):
                kind = Kind.CONTAINER if atom.start == child.start else atom.kind
                yield _Atom(kind, atom.start, atom.end, atom.text)
    else:
        yield from _cut(outline, block, limits, _frame(outline, block, limits, caption))


@dataclass(frozen=True, slots=True)
class _Frame:
    """The lines of a block that may be cut, and what stands above and below each piece."""

    start: int
    end: int
    above: str = ""
    below: str = ""


def _frame(outline: Outline, block: Block, limits: ChunkLimits, caption: str) -> _Frame:
    lines, start, end = outline.lines, block.start, block.end
    while end > start and not lines[end - 1].strip():
        end -= 1
    frame = _Frame(block.start, block.end)
    if block.kind is Kind.TABLE and end - start > _TABLE_HEAD:
        head = "\n".join(lines[start : start + _TABLE_HEAD])
        above = f"{caption}\n\n{head}" if caption else head
        frame = _Frame(start + _TABLE_HEAD, block.end, above)
    elif block.kind is Kind.FENCE:
        above = lines[start]
        mark = above.lstrip(" \t>")[:3]
        closed = end - start > 1 and lines[end - 1].lstrip(" \t>").startswith(mark)
        below = lines[end - 1] if closed else above[: above.find(mark)] + mark
        frame = _Frame(start + 1, end - 1 if closed else end, above, below)
    if len(frame.above) + len(frame.below) > limits.target // 2:
        return _Frame(block.start, block.end)
    return frame


def _cut(outline: Outline, block: Block, limits: ChunkLimits, frame: _Frame) -> Iterator[_Atom]:
    """Pieces of at most the target size, cut at line ends; only a longer line is cut inside."""
    budget = limits.target - len(frame.above) - len(frame.below) - 2
    code = outline.lines[block.start] if block.kind is Kind.FENCE else outline.fence or ""
    lines, nested = outline.lines, is_nested(code)
    whole = frame.start, frame.end
    keys = Keys(lines, *whole) if nested else None
    for stretch in stretches(lines, *whole, budget) if nested else [whole]:
        for start, end, body in _runs(lines, *stretch, budget):
            if body.strip():
                above = keys.above(start) if keys else ""
                text = "\n".join(one for one in (frame.above, above, body, frame.below) if one)
                first = block.start if start == frame.start else start
                yield _Atom(block.kind, first, block.end if end == frame.end else end, text, nested)


def _runs(
    lines: Sequence[str], start: int, end: int, budget: int
) -> Iterator[tuple[int, int, str]]:
    """Runs of lines of at most `budget` characters, and the parts of lines that are longer."""
    body: list[str] = []
    size, first = 0, start
    for index in range(start, end):
        line = lines[index]
        if body and size + len(line) > budget:
            yield first, index, "\n".join(body)
            body, size, first = [], 0, index
        if len(line) > budget:
            yield from ((index, index + 1, part) for part in _slices(line, budget))
            first = index + 1
        else:
            body.append(line)
            size += len(line) + 1
    yield first, end, "\n".join(body)


def _slices(line: str, size: int) -> Iterator[str]:
    """Parts of a line, cut where a reader would: no half of a sentence says what the whole says,
    and no half of a record whose value that is."""
    start = 0
    while len(line) - start > size:
        window = line[start + size // 2 : start + size]
        ends = (next(reversed([m.end() for m in mark.finditer(window)]), 0) for mark in _ENDS)
        end = start + size // 2 + (next(filter(None, ends), 0) or len(window))
        yield line[start:end]
        start = end
    if start < len(line):
        yield line[start:]


def _text(outline: Outline, start: int, end: int) -> str:
    return "\n".join(outline.lines[start:end]).strip("\n").rstrip()


def _chunk(outline: Outline, group: Sequence[_Piece], limits: ChunkLimits) -> ChunkText:
    joint = "\n" if outline.fence is not None else "\n\n"
    text = joint.join(piece.text for piece in group if piece.text)
    if outline.fence is not None:
        text = fenced(text, outline.fence)
    first, last = _ends(outline, group)
    sections = [piece.section for piece in group]
    head = _common([section.path for section in sections])
    return ChunkText(
        head=head,
        heading=_shown(head, sections, limits),
        text=text,
        lines=(outline.line(first), outline.line(last)),
        language=passage_language(text if outline.fence is None else ""),
        stub=any(s.placeholder for s in sections)
        or (all(s.thin for s in sections) and sum(s.words for s in set(sections)) < THIN),
        anchor=outline.anchor(_body(outline, group)) if outline.anchors else "",
    )


def _common(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    levels = takewhile(lambda names: len(set(names)) == 1, zip(*paths, strict=False))
    return tuple(names[0] for names in levels)


def _ends(outline: Outline, group: Sequence[_Piece]) -> tuple[int, int]:
    """The first and the last line of a chunk that are not blank."""
    first, last = group[0].start, group[-1].end - 1
    while first < last and not outline.lines[first].strip():
        first += 1
    while last > first and not outline.lines[last].strip():
        last -= 1
    return first, last


def _shown(
    head: tuple[str, ...], sections: Sequence[Section], limits: ChunkLimits
) -> tuple[str, ...]:
    """The common path, and the names of the sections inside where there are several."""
    names = list(dict.fromkeys(s.path[len(head)] for s in sections if len(s.path) > len(head)))
    if not names:
        return head
    shown = names[0]
    for name in names[1:]:
        if len(shown) + len(name) > limits.names:
            return (*head, shown + " · …")
        shown += " · " + name
    return (*head, shown)


def fenced(text: str, language: str) -> str:
    """`text` as a code block whose fence is longer than any run of backticks inside."""
    mark = "```"
    while mark in text:
        mark += "`"
    return f"{mark}{language}\n{text}\n{mark}"
