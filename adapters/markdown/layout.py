"""Pieces of Markdown that every dialect writes alike."""

from __future__ import annotations

import re


def prefixed(text: str, first: str, others: str) -> str:
    """The lines of a list item or quote behind their marks; empty lines get no white space."""
    head, *lines = text.split("\n")
    more = [others + line if line.strip() else others.rstrip() for line in lines]
    return "\n".join([first + head, *more])


def fenced(content: str, language: str = "") -> str:
    """A code block whose fence is longer than any in it; "" for code that shows nothing."""
    if not content.strip():
        return ""
    fence = "`" * max(3, longest_run(content) + 1)
    return f"{fence}{language}\n{content}\n{fence}"


def code_span(content: str) -> str:
    if not content.strip():
        return content
    fence = "`" * (longest_run(content) + 1)
    edge = " " if content[0] in "` " or content[-1] in "` " else ""
    return f"{fence}{edge}{content}{edge}{fence}"


def longest_run(text: str) -> int:
    """How many backticks stand in a row."""
    return max((len(run) for run in re.findall(r"`+", text)), default=0)
