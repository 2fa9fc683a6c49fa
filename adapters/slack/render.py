"""Canonical Markdown as Slack's markdown blocks and streams take it, and as plain words.

Slack reads standard Markdown there, and its own tokens besides: see inert.py. Two things differ:
links lead only where the program vouches for, and tables are aligned in code or listed row by row,
because Slack takes a single table block a message, and none in a stream.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from markdown_it.token import Token

from adapters.markdown import tables
from adapters.markdown.layout import code_span, fenced, prefixed
from adapters.markdown.tree import Node, is_web_address, parse, plain
from adapters.slack.inert import address_text, at_line_starts, broken, escaped, prose, target

_WIDTH = 72  # columns of code that a window beside the channel list shows without wrapping
_BREAK = "  \n"
_MARKS = {"strong": "**", "em": "*", "s": "~~"}
_RULE = "***"  # "- ---" would be a rule and no list item


class _Every(Collection[str]):
    """All web addresses there are."""

    def __contains__(self, address: object) -> bool:
        return isinstance(address, str) and is_web_address(address)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


_EVERY = _Every()


def to_slack(markdown: str, trusted: Collection[str] = ()) -> str:
    """The same text as Slack's Markdown; "" for Markdown that shows nothing. `trusted` are the web
    addresses that may be links."""
    return _Writer(trusted).blocks(parse(markdown))


def measured(markdown: str) -> tuple[int, int]:
    """How long the text may get as Slack's Markdown, in UTF-16 units, and how many blocks Slack
    may make of it; both whatever may be a link."""
    nodes = parse(markdown)
    longest = _Writer(_EVERY).blocks(nodes)
    # An address as code behind its label takes a sign more than a link.
    return len(longest.encode("utf-16-le")) // 2 + longest.count("]("), len(nodes)


class _Writer:
    def __init__(self, trusted: Collection[str]) -> None:
        self._trusted = trusted

    def blocks(self, nodes: Sequence[Node]) -> str:
        return "\n\n".join(text for node in nodes if (text := self._block(node)))

    def _block(self, node: Node) -> str:
        writers: dict[str, Callable[[Node], str]] = {
            "heading": self._heading,
            "bullet_list": self._list,
            "ordered_list": self._list,
            "blockquote": lambda quote: prefixed(self.blocks(quote.children), "> ", "> "),
            "fence": _code,
            "code_block": _code,
            "table": self._table,
            "hr": lambda _: _RULE,
        }
        return writers.get(node.type, self._paragraph)(node)

    def _paragraph(self, node: Node) -> str:
        return at_line_starts(self._inline(node.inline))

    def _heading(self, node: Node) -> str:
        text = self._line(node)
        return f"{'#' * int(node.token.tag[1:])} {text}" if text else ""

    def _line(self, node: Node) -> str:
        return self._inline(node.inline).replace(_BREAK, " ").replace("\n", " ").strip()

    def _list(self, node: Node) -> str:
        number = int(node.token.attrs.get("start", 1))
        items = []
        for at, item in enumerate(node.children):
            marker = f"{number + at}. " if node.type == "ordered_list" else "- "
            text = self._tight(item.children)
            items.append(prefixed(text, marker, " " * len(marker)).rstrip(" "))
        return "\n".join(items)

    def _tight(self, nodes: Sequence[Node]) -> str:
        """The blocks of a list item; a list in it follows its text without an empty line."""
        text = ""
        for node in nodes:
            if block := self._block(node):
                gap = "\n" if node.type.endswith("_list") else "\n\n"
                text += (gap if text else "") + block
        return text

    def _table(self, node: Node) -> str:
        rows = node.cells()
        if text := aligned(rows):
            return fenced(broken(text))
        head, *records = rows
        if not records:
            return at_line_starts(" · ".join(filter(None, map(self._line, head))))
        return "\n".join(self._record(head, record) for record in records)

    def _record(self, head: Sequence[Node], record: Sequence[Node]) -> str:
        lines = [
            f"{_bold(self._line(name))}{self._line(cell)}"
            for name, cell in zip(head, record, strict=True)
            if cell.inline
        ]
        return prefixed(_BREAK.join(lines), "- ", "  ").rstrip(" ")

    def _inline(self, tokens: Sequence[Token]) -> str:
        pieces: list[str] = []
        links: list[tuple[int, str]] = []
        for token in tokens:
            kind, _, side = token.type.rpartition("_")
            if kind in _MARKS and side in ("open", "close"):
                pieces.append(_MARKS[kind])
            elif token.type == "link_open":
                links.append((len(pieces), str(token.attrs.get("href", ""))))
            elif token.type == "link_close":
                start, url = links.pop()
                pieces[start:] = [self._link("".join(pieces[start:]), url)]
            else:
                pieces.append(self._leaf(token, linked=links[-1][1] if links else ""))
        return "".join(pieces)

    def _leaf(self, token: Token, *, linked: str) -> str:
        match token.type:
            case "softbreak":
                return "\n"
            case "hardbreak":
                return _BREAK
            case "code_inline":
                return code_span(broken(token.content))
            case "image":
                label = escaped(plain(token.children or ()))
                return self._link(label, str(token.attrs.get("src", "")))
        if linked in self._trusted:
            return escaped(token.content)
        return prose(token.content, self._trusted)

    def _link(self, label: str, url: str) -> str:
        if not url:
            return label
        if url in self._trusted:
            return f"[{label or escaped(url)}]({target(url)})"
        shown = address_text(url, ()) if is_web_address(url) else code_span(broken(url))
        return shown if label in ("", shown) else f"{label} ({shown})"


def _code(node: Node) -> str:
    return fenced(broken(node.content), node.language)


def _bold(name: str) -> str:
    return f"**{name}:** " if name else ""


def aligned(rows: Sequence[Sequence[Node]]) -> str:
    """A table in columns of one width; "" when it is too wide or has links."""
    if any(t.type in ("link_open", "image") for row in rows for cell in row for t in cell.inline):
        return ""
    texts = [[plain(cell.inline).strip() for cell in row] for row in rows]
    flush = ["right" in str(cell.token.attrs.get("style", "")) for cell in rows[0]]
    return tables.aligned(texts, flush, _WIDTH)
