"""The keys above a line of nested data: without them a port is nobody's, and of no environment."""

from __future__ import annotations

import re
from collections.abc import Sequence

_NESTED = re.compile(r"[ \t>`~]*(?:ya?ml|json[c5]?)\b", re.IGNORECASE)
_LONGEST = 100  # characters of a line that can be a key
_MOST = 400  # characters of all of them
_CLOSING = re.compile(r"[\]})]+,?")


def is_nested(fence: str) -> bool:
    """Whether indentation tells what belongs to what, by the opening line of a fence or the name of
    a language."""
    return _NESTED.match(fence) is not None


def keys_above(lines: Sequence[str], start: int, index: int) -> str:
    """Those of the lines from `start` on that hold the one at `index`, the outermost first; empty
    when they are too long to be repeated."""
    found: list[str] = []
    indent = _indent(lines[index])
    for line in reversed(lines[start:index]):
        if not indent:
            break
        if line.strip() and _indent(line) < indent and not _is_no_key(line):
            indent = _indent(line)
            found.append(line)
    text = "\n".join(reversed(found))
    return text if len(text) <= _MOST and all(len(line) <= _LONGEST for line in found) else ""


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_no_key(line: str) -> bool:
    text = line.strip()
    return text.startswith(("#", "//")) or _CLOSING.fullmatch(text) is not None
