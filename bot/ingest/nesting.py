"""The keys above a line of nested data: without them a port is nobody's, and of no environment."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

_NESTED = re.compile(r"[ \t>`~]*(?:ya?ml|json[c5]?)\b", re.IGNORECASE)
_LONGEST = 100  # characters of a line that can be a key
_MOST = 400  # characters of all of them
_DEPTH = 20  # keys inside keys; what is deeper is cut by its size
_TWO = 2  # lines: fewer are not taken apart
_CLOSING = re.compile(r"[\]})]+,?")


def is_nested(fence: str) -> bool:
    """Whether indentation tells what belongs to what, by the opening line of a fence or the name of
    a language."""
    return _NESTED.match(fence) is not None


class Keys:
    """What holds each line of a stretch, read once from top to bottom."""

    def __init__(self, lines: Sequence[str], start: int, end: int) -> None:
        self._lines = lines
        self._holders: dict[int, int] = {}
        opened: list[int] = []
        for at in range(start, end):
            line = lines[at]
            if not line.strip():
                continue
            while opened and _indent(lines[opened[-1]]) >= _indent(line):
                opened.pop()
            if opened:
                self._holders[at] = opened[-1]
            if not _is_no_key(line):
                opened.append(at)

    def above(self, index: int) -> str:
        """The lines that hold the one at `index`, the outermost first; empty when they are too
        long to be repeated."""
        found: list[str] = []
        holder = self._holders.get(index)
        while holder is not None:
            found.append(self._lines[holder])
            holder = self._holders.get(holder)
        text = "\n".join(reversed(found))
        return text if len(text) <= _MOST and all(len(line) <= _LONGEST for line in found) else ""


def stretches(
    lines: Sequence[str], start: int, end: int, budget: int, depth: int = 0
) -> Iterator[tuple[int, int]]:
    """Stretches of at most `budget` characters, or of one line, that hold what belongs together:
    what is cut inside shares no stretch with what comes after it."""
    if end - start < _TWO or depth == _DEPTH or _size(lines, start, end) <= budget:
        yield start, end
        return
    first = start
    for child, behind in _children(lines, start, end):
        if _size(lines, first, behind) <= budget:
            continue
        if first < child:
            yield first, child
        first = child
        if _size(lines, child, behind) > budget:
            yield from _within(lines, child, behind, budget, depth + 1)
            first = behind
    if first < end:
        yield first, end


def _within(
    lines: Sequence[str], start: int, end: int, budget: int, depth: int
) -> Iterator[tuple[int, int]]:
    """The stretches of what a key holds, the first of them with the key."""
    first = start
    left = max(budget - len(lines[start]), budget // 2)
    for _, behind in stretches(lines, start + 1, end, left, depth):
        yield first, behind
        first = behind


def _children(lines: Sequence[str], start: int, end: int) -> list[tuple[int, int]]:
    """From each line that is indented least to the next of them."""
    keys = [at for at in range(start, end) if lines[at].strip() and not _is_no_key(lines[at])]
    least = min((_indent(lines[at]) for at in keys), default=0)
    heads = [start, *(at for at in keys if at > start and _indent(lines[at]) == least)]
    return list(pairwise((*heads, end)))


def _size(lines: Sequence[str], start: int, end: int) -> int:
    return sum(len(line) + 1 for line in lines[start:end])


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_no_key(line: str) -> bool:
    text = line.strip()
    return text.startswith(("#", "//")) or _CLOSING.fullmatch(text) is not None
