"""How much of a text that is still being written can be shown for good.

A stream only ever grows. So open marks, links and tables wait for their end, and the last word for
what follows it: white space at the start of an addition may be dropped on the way.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from adapters.markdown.partial import closed
from adapters.markdown.tree import Node, parse
from adapters.slack.render import to_slack

_TRIES = 64  # places looked at, from the end, where no mark is open
_MARKS_ALONE = re.compile(r"(?<![^\n])[\s>]*(?:[-=+*#]+|\d+[.)])?[\s>]*\Z")  # a line that begins
_CLOSING = re.compile(r"\n[ >]*`{3,}\Z")
_FENCES = frozenset({"fence", "code_block"})


def grown(markdown: str, trusted: Collection[str] = ()) -> str:
    """The beginning of the text, as Slack's Markdown, that more text will not change."""
    text, in_code = _settled(markdown)
    shown = to_slack(text, trusted)
    if in_code:
        shown = _CLOSING.sub("\n", shown)  # it may go on
    return shown[: len(shown) - len(re.split(r"\s", shown)[-1])]


def _settled(markdown: str) -> tuple[str, bool]:
    """The part of the source that is settled, and whether it ends in code."""
    nodes = parse(markdown)
    if not nodes or nodes[-1].token.map is None:
        return "", False
    lines = markdown.split("\n")
    start = nodes[-1].token.map[0]
    head, last = "\n".join(lines[:start]), "\n".join(lines[start:])
    before = head + "\n" if start else ""
    if _innermost(nodes[-1]).type in _FENCES:
        return (before + last.rpartition("\n")[0], True) if "\n" in last else (head, False)
    if nodes[-1].type == "table" or "|" in last.rstrip().rpartition("\n")[2]:
        return head, False
    return before + _closed_beginning(last), False


def _innermost(node: Node) -> Node:
    while node.children and node.type != "table":
        node = node.children[-1]
    return node


def _closed_beginning(text: str) -> str:
    """Up to the last white space outside of all marks."""
    places = [match.end() for match in re.finditer(r"\s+", text)][-_TRIES:]
    for place in reversed(places):
        beginning = _MARKS_ALONE.sub("", text[:place])
        if closed(beginning).rstrip() == beginning.rstrip():
            return beginning
    return ""
