"""Buttons under a message: thumbs as Slack's own feedback buttons, the others in a row.

What was pressed is told by its value; the names of actions only have to differ from each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from slack_sdk.models.blocks import (
    ActionsBlock,
    Block,
    ButtonElement,
    ContextActionsBlock,
    FeedbackButtonObject,
    FeedbackButtonsElement,
    PlainTextObject,
)

from bot.buttons import Action, parse
from bot.chat import Button

ACTION = "belay"
"""How the action_id of each button begins."""

_LABEL = 75  # characters
_VALUE = 2_000
_ROW = 25  # elements of one block


def blocks(buttons: Sequence[Button], *, feedback: bool) -> list[dict[str, Any]]:
    """The blocks that show them. One that Slack would refuse is left out, not the message.
    `feedback`: a pair of thumbs becomes Slack's own."""
    left = [each for each in buttons if each.label.strip() and 0 < len(each.value) <= _VALUE]
    made: list[Block] = []
    up, down = _vote(left, Action.UP), _vote(left, Action.DOWN)
    if feedback and up and down:
        left = [each for each in left if each not in (up, down)]
        element = FeedbackButtonsElement(
            action_id=f"{ACTION}-feedback",
            positive_button=_thumb(up),
            negative_button=_thumb(down),
        )
        made.append(ContextActionsBlock(elements=[element]))
    elements = [
        ButtonElement(text=_text(each), action_id=f"{ACTION}-{number}", value=each.value)
        for number, each in enumerate(left)
    ]
    rows = [elements[start : start + _ROW] for start in range(0, len(elements), _ROW)]
    made += [ActionsBlock(elements=row) for row in rows]
    return [block.to_dict() for block in made]


def _vote(buttons: Sequence[Button], action: Action) -> Button | None:
    presses = ((button, parse(button.value)) for button in buttons)
    return next((button for button, press in presses if press and press.action is action), None)


def _thumb(button: Button) -> FeedbackButtonObject:
    return FeedbackButtonObject(text=_text(button), value=button.value)


def _text(button: Button) -> PlainTextObject:
    return PlainTextObject(text=button.label.strip()[:_LABEL], emoji=True)
