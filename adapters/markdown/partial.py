"""Markdown that breaks off: the marks that are still open at its end, closed."""

from __future__ import annotations

import re

_FENCE = re.compile(r"[ >]*(`{3,}|~{3,})")
_TOKEN = re.compile(r"\\.|`+|\*+|~~|(?<!\w)__?|__?(?!\w)", re.DOTALL)
_OPEN_LINK = re.compile(r"!?\[([^\]\n]*)(?:\]\([^)\s]*)?\Z")


def closed(markdown: str) -> str:
    """The text with its open code, bold, italic and struck passages closed.

    An open fence is closed by the end of the text itself. A link without its end shows as its
    label, and marks that nothing follows yet are left out.
    """
    head, last = _last_paragraph(markdown)
    if _in_fence(markdown):
        return markdown
    link = _OPEN_LINK.search(last)
    if link and not link[1].isdigit():
        last = last[: link.start()] + link[1]
    opened = _opened(last)
    if opened:
        trimmed = last.rstrip()
        if trimmed.endswith(opened[-1]):
            return head + _without_end(trimmed, opened)
        last = trimmed
    return head + last + "".join(reversed(opened))


def _without_end(text: str, opened: list[str]) -> str:
    while opened and text.rstrip().endswith(opened[-1]):
        text = text.rstrip().removesuffix(opened.pop())
    return text.rstrip() + "".join(reversed(opened))


def _last_paragraph(markdown: str) -> tuple[str, str]:
    start = max(markdown.rfind("\n\n") + 2, 0) if "\n\n" in markdown else 0
    return markdown[:start], markdown[start:]


def _in_fence(markdown: str) -> bool:
    fence = ""
    for line in markdown.split("\n"):
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence) and line.strip(" >`~") == "":
            fence = ""
    return bool(fence)


def _opened(text: str) -> list[str]:
    """The marks that are open at the end of a paragraph, outermost first."""
    stack: list[str] = []
    for match in _TOKEN.finditer(text):
        mark = match.group()
        if mark.startswith("\\"):
            continue
        if stack and stack[-1].startswith("`"):
            if mark == stack[-1]:
                stack.pop()
        elif mark in stack:
            del stack[stack.index(mark) :]
        elif _can_open(text, match):
            stack.append(mark)
    return stack


def _can_open(text: str, match: re.Match[str]) -> bool:
    """A mark before white space is a star, not the start of bold text; at the end it may be one."""
    following = text[match.end() : match.end() + 1]
    return match.group().startswith("`") or not following.isspace()
