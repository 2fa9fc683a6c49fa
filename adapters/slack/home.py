"""The bot's own surfaces: its App Home, and the suggestions in an empty assistant thread."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from slack_sdk.models.blocks import (
    Block,
    DividerBlock,
    HeaderBlock,
    RichTextBlock,
    RichTextElement,
    RichTextElementParts,
    RichTextListElement,
    RichTextSectionElement,
)
from slack_sdk.models.views import View

from bot.home import Page, Section, Suggestion

PROMPTS = 4
"""Suggestions that Slack shows."""

_NAME = "Belay"
_HEADING = 150  # characters; https://docs.slack.dev/reference/block-kit/blocks/header-block
_LINE = 500
_CODE = re.compile(r"`([^`]+)`")

_Run = RichTextElementParts.Text
_CODE_STYLE = RichTextElementParts.TextStyle(code=True)


def view(page: Page) -> View:
    """The page in rich text, in which nothing but the code is markup."""
    blocks: list[Block] = [HeaderBlock(text=_NAME), RichTextBlock(elements=[_line(page.greeting)])]
    for section in page.sections:
        blocks += [DividerBlock(), HeaderBlock(text=section.heading[:_HEADING]), _list(section)]
    return View(type="home", blocks=blocks)


def prompts(suggestions: Sequence[Suggestion]) -> list[dict[str, str]]:
    return [{"title": item.title, "message": item.message} for item in suggestions[:PROMPTS]]


def _list(section: Section) -> RichTextBlock:
    lines: list[RichTextElement] = [_line(line) for line in section.lines]
    return RichTextBlock(elements=[RichTextListElement(elements=lines, style="bullet")])


def _line(text: str) -> RichTextSectionElement:
    return RichTextSectionElement(elements=list(_runs(text[:_LINE])))


def _runs(text: str) -> Iterator[RichTextElement]:
    for number, piece in enumerate(_CODE.split(text)):
        if piece and number % 2:
            yield _Run(text=piece, style=_CODE_STYLE)
        elif piece:
            yield _Run(text=piece)
