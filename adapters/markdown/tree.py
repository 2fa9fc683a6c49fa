"""Canonical Markdown as a tree of blocks, safe for any text that a model or document holds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.token import Token

from bot.table_rows import mend_tables

# A limit on nesting would drop what lies deeper: too deep text raises RecursionError instead.
_PARSER = MarkdownIt("commonmark", {"html": False, "maxNesting": 1_000_000}).enable(
    ["table", "strikethrough"]
)
# What messengers replace or drop themselves; done here, so that offsets stay right.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
_DIRECTION = re.compile("[\u202a-\u202e\u2066-\u2069]")
_DEEPEST = 60  # levels of quotes and lists
_WEB = re.compile(r"https?://[^\s/?#]+\S*", re.IGNORECASE)


@dataclass(slots=True)
class Node:
    """A block. `inline` are the tokens of its text, for paragraphs, headings and cells."""

    token: Token
    children: list[Node] = field(default_factory=list)
    inline: Sequence[Token] = ()

    @property
    def type(self) -> str:
        return self.token.type.removesuffix("_open")

    @property
    def content(self) -> str:
        """Of code: without the last line break."""
        return self.token.content.removesuffix("\n")

    @property
    def language(self) -> str:
        """Of a fence: the first word after the opening marks, "" when it is no language name."""
        words = self.token.info.split()
        return words[0] if words and re.fullmatch(r"[\w+#.-]{1,32}", words[0]) else ""

    def cells(self) -> list[list[Node]]:
        """Of a table: its rows, the header first."""
        return [row.children for part in self.children for row in part.children]


def parse(markdown: str) -> list[Node]:
    """The outermost blocks. Raw HTML is text. Text nested too deeply is one paragraph."""
    text = _DIRECTION.sub("", markdown.replace("\r\n", "\n").replace("\r", "\n"))
    text = _CONTROL.sub("\ufffd", text)
    try:
        tokens = _PARSER.parse(text)
    except RecursionError:
        return [_verbatim(text)]
    if any(token.level > _DEEPEST for token in tokens):
        return [_verbatim(text)]
    mended = mend_tables(text, tokens)
    return _tree(tokens if mended == text else _PARSER.parse(mended))


def _tree(tokens: Sequence[Token]) -> list[Node]:
    root: list[Node] = []
    open_nodes: list[Node] = []
    for token in tokens:
        if token.nesting < 0:
            open_nodes.pop()
        elif token.type == "inline":
            open_nodes[-1].inline = token.children or ()
        else:
            node = Node(token)
            (open_nodes[-1].children if open_nodes else root).append(node)
            if token.nesting > 0:
                open_nodes.append(node)
    return root


def _verbatim(text: str) -> Node:
    paragraph = Node(Token("paragraph_open", "p", 1))
    paragraph.inline = [Token("text", "", 0, content=text)]
    return paragraph


def plain(inline: Sequence[Token]) -> str:
    """The words of a text without its marks; a line break is a space."""
    pieces = []
    for token in inline:
        if token.type in ("softbreak", "hardbreak"):
            pieces.append(" ")
        else:
            pieces.append(plain(token.children) if token.children else token.content)
    return "".join(pieces)


def is_web_address(url: str) -> bool:
    """Whether a link to `url` may be live: http and https only. Other schemes could mention
    people (`tg://user`) or start something on the reader's device."""
    return bool(_WEB.fullmatch(url))
