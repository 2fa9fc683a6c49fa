"""End tags that HTML lets a page leave out, put where a browser takes them to be.

Python's parser nests instead: the second item of a list would be a part of the first, and a table
one long row. See HTML, 13.1.2.4 "Optional tags".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_CELLS = frozenset({"td", "th"})
_GROUPS = frozenset({"thead", "tbody", "tfoot"})
_LISTS = frozenset({"ul", "ol", "menu", "dl"})
_TERMS = frozenset({"dt", "dd"})
_BLOCKS = frozenset({
    "div", "blockquote", "section", "article", "main", "aside", "nav", "header", "footer",
    "details", "figure", "form", "fieldset", "table", *_LISTS,
})  # fmt: skip
_ENDS_PARAGRAPH = _BLOCKS | {"p", "pre", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "address"}
_ENDED_BY = {
    "li": frozenset({"li"}),
    "tr": _CELLS | {"tr"},
    **dict.fromkeys(_CELLS, _CELLS),
    **dict.fromkeys(_GROUPS, _GROUPS | _CELLS | {"tr"}),
    **dict.fromkeys(_TERMS, _TERMS),
}
"""What an opening tag ends, with all that is open inside."""

_WITHIN = {
    "li": _LISTS | _CELLS,
    **dict.fromkeys(_CELLS, frozenset({"tr", "table"})),
    **dict.fromkeys(_TERMS, _LISTS | _CELLS),
}
_TABLE = frozenset({"table"})
"""What holds an element: nothing outside of it is ended."""

_DEEPEST = 100  # elements inside others; what is nested deeper is not read by its form anyway
_NAMES = "|".join(sorted(_ENDS_PARAGRAPH | _ENDED_BY.keys(), key=len, reverse=True))
_NO_DECLARATION = re.compile(r"<!(?!--|\[(?:CDATA\[|(?:if|else|endif)\b)|doctype\b)", re.IGNORECASE)
_TAG = re.compile(rf"<!--|<(?P<raw>script|style|textarea)\b|<(?P<end>/?)(?P<name>{_NAMES})"
                  r"(?=[\s>/])[^<>]*>", re.IGNORECASE)  # fmt: skip


def closed(page: str) -> str:
    """`page` with these end tags; lines keep their numbers.

    A declaration that HTML does not know is text: Python's parser gives the page up.
    """
    page = _NO_DECLARATION.sub("&lt;!", page)
    written: list[str] = []
    stack: list[str] = []
    position = 0
    for tag in _tags(page):
        name = tag["name"].lower()
        if tag["end"]:
            _left(stack, name)
            continue
        written += [page[position : tag.start()], *(f"</{one}>" for one in _ended(stack, name))]
        position = tag.start()
        if name in _BLOCKS or name in _ENDED_BY or name == "p":
            stack.append(name)
    return "".join((*written, page[position:]))


def _tags(page: str) -> Iterator[re.Match[str]]:
    """The tags that count here, outside of comments and scripts."""
    position = 0
    unclosed: set[str] = set()
    while match := _TAG.search(page, position):
        position = match.end()
        if match["name"]:
            yield match
            continue
        close = f"</{match['raw'].lower()}" if match["raw"] else "-->"
        if close in unclosed:
            continue
        found = re.compile(re.escape(close), re.IGNORECASE).search(page, position)
        if found is None:
            unclosed.add(close)
        else:
            position = found.end()


def _ended(stack: list[str], name: str) -> list[str]:
    """The elements that an opening tag ends, inner first; they leave the stack."""
    ended: list[str] = []
    if stack and stack[-1] == "p" and name in _ENDS_PARAGRAPH:
        ended.append(stack.pop())
    closers = _ENDED_BY.get(name, frozenset())
    holders = _WITHIN.get(name, _TABLE)
    depth = len(stack)
    lowest = depth
    least = max(0, depth - _DEEPEST)
    while closers and depth > least and stack[depth - 1] not in holders:
        depth -= 1
        lowest = depth if stack[depth] in closers else lowest
    ended += reversed(stack[lowest:])
    del stack[lowest:]
    return ended


def _left(stack: list[str], name: str) -> None:
    """An end tag ends what is open inside its element."""
    if name in stack[-_DEEPEST:]:
        while stack.pop() != name:
            pass
