"""The block structure of a Markdown text: what may be cut, and where.

markdown-it-py gives the line ranges. Blocks partition the text, so no line between two tokens
(blank lines, link definitions) is ever lost. Only the block rules run: inline markup has no say
in where a text may be cut, and it is what makes parsing slow on hostile input.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.token import Token


class Kind(StrEnum):
    PROSE = "prose"
    HEADING = "heading"
    FENCE = "fence"
    TABLE = "table"
    CONTAINER = "container"  # lists, list items, quotations: cut between their children
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Block:
    """Lines `start` to `end` (from 0, end excluded). `level` and `title` belong to headings."""

    kind: Kind
    start: int
    end: int
    children: tuple[Block, ...] = ()
    level: int = 0
    title: str = ""


_KINDS = {
    "paragraph_open": Kind.PROSE,
    "heading_open": Kind.HEADING,
    "fence": Kind.FENCE,
    "code_block": Kind.OTHER,
    "table_open": Kind.TABLE,
    "bullet_list_open": Kind.CONTAINER,
    "ordered_list_open": Kind.CONTAINER,
    "list_item_open": Kind.CONTAINER,
    "blockquote_open": Kind.CONTAINER,
    "html_block": Kind.OTHER,
    "hr": Kind.OTHER,
}

_COMMENT_OR_CODE = re.compile(
    r"(?P<code>(?<!`)(`{1,3})(?!`)(?:(?!\n[ \t]*\n)[^`]){1,2000}?\2(?!`))"
    r"|(?P<comment><!--.*?-->)"
    r"|(?P<shortcode>\{\{[<%][^{}\n]{0,2000}[>%]\}\})",
    re.DOTALL,
)
_REFERENCE = re.compile(r"""\{\{[<%]\s*(?:rel)?ref\s+["']?([^"'\s>%]+)""")
_ANCHOR = re.compile(r"\s*\{#[\w.-]+\}\s*$")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_MARKUP = re.compile(r"(?<!\\)(?:\*\*|__|`+|~~)|(?<![\w\\])[*_](?=\S)|(?<=\S)[*_](?!\w)")


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def parse(text: str) -> list[Token]:
    """The block tokens of `text`."""
    return _parser().parse(text)


def blocks(text: str) -> tuple[Block, ...]:
    """The top-level blocks of `text`, which together hold each of its lines."""
    tokens = [token for token in parse(text) if token.map or token.type == "inline"]
    tree, _ = _read(tokens, 0, 0)
    lines = text.count("\n") + 1
    return _partition(tree, 0, lines)


def _read(tokens: Sequence[Token], index: int, level: int) -> tuple[list[Block], int]:
    """The blocks at nesting `level` from `index` on, and the index of the first token above it."""
    found: list[Block] = []
    while index < len(tokens) and tokens[index].level >= level:
        token = tokens[index]
        kind = _KINDS.get(token.type)
        if kind is None or token.level > level or token.map is None:
            index += 1
            continue
        start, end = token.map
        children: list[Block] = []
        title = ""
        if kind is Kind.CONTAINER:
            children, following = _read(tokens, index + 1, level + 1)
        else:
            following = index + 1
            if kind is Kind.HEADING:
                title = plain_title(tokens[following].content)
        depth = int(token.tag[1]) if kind is Kind.HEADING else 0
        found.append(Block(kind, start, end, tuple(children), depth, title))
        index = following
    return found, index


def _partition(tree: Sequence[Block], start: int, end: int) -> tuple[Block, ...]:
    """The same blocks, widened so that they cover `start` to `end` without gaps."""
    covered: list[Block] = []
    for position, block in enumerate(tree):
        first = start if position == 0 else block.start
        last = tree[position + 1].start if position + 1 < len(tree) else end
        children = _partition(block.children, first, last) if block.children else ()
        covered.append(Block(block.kind, first, last, children, block.level, block.title))
    return tuple(covered) or (Block(Kind.PROSE, start, end),)


def code_lines(text: str) -> frozenset[int]:
    """The lines (from 0) of the code blocks of `text`."""
    return frozenset(
        line
        for token in parse(text)
        if token.map and token.type in ("fence", "code_block")
        for line in range(*token.map)
    )


def plain_title(text: str) -> str:
    """A heading as people read it: no emphasis, no code ticks, links by their text."""
    text = _LINK.sub(r"\1", _ANCHOR.sub("", text))
    return " ".join(_MARKUP.sub("", text).replace("\\", "").split())


def without_comments(text: str) -> str:
    """`text` without HTML comments and Hugo shortcodes outside code; its line numbers stay.

    A `ref` shortcode is a link target, so its path remains.
    """
    if "<!--" not in text and "{{" not in text:
        return text
    lines = text.split("\n")
    code = [
        (token.map[0], token.map[1])
        for token in parse(text)
        if token.map and token.type in ("fence", "code_block")
    ]
    parts: list[str] = []
    position = 0
    for start, end in [*code, (len(lines), len(lines))]:
        if start > position:
            parts.append(_strip("\n".join(lines[position:start])))
        if end > start:
            parts.append("\n".join(lines[start:end]))
        position = max(position, end)
    return "\n".join(parts)


def _strip(text: str) -> str:
    if "-->" not in text:
        text = text.replace("<!--", "<\x00!--")  # never closed: text, and no search to the end
    return _COMMENT_OR_CODE.sub(_kept, text).replace("<\x00!--", "<!--")


def _kept(match: re.Match[str]) -> str:
    if match.group("code") is not None:
        return match.group()
    reference = _REFERENCE.match(match.group())
    if reference is not None:
        return reference.group(1)
    return "\n" * match.group().count("\n")
