"""What Slack's messages say, in plain words: their text, blocks and attachments. Pure.

Slack's own markup in texts is `<…>` for mentions and links, and `&lt; &gt; &amp;` for the rest:
https://docs.slack.dev/messaging/formatting-message-text
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Json = Mapping[str, Any]

_TOKEN = re.compile(r"<([@#!]?)([^<>|\n]*)(?:\|([^<>\n]*))?>")
_SURE = re.compile(
    r"<(?:@[UW][A-Z0-9]+|#[CGD][A-Z0-9]+|![a-z]+[^<>|\s]*|(?:https?|mailto|tel):[^<>|\s]+)"
    r"(?:\|[^<>\n]*)?>"
)
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_QUOTE = re.compile(r"^(?:&gt;&gt;&gt;.*|&gt;[^\n]*)", re.MULTILINE)
_REST_QUOTED = re.compile(r"^&gt;&gt;&gt;.*", re.MULTILINE | re.DOTALL)
_USER = re.compile(r"<@([UW][A-Z0-9]+)(?:\|[^<>\n]*)?>")
_OPENING = re.compile(r"\A(?:[\s\u200b]*\0[\s\u200b]*(?:[,;:–—-]+(?=\s|\Z))?)+[\s\u200b]*")
_SHOWN_AS_IS = ("text", "alt_text")
_INSIDE = ("text", "title", "subtitle", "body", "fields", "elements", "rows", "child_blocks")
_SILENT = frozenset({"actions", "context_actions", "input", "divider", "emoji"})
_OF_ATTACHMENT = ("pretext", "title", "text")
_DEPTH = 12  # of blocks inside each other


@dataclass(frozen=True, slots=True)
class Mentions:
    """Who is spoken to: the bot, somebody else. What is only quoted speaks to nobody."""

    me: bool
    others: bool


def mentions(message: Json, me: str) -> Mentions:
    """`me` is the bot's user id."""
    rich = [block for block in _dicts(message.get("blocks")) if block.get("type") == "rich_text"]
    if rich:
        named = {user for block in rich for user in _named(block, 0)}
    else:
        said = _QUOTE.sub(" ", _REST_QUOTED.sub(" ", _CODE.sub(" ", _text(message))))
        named = set(_USER.findall(said))
    return Mentions(me in named, bool(named - {me}))


def question(message: Json, me: str) -> str:
    """The words of a message without the mention of the bot."""
    without = re.sub(rf"<@{re.escape(me)}(?:\|[^<>\n]*)?>", "\0", _text(message))
    return plain(re.sub(r"[ \t]*\0", "", _OPENING.sub("", without))).strip()


def plain(text: str) -> str:
    """A text with its markup taken for what it shows."""
    return _unescaped(_TOKEN.sub(_shown, text))


def typed(text: str) -> str:
    """The text of a slash command, which Slack hands on as it was typed or with markup, as the
    app is configured: `a < b && c > d` is no markup."""
    shown = _SURE.sub(lambda found: _TOKEN.sub(_shown, found.group()), text)
    return _unescaped(shown)


def _unescaped(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def everything(message: Json, me: str) -> str:
    """All that a message shows: alerting tools put it into blocks or attachments.

    A line that is shown twice (as a fallback, in a block) counts once; the blocks of what people
    type only repeat the text.
    """
    text = question(message, me)
    typed = text and message.get("user") and not message.get("bot_id")
    pieces = [text, *(() if typed else _blocks(message.get("blocks")))]
    for attachment in _dicts(message.get("attachments")):
        pieces += _attachment(attachment)
    return _unique(pieces)


def forwarded(message: Json) -> tuple[str, str]:
    """What a message passes on of another one, and whose it was; empty without."""
    shared = [
        item
        for item in _dicts(message.get("attachments"))
        if item.get("is_share") or item.get("is_msg_unfurl")
    ]
    text = _unique([piece for item in shared for piece in _attachment(item)])
    return text, next((str(i["author_name"]) for i in shared if i.get("author_name")), "")


def _text(message: Json) -> str:
    text = message.get("text")
    return text if isinstance(text, str) else ""


def _dicts(value: Any) -> list[Json]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _named(element: Json, depth: int) -> Iterator[str]:
    """The users that a rich text mentions outside of quotations and code."""
    if element.get("type") == "user":
        yield str(element.get("user_id", ""))
    if element.get("type") in ("rich_text_quote", "rich_text_preformatted") or depth > _DEPTH:
        return
    for inner in _dicts(element.get("elements")):
        yield from _named(inner, depth + 1)


def _shown(token: re.Match[str]) -> str:
    sign, target, label = token[1], token[2], token[3] or ""
    if sign == "@":
        return f"@{label or target}"
    if sign == "#":
        return f"#{label or target}"
    if sign == "!":
        return label or f"@{target.partition('^')[0]}"
    address = target.removeprefix("mailto:").removeprefix("tel:")
    if not label or label in address or address in label:
        return address
    return f"{label} ({address})"


def _blocks(value: Any, depth: int = 0) -> Iterator[str]:
    """The texts of blocks, in reading order."""
    if depth > _DEPTH:
        return
    for block in _dicts(value):
        kind = block.get("type")
        if kind in _SILENT:
            continue
        if kind in ("rich_text_section", "rich_text_quote", "rich_text_preformatted"):
            yield "".join(_run(item) for item in _dicts(block.get("elements")))
            continue
        yield from _parts(block, depth)


def _parts(block: Json, depth: int) -> Iterator[str]:
    for name in _SHOWN_AS_IS:
        if isinstance(block.get(name), str):
            yield plain(block[name])
    for name in _INSIDE:
        value = block.get(name)
        if isinstance(value, dict):
            yield from _blocks([value], depth + 1)
        elif name == "rows" and isinstance(value, list):
            for row in value:
                yield " | ".join(_blocks(row, depth + 1))
        else:
            yield from _blocks(value, depth + 1)


_RUNS: Mapping[str, Callable[[Json], Any]] = {
    "text": lambda run: run.get("text", ""),
    "link": lambda run: run.get("text") or run.get("url", ""),
    "user": lambda run: f"@{run.get('user_id', '')}",
    "channel": lambda run: f"#{run.get('channel_id', '')}",
    "broadcast": lambda run: f"@{run.get('range', '')}",
    "emoji": lambda run: f":{run.get('name', '')}:",
}
"""What the elements of a rich text line show."""


def _run(element: Json) -> str:
    show = _RUNS.get(str(element.get("type")))
    return str(show(element) if show else element.get("fallback", ""))


def _attachment(attachment: Json) -> list[str]:
    """A legacy attachment: https://docs.slack.dev/legacy/legacy-messaging/legacy-secondary-message-attachments"""
    pieces = [plain(str(attachment[name])) for name in _OF_ATTACHMENT if attachment.get(name)]
    for field in _dicts(attachment.get("fields")):
        title, value = plain(str(field.get("title", ""))), plain(str(field.get("value", "")))
        pieces.append(f"{title}: {value}" if title else value)
    pieces += _blocks(attachment.get("blocks"))
    for inner in _dicts(attachment.get("message_blocks")):
        message = inner.get("message")
        pieces += _blocks(message.get("blocks")) if isinstance(message, dict) else []
    pieces += [piece for item in _dicts(attachment.get("attachments")) for piece in _flat(item)]
    return pieces if any(pieces) else [plain(str(attachment.get("fallback", "")))]


def _flat(attachment: Json) -> list[str]:
    """An attachment inside another, without those inside it."""
    return _attachment({key: value for key, value in attachment.items() if key != "attachments"})


def _unique(pieces: Sequence[str]) -> str:
    lines = (line.rstrip() for piece in pieces for line in piece.splitlines())
    return "\n".join(dict.fromkeys(line for line in lines if line.strip()))
