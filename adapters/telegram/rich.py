"""Markdown for Telegram's rich messages, written anew so that only its structure is live.

Rich Markdown knows more than CommonMark (HTML tags, `$math$`, `||spoilers||`, `==marks==`,
footnotes). Every sign that could start any of it is escaped; what is left is what the canonical
Markdown meant. To be sent with `skip_entity_detection`, so that mentions, commands and file names
stay text; whole web addresses become links here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from markdown_it.token import Token

from adapters.markdown.layout import code_span, fenced, prefixed
from adapters.markdown.tree import Node, is_web_address, parse, plain

_SPECIAL = re.compile(r"[\\`*_\[\]<>&|~$^]|=(?==)|(?<==)=")
_STARTER = re.compile(r"(?m)^([ \t]*)([-+:=#])")
_BARE_PIPE = re.compile(r"(?<!\\)\|")  # inside a code span of a cell
_NUMBER = re.compile(r"(?m)^([ \t]*\d{1,9})([.)])")
_ADDRESS = re.compile(r"https?://[^\s<>\"`]+[^\s<>\"`.,:;!?)\]}'»”]", re.IGNORECASE)
_TARGET = re.compile(r"[\\()<>|`$]")  # what could end or change the target of a link
_REFERENCE = re.compile(r"&(?=#?\w+;)")
_MARKS = {"strong": "**", "em": "*", "s": "~~"}
_RULES = {"text-align:right": "--:", "text-align:center": ":-:", "text-align:left": ":--"}
_BREAK = "  \n"  # a plain line break would show as a space


def to_rich(markdown: str) -> str:
    """The same text as rich Markdown; "" for Markdown that shows nothing."""
    return _blocks(parse(markdown))


def count_blocks(markdown: str) -> int:
    """How many blocks Telegram counts: list items and table rows are blocks too."""
    return sum(_count(node) for node in parse(markdown))


def widest_table(markdown: str) -> int:
    """Columns of the widest table, 0 without one."""
    tables = (node for node in _all(parse(markdown)) if node.type == "table")
    return max((len(table.cells()[0]) for table in tables), default=0)


def _all(nodes: Sequence[Node]) -> Iterator[Node]:
    for node in nodes:
        yield node
        yield from _all(node.children)


def _count(node: Node) -> int:
    return 1 + sum(_count(child) for child in node.children if child.type not in ("th", "td"))


def _blocks(nodes: Sequence[Node]) -> str:
    written = [text for node in nodes if (text := _block(node))]
    return "\n\n".join(written)


def _block(node: Node) -> str:
    writers: dict[str, Callable[[Node], str]] = {
        "heading": _heading,
        "bullet_list": _list,
        "ordered_list": _list,
        "blockquote": _quote,
        "fence": _code,
        "code_block": _code,
        "table": _table,
        "hr": lambda _: "***",  # "- ---" would be a rule and no list item
    }
    return writers.get(node.type, _paragraph)(node)


def _paragraph(node: Node) -> str:
    return _inline(node.inline)


def _heading(node: Node) -> str:
    return f"{'#' * int(node.token.tag[1:])} {_line(node)}"


def _quote(node: Node) -> str:
    return prefixed(_blocks(node.children), "> ", "> ")


def _line(node: Node) -> str:
    return _inline(node.inline).replace(_BREAK, " ")


def _code(node: Node) -> str:
    return fenced(node.content, node.language)


def _list(node: Node) -> str:
    number = int(node.token.attrs.get("start", 1))
    items = []
    for at, item in enumerate(node.children):
        marker = f"{number + at}. " if node.type == "ordered_list" else "- "
        items.append(prefixed(_tight(item.children), marker, " " * len(marker)))
    return "\n".join(items)


def _tight(nodes: Sequence[Node]) -> str:
    """The blocks of a list item; a list in it follows its text without an empty line."""
    text = ""
    for node in nodes:
        if block := _block(node):
            gap = "\n" if node.type == "bullet_list" else "\n\n"
            text += (gap if text else "") + block
    return text


def _table(node: Node) -> str:
    head, *rows = node.cells()
    rule = [_RULES.get(str(cell.token.attrs.get("style", "")), "---") for cell in head]
    return "\n".join([_row(map(_cell, head)), _row(rule), *(_row(map(_cell, row)) for row in rows)])


def _cell(node: Node) -> str:
    return _BARE_PIPE.sub(r"\\|", _line(node))


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _inline(tokens: Sequence[Token]) -> str:
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
            pieces[start:] = [_link("".join(pieces[start:]), url)]
        else:
            pieces.append(_leaf(token, linked=bool(links)))
    return _at_line_starts("".join(pieces))


def _leaf(token: Token, *, linked: bool) -> str:
    if token.type.endswith("break"):
        return _BREAK
    if token.type == "code_inline":
        return code_span(token.content)
    if token.type == "image":
        return _link(_escaped(plain(token.children or ())), str(token.attrs.get("src", "")))
    return _escaped(token.content) if linked else _with_addresses(token.content)


def _link(label: str, url: str) -> str:
    if is_web_address(url):
        return f"[{label or _escaped(url)}]({_target(url)})"
    return f"{label} ({_escaped(url)})" if label and url else label or _escaped(url)


def _target(url: str) -> str:
    encoded = _TARGET.sub(lambda match: f"%{ord(match.group()):02X}", url)
    return _REFERENCE.sub(r"\\&", encoded)


def _with_addresses(text: str) -> str:
    pieces, end = [], 0
    for match in _ADDRESS.finditer(text):
        pieces += [_escaped(text[end : match.start()]), _link("", match.group())]
        end = match.end()
    return "".join([*pieces, _escaped(text[end:])])


def _escaped(text: str) -> str:
    return _SPECIAL.sub(lambda match: "\\" + match.group(), text)


def _at_line_starts(text: str) -> str:
    """Signs that would start a list, a rule or a definition at the start of a line."""
    text = _STARTER.sub(r"\1\\\2", text)
    return _NUMBER.sub(r"\1\\\2", text)
