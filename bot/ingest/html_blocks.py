"""Blocks of HTML inside Markdown: tables, lists and listings as Markdown, the rest as it stands.

People write them for merged cells and line breaks in cells. As tags nothing of them can be quoted:
a row has to be a row with the names of its columns.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from bot.ingest.markdown import code_lines
from bot.ingest.origins import origins

_OPEN = re.compile(r"^[ \t]*<(table|pre|ul|ol|dl)\b[^<>]*>", re.IGNORECASE | re.MULTILINE)
_FENCE = re.compile(r"^[ \t>]*(?:`{3,}|~{3,})", re.MULTILINE)
_HEADING = re.compile(
    r"^[ ]{0,3}<h([1-6])\b[^<>]*>([^\n]*[^<>\s][^\n]*)</h\1\s*>[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_TAGS = re.compile(r"</?[a-z][^<>]*>", re.IGNORECASE)
_LINE_END = re.compile(r"[ \t]*$", re.MULTILINE)
_NO_TAG = re.compile(  # `<host>` is what a reader fills in
    r"<(?=/?[a-z])(?!/?(?:a|b|br|caption|code|col|colgroup|dd|del|div|dl|dt|em|i|img|ins|kbd|li|ol"
    r"|p|pre|s|samp|small|span|strong|sub|sup|table|tbody|td|tfoot|th|thead|tr|tt|u|ul|var)\b)",
    re.IGNORECASE,
)
_LONGEST = 200_000  # characters of one block

Convert = Callable[[str], str]


def plain_blocks(markdown: str, convert: Convert) -> tuple[str, tuple[int, ...]]:
    """`markdown` with its blocks of HTML as `convert` reads them, and for each line of it the line
    (from 1) where that was; no numbers when nothing changed."""
    markdown = _with_headings(markdown)
    if _OPEN.search(markdown) is None:
        return markdown, ()
    lines = markdown.split("\n")
    found: list[str] = []
    numbers: list[int] = []
    position = 0
    for start, end in _blocks(markdown):
        block = lines[start:end]
        read = ["", *convert(_NO_TAG.sub("&lt;", "\n".join(block))).strip("\n").split("\n"), ""]
        indent = block[0][: len(block[0]) - len(block[0].lstrip())]
        found += [*lines[position:start], *(indent + line if line else "" for line in read)]
        numbers += range(position + 1, start + 1)
        numbers += [start + number for number in origins(read, block, 0)]
        position = end
    found += lines[position:]
    numbers += range(position + 1, len(lines) + 1)
    return "\n".join(found), tuple(numbers) if position else ()


def _with_headings(markdown: str) -> str:
    """`<h2 align="center">Restart</h2>` opens a section as `## Restart` does."""
    if _HEADING.search(markdown) is None:
        return markdown
    code = code_lines(markdown)
    return "\n".join(
        line if index in code else _HEADING.sub(_heading, line)
        for index, line in enumerate(markdown.split("\n"))
    )


def _heading(match: re.Match[str]) -> str:
    return f"{'#' * int(match[1])} {_TAGS.sub('', match[2]).strip()}"


def _blocks(markdown: str) -> Iterator[tuple[int, int]]:
    """First line and the one behind the last of each block that ends with its own line."""
    code = code_lines(markdown)
    position = start = counted = 0
    for match in _OPEN.finditer(markdown):
        start += markdown.count("\n", counted, match.end())
        counted = match.end()
        if match.start() < position or start in code:
            continue
        position, closed = _end(markdown, match)
        alone = closed and _LINE_END.match(markdown, position)
        if alone and not _FENCE.search(markdown, match.start(), position):
            yield start, start + markdown.count("\n", counted, position) + 1


def _end(markdown: str, opening: re.Match[str]) -> tuple[int, bool]:
    """Behind the tag that closes the block, or how far none does; blocks of its own kind may lie
    inside."""
    depth = 0
    limit = min(len(markdown), opening.start() + _LONGEST)
    tags = re.compile(rf"<(/?){opening[1]}\b[^<>]*>", re.IGNORECASE)
    for tag in tags.finditer(markdown, opening.start(), limit):
        depth += -1 if tag[1] else 1
        if depth == 0:
            return tag.end(), True
    return limit, False
