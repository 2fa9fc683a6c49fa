"""A document as sections: the text under one heading, with the path of headings above it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from bot.ingest.markdown import Block, Kind, blocks
from graph.text import WORD

THIN = 25  # words; a section with fewer says next to nothing
_MARKED = 60  # words; a longer section is no stub although it says TODO somewhere
_PLACEHOLDER = re.compile(
    r"\b(?:TODO|TBD|TBA|FIXME|WIP)\b"
    r"|\b(?:to be|will be) (?:added|defined|described|documented|determined|written)\b"
    r"|\bcoming soon\b|\bunder construction\b"
    r"|(?i:\b(?:дописать|будет (?:добавлен|дополнен|описан)\w*|в разработке|заполнить позже)\b)"
)


@dataclass(frozen=True, slots=True)
class Section:
    """Lines `start` to `end` (from 0, end excluded), the heading's own lines first.

    `thin`: hardly any words, in its child sections neither. `placeholder`: empty, or says TODO.
    """

    path: tuple[str, ...]
    level: int  # of the heading; 0 before the first one
    start: int
    end: int
    blocks: tuple[Block, ...]
    words: int = 0
    thin: bool = False
    placeholder: bool = False


@dataclass(frozen=True, slots=True)
class Outline:
    """A whole document. `numbers[i]` is the line on disk (from 1) of `lines[i]`.

    `fence` is the language of a document that is all code, such as YAML: every chunk of it is
    shown as a code block. `anchors` and `breaks` are those of bot/ingest/parse.py's Converted.
    """

    lines: tuple[str, ...]
    sections: tuple[Section, ...]
    title: str = ""
    fence: str | None = None
    numbers: tuple[int, ...] = ()
    anchors: tuple[tuple[int, str], ...] = ()
    breaks: tuple[int, ...] = ()

    def page(self, index: int) -> int:
        """How many pages begin at or above a line; 0 for a document without pages."""
        return bisect_right(self.breaks, index)

    def anchor(self, index: int) -> str:
        """The place in the original that a line belongs to."""
        position = bisect_right(self.anchors, index, key=lambda item: item[0])
        return self.anchors[position - 1][1] if position else ""

    def line(self, index: int) -> int:
        if not self.numbers:
            return index + 1
        return self.numbers[min(index, len(self.numbers) - 1)]


def outline(markdown: str, numbers: Sequence[int] = (), *, breaks: Sequence[int] = ()) -> Outline:
    """The sections of a Markdown text; its title is the first top heading. A section that goes
    on after one of the `breaks` is two sections with the same path."""
    lines = tuple(markdown.split("\n"))
    sections: list[Section] = []
    path: list[tuple[int, str]] = []
    current: list[Block] = []
    ends = set(breaks)
    for block in _blocks(markdown, lines, breaks):
        if block.kind is not Kind.HEADING and block.start in ends and _has_body(current):
            _close(sections, path, current)
            current = []
        if block.kind is Kind.HEADING:
            _close(sections, path, current)
            path = [item for item in path if item[0] < block.level]
            path.append((block.level, block.title))
            current = [block]
        else:
            current.append(block)
    _close(sections, path, current)
    title = next((s.path[-1] for s in sections if s.level == 1 and s.path), "")
    return Outline(lines, judge(sections, lines), title, None, tuple(numbers), breaks=tuple(breaks))


def _has_body(current: Sequence[Block]) -> bool:
    return any(block.kind is not Kind.HEADING for block in current)


def _blocks(markdown: str, lines: Sequence[str], breaks: Sequence[int]) -> Iterator[Block]:
    """The blocks of each page, so that none reaches over two."""
    if not breaks:
        yield from blocks(markdown)
        return
    edges = sorted({0, *breaks, len(lines)})
    for start, end in pairwise(edges):
        for block in blocks("\n".join(lines[start:end])):
            yield _moved(block, start)


def _moved(block: Block, by: int) -> Block:
    children = tuple(_moved(child, by) for child in block.children)
    return replace(block, start=block.start + by, end=block.end + by, children=children)


def _close(
    sections: list[Section], path: Sequence[tuple[int, str]], current: Sequence[Block]
) -> None:
    if current:
        level = path[-1][0] if path else 0
        titles = tuple(title for _, title in path if title)
        sections.append(Section(titles, level, current[0].start, current[-1].end, tuple(current)))


def judge(sections: Sequence[Section], lines: Sequence[str]) -> tuple[Section, ...]:
    """The sections with their word counts and stub flags; a parent is judged with its children."""
    judged: list[Section] = []
    for section in reversed(sections):
        body = "\n".join(
            "\n".join(lines[block.start : block.end])
            for block in section.blocks
            if block.kind is not Kind.HEADING
        )
        words = len(WORD.findall(body))
        marked = words < _MARKED and _PLACEHOLDER.search(body) is not None
        thin = words < THIN or marked
        placeholder = marked or (words == 0 and section.level > 0)
        children = _children(section, judged)
        judged.append(
            replace(
                section,
                words=words,
                thin=thin and all(child.thin for child in children),
                placeholder=placeholder and all(child.placeholder for child in children),
            )
        )
    return tuple(reversed(judged))


def _children(section: Section, later: Sequence[Section]) -> list[Section]:
    """The sections below `section`; `later` holds what follows it, the next one last."""
    found: list[Section] = []
    for other in reversed(later):
        if section.level == 0 or other.level <= section.level:
            break
        found.append(other)
    return found
