"""Canonical Markdown as Telegram shows it: rich, as text with entities, or plain.

Nothing but the Markdown's own structure becomes live: raw HTML is text, links lead to http(s)
only, and words that Telegram would make clickable by itself are code (see inert.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from markdown_it.token import Token

from adapters.markdown import tables
from adapters.markdown.partial import closed
from adapters.markdown.tree import Node, is_web_address, parse, plain
from adapters.telegram.entities import FormattedText, TextBuilder, utf16
from adapters.telegram.inert import without_rings
from adapters.telegram.rich import count_blocks, to_rich, widest_table
from bot.split import split

_MARKS = {"strong": "bold", "em": "italic", "s": "strikethrough"}
_BULLETS = "•◦▪"
_INDENT = "  "
_RULE = "———"


@dataclass(frozen=True, slots=True)
class Limits:
    """Telegram's limits on one message."""

    text_units: int = 4096  # UTF-16, after parsing
    rich_bytes: int = 32_768  # characters by the documentation; bytes are the safe reading
    rich_blocks: int = 500  # list items and table rows count
    rich_columns: int = 20


LIMITS = Limits()


def to_text(markdown: str) -> FormattedText:
    """Text with entities, of any length; empty for Markdown that shows nothing."""
    writer = _Writer()
    writer.blocks(parse(markdown))
    return writer.out.build()


def to_plain(markdown: str) -> str:
    """The words alone, for a server that refuses entities: the same text, marks left out."""
    return without_rings(to_text(markdown).text)


def safe_partial(markdown: str) -> FormattedText:
    """A frame of an answer that is still being written: its open marks count as closed."""
    return to_text(closed(markdown))


def rich_parts(markdown: str, limits: Limits = LIMITS) -> list[str]:
    """Markdown for rich messages, each within the limits. Send with entity detection off."""
    return [to_rich(part) for part in split(markdown, lambda text: _fits_rich(text, limits))]


def text_parts(markdown: str, limits: Limits = LIMITS) -> list[FormattedText]:
    """Text with entities, each part within one message, none empty."""
    parts = split(markdown, lambda text: to_text(text).units <= limits.text_units)
    return [rendered for part in parts if (rendered := to_text(part)).text.strip()]


def plain_parts(markdown: str, limits: Limits = LIMITS) -> list[str]:
    parts = split(markdown, lambda text: utf16(to_plain(text)) <= limits.text_units)
    return [rendered for part in parts if (rendered := to_plain(part)).strip()]


def _fits_rich(markdown: str, limits: Limits) -> bool:
    return (
        len(to_rich(markdown).encode()) <= limits.rich_bytes
        and count_blocks(markdown) <= limits.rich_blocks
    )


def suits_rich(markdown: str, limits: Limits = LIMITS) -> bool:
    """False when a table has more columns than rich messages can: then `text_parts` is right."""
    return widest_table(markdown) <= limits.rich_columns


class _Writer:
    def __init__(self) -> None:
        self.out = TextBuilder()
        self._depth = 0  # of lists

    def blocks(self, nodes: Sequence[Node], gap: str = "\n\n") -> None:
        shown = [node for node in nodes if _shows(node)]
        for before, node in pairwise([None, *shown]):
            if before is not None:
                self.out.add(gap)
            self._block(node)

    def _block(self, node: Node | None) -> None:
        assert node is not None
        writers: dict[str, Callable[[Node], None]] = {
            "heading": self._heading,
            "bullet_list": self._list,
            "ordered_list": self._list,
            "blockquote": self._quote,
            "fence": self._code,
            "code_block": self._code,
            "table": self._table,
            "hr": lambda _: self.out.add(_RULE),
        }
        writers.get(node.type, self._paragraph)(node)

    def _paragraph(self, node: Node) -> None:
        self._inline(node.inline)

    def _heading(self, node: Node) -> None:
        with self.out.covered("bold"):
            self._inline(node.inline)

    def _quote(self, node: Node) -> None:
        with self.out.covered("blockquote"):
            self.blocks(node.children)

    def _code(self, node: Node) -> None:
        with self.out.covered("pre", language=node.language):
            self.out.add(node.content)

    def _list(self, node: Node) -> None:
        number = int(node.token.attrs.get("start", 1))
        indent = _INDENT * self._depth
        bullet = _BULLETS[min(self._depth, len(_BULLETS) - 1)]
        self._depth += 1
        for at, item in enumerate(node.children):
            marker = f"{number + at}." if node.type == "ordered_list" else bullet
            self.out.add(("\n" if at else "") + f"{indent}{marker} ")
            self.blocks(item.children, "\n")
        self._depth -= 1

    def _table(self, node: Node) -> None:
        rows = node.cells()
        texts = [[plain(cell.inline).strip() for cell in row] for row in rows]
        flush = ["right" in str(cell.token.attrs.get("style", "")) for cell in rows[0]]
        linked = any(t.type in ("link_open", "image") for r in rows for c in r for t in c.inline)
        text = "" if linked else tables.aligned(texts, flush)
        if text.strip():
            with self.out.covered("pre"):
                self.out.add(text)
        else:
            self._records(rows)

    def _records(self, rows: Sequence[Sequence[Node]]) -> None:
        head, *records = rows
        if not records:
            self.out.add(" · ".join(plain(cell.inline).strip() for cell in head))
        for at, record in enumerate(records):
            self.out.add("\n\n" if at else "")
            filled = [(name, cell) for name, cell in zip(head, record, strict=True) if cell.inline]
            for line, (name, cell) in enumerate(filled):
                self.out.add("\n" if line else "")
                if name.inline:
                    with self.out.covered("bold"):
                        self._inline(name.inline)
                    self.out.add(": ")
                self._inline(cell.inline)

    def _inline(self, tokens: Sequence[Token]) -> None:
        opened: list[tuple[int, str]] = []
        for token in tokens:
            if token.nesting > 0:
                opened.append((self.out.at, str(token.attrs.get("href", ""))))
            elif token.nesting < 0:
                start, url = opened.pop()
                self._close(token, start, url)
            elif token.type == "code_inline":
                with self.out.covered("code"):
                    self.out.add(token.content)
            elif token.type == "image":
                self._image(token)
            else:
                self.out.add("\n" if token.type.endswith("break") else token.content)

    def _close(self, token: Token, start: int, url: str) -> None:
        kind = token.type.removesuffix("_close")
        if kind in _MARKS:
            self.out.cover(_MARKS[kind], start)
        elif is_web_address(url) and self.out.at > start:
            self.out.cover("text_link", start, url=url)
        elif url:
            self.out.add(f" ({url})" if self.out.at > start else url)

    def _image(self, token: Token) -> None:
        start, url = self.out.at, str(token.attrs.get("src", ""))
        self.out.add(plain(token.children or ()))
        self._close(token, start, url)


def _shows(node: Node) -> bool:
    """Whether a block shows anything: an empty fence or list item is left out."""
    if node.type in ("fence", "code_block"):
        return bool(node.content.strip())
    if node.type in ("hr", "table", "bullet_list", "ordered_list"):
        return True
    return bool(node.inline) or any(_shows(child) for child in node.children)
