"""What Slack refuses of a message: by the SDK's own models, and by the documented limits."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

from slack_sdk.errors import SlackObjectFormationError
from slack_sdk.models.blocks import Block, MarkdownBlock

from tests.servers.slack_workspace import Json, Refused

BLOCKS = 50  # a message
VIEW_BLOCKS = 100
MARKDOWN = 12_000  # characters of all markdown blocks of a message, or of markdown_text
TEXT = 40_000
UPDATED_TEXT = 4_000  # bytes
BUTTON_VALUE = 2_000
LABEL = 75

_MESSAGE_ONLY = frozenset({"markdown", "table", "context_actions", "task_card", "plan"})
_VIEW_ONLY = frozenset({"input"})


def checked_text(p: Json, *, updated: bool = False) -> None:
    """The three ways to say something, and how much of it. Raises Refused."""
    text, markdown, blocks = p.get("text"), p.get("markdown_text"), p.get("blocks")
    if markdown and (text or blocks):
        raise Refused("markdown_text_conflict")
    if not (text or markdown or blocks or p.get("attachments")):
        raise Refused("no_text")
    if markdown and len(markdown) > MARKDOWN:
        raise Refused("msg_too_long")
    if updated and text and len(text.encode()) > UPDATED_TEXT:
        raise Refused("msg_too_long")
    checked_blocks(blocks or [])


def checked_blocks(blocks: list[Json], *, view: bool = False) -> None:
    """Raises Refused."""
    if len(blocks) > (VIEW_BLOCKS if view else BLOCKS):
        raise Refused("invalid_blocks", errors=[f"no more than {BLOCKS} items allowed"])
    for block in blocks:
        if block.get("type") in (_MESSAGE_ONLY if view else _VIEW_ONLY):
            raise _bad(f"unsupported type: {block['type']}")
        _check(block)
    if sum(len(b["text"]) for b in blocks if b["type"] == MarkdownBlock.type) > MARKDOWN:
        raise Refused("msg_blocks_too_long")
    ids = [item["action_id"] for item in _elements(blocks) if "action_id" in item]
    if len(set(ids)) != len(ids):
        raise _bad("`action_id` must be unique")


def _check(block: Json) -> None:
    logging.getLogger("slack_sdk").setLevel(logging.ERROR)
    try:
        parsed = Block.parse(dict(block))
        if parsed is None:
            raise _bad(f"unsupported type: {block.get('type')}")
        parsed.validate_json()
    except (SlackObjectFormationError, TypeError) as error:
        raise _bad(str(error)) from error
    for text in _texts(block):
        if not text:
            raise _bad("must be more than 0 characters")
    for item in _elements([block]):
        _check_button(item)


def _check_button(item: Json) -> None:
    for button in (item, item.get("positive_button"), item.get("negative_button")):
        if not button or "value" not in button:
            continue
        if len(button["value"]) > BUTTON_VALUE or len(button["text"]["text"]) > LABEL:
            raise _bad("must be less than the limit")


def _elements(blocks: list[Json]) -> Iterator[Json]:
    for block in blocks:
        if block["type"] in ("actions", "context_actions"):
            yield from block.get("elements", [])
        elif "accessory" in block:
            yield block["accessory"]


def _texts(value: Any) -> Iterator[str]:
    """Every text of text objects and Markdown inside a block."""
    if isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        if value.get("type") in ("mrkdwn", "plain_text", "markdown"):
            yield str(value.get("text", ""))
        for item in value.values():
            yield from _texts(item)


def _bad(why: str) -> Refused:
    return Refused("invalid_blocks", response_metadata={"messages": [f"[ERROR] {why}"]})
