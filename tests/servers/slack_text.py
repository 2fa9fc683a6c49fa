"""What people see of a text on Slack, and what of it is live, read without the bot's own code.

Slack reads standard Markdown in markdown blocks and streams, and its own `<…>` tokens besides; an
entity is shown as its sign and is not read again. In `text` there are tokens and entities only.
Stricter than Slack where nobody measured it: a token in code counts as live.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.token import Token

_PARSER = MarkdownIt("commonmark", {"html": False, "maxNesting": 10_000}).enable(
    ["table", "strikethrough"]
)
_UNSEEN = re.compile("[\u00ad\u180e\u200b-\u200f\u2060-\u2064\ufeff]")
_LIVE = re.compile(
    r"<(?:!(?:here|channel|everyone|group|subteam|date)\b|@[UWB][A-Z0-9]{2,}|#[CGD][A-Z0-9]{2,}"
    r"|(?:https?|mailto|tel|slack|ftp):)[^<>]*>",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)


@dataclass(frozen=True)
class Seen:
    text: str
    links: tuple[str, ...]


def live_tokens(text: str) -> list[str]:
    """Mentions, broadcasts and disguised links that Slack would act on."""
    return _LIVE.findall(_UNSEEN.sub("", text))


def seen(markdown: str) -> Seen:
    """A markdown block as it is read; addresses in it are links by themselves, except in code."""
    words: list[str] = []
    links: list[str] = []
    for token, linked in _leaves(_PARSER.parse(markdown)):
        if token.type == "link_open":
            links.append(str(token.attrs["href"]))
        elif token.type in ("text", "code_inline", "fence", "code_block"):
            words.append(token.content)
            if token.type == "text" and not linked:
                links += _ADDRESS.findall(token.content)
        else:
            words.append("\n")
    return Seen("".join(words), tuple(links))


def seen_text(text: str) -> str:
    """The `text` field of a message as it is read."""
    return html.unescape(text)


def letters(text: str) -> str:
    """Without any white space, to compare what is cut and laid out anew."""
    return "".join(text.split())


def _leaves(tokens: Sequence[Token]) -> Iterator[tuple[Token, bool]]:
    linked = False
    for token in tokens:
        if token.children is not None and token.type == "inline":
            yield from _leaves(token.children)
            continue
        linked = linked != (token.type in ("link_open", "link_close"))
        yield token, linked
