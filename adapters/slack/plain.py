"""Canonical Markdown as words alone: for notifications, and for where Slack refuses Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from markdown_it.token import Token

from adapters.markdown.tree import Node, parse, plain
from adapters.slack.inert import controlled
from adapters.slack.render import aligned

_BULLETS = "•◦▪"
_RULE = "———"
_CUT = " …"


def to_plain(markdown: str) -> str:
    """The words without marks. Slack's tokens are still in it: see inert.py."""
    return _blocks(parse(markdown))


def notification(markdown: str, most: int) -> str:
    """The beginning of a text as a phone announces it: no markup, `most` bytes at most."""
    words = " ".join(to_plain(markdown).split())
    if len(controlled(words).encode()) <= most:
        return controlled(words)
    size = most - len(_CUT.encode())
    low, high = 0, len(words)
    while high - low > 1:
        middle = (low + high) // 2
        fits = len(controlled(words[:middle]).encode()) <= size
        low, high = (middle, high) if fits else (low, middle)
    return controlled(words[:low].rstrip()) + _CUT


def _blocks(nodes: Sequence[Node], depth: int = 0, gap: str = "\n\n") -> str:
    return gap.join(text for node in nodes if (text := _block(node, depth)))


def _block(node: Node, depth: int) -> str:
    return _written(node, depth).strip("\n")


def _written(node: Node, depth: int) -> str:
    match node.type:
        case "bullet_list" | "ordered_list":
            return _list(node, depth)
        case "blockquote":
            return _blocks(node.children, depth)
        case "fence" | "code_block":
            return node.content
        case "table":
            return _table(node)
        case "hr":
            return _RULE
        case _:
            return _words(node.inline)


def _list(node: Node, depth: int) -> str:
    number = int(node.token.attrs.get("start", 1))
    bullet = _BULLETS[min(depth, len(_BULLETS) - 1)]
    lines = []
    for at, item in enumerate(node.children):
        marker = f"{number + at}." if node.type == "ordered_list" else bullet
        lines.append(f"{'  ' * depth}{marker} {_blocks(item.children, depth + 1, chr(10))}")
    return "\n".join(lines)


def _table(node: Node) -> str:
    rows = node.cells()
    if text := aligned(rows):
        return text
    head, *records = [[_words(cell.inline) for cell in row] for row in rows]
    if not records:
        return " · ".join(filter(None, head))
    return "\n\n".join(_record(head, record) for record in records)


def _record(head: Sequence[str], record: Sequence[str]) -> str:
    filled = [(name, cell) for name, cell in zip(head, record, strict=True) if cell]
    return "\n".join(f"{name}: {cell}" if name else cell for name, cell in filled)


def _words(tokens: Sequence[Token]) -> str:
    pieces: list[str] = []
    links: list[tuple[int, str]] = []
    for token in tokens:
        if token.type == "link_open":
            links.append((len(pieces), str(token.attrs.get("href", ""))))
        elif token.type == "link_close":
            start, url = links.pop()
            pieces[start:] = [_link("".join(pieces[start:]), url)]
        elif token.type == "image":
            pieces.append(_link(plain(token.children or ()), str(token.attrs.get("src", ""))))
        else:
            pieces.append("\n" if token.type.endswith("break") else token.content)
    return "".join(pieces)


def _link(label: str, url: str) -> str:
    return label if url in ("", label) else f"{label} ({url})".lstrip()
