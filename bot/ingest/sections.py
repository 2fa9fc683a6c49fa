"""A document as sections: the text under one heading, with the path of headings above it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

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
    shown as a code block.
    """

    lines: tuple[str, ...]
    sections: tuple[Section, ...]
    title: str = ""
    fence: str | None = None
    numbers: tuple[int, ...] = ()

    def line(self, index: int) -> int:
        if not self.numbers:
            return index + 1
        return self.numbers[min(index, len(self.numbers) - 1)]


def outline(markdown: str, numbers: Sequence[int] = ()) -> Outline:
    """The sections of a Markdown text; its title is the first top heading."""
    lines = tuple(markdown.split("\n"))
    sections: list[Section] = []
    path: list[tuple[int, str]] = []
    current: list[Block] = []
    for block in blocks(markdown):
        if block.kind is Kind.HEADING:
            _close(sections, path, current)
            path = [item for item in path if item[0] < block.level]
            path.append((block.level, block.title))
            current = [block]
        else:
            current.append(block)
    _close(sections, path, current)
    title = next((s.path[-1] for s in sections if s.level == 1 and s.path), "")
    return Outline(lines, judge(sections, lines), title, None, tuple(numbers))


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
