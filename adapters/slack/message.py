"""One message in the three forms that Slack may accept, and the calls that show it.

The cut into parts is the same for all forms and whatever may be a link: an answer that was
interrupted is resumed by number, perhaps in another form.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from slack_sdk.models.blocks import MarkdownBlock, PlainTextObject, SectionBlock

from adapters.markdown.links import without_tokens
from adapters.markdown.tree import is_web_address
from adapters.slack import buttons as button_blocks
from adapters.slack.inert import broken, controlled
from adapters.slack.plain import notification, to_plain
from adapters.slack.render import measured, to_slack
from bot.chat import Button, Person, Reply
from bot.split import split

Json = dict[str, Any]

EVENT_TYPE = "belay_message"
_NOTHING = "…"
_PERSON = re.compile(r"[UW][A-Z0-9]+")
_STILL = {
    "unfurl_links": False,
    "unfurl_media": False,
    "parse": "none",
    "link_names": False,
}


@dataclass(frozen=True, slots=True)
class Limits:
    """Slack's limits on one message, with room for a line of mentions."""

    markdown: int = 11_500  # UTF-16 units; 12,000 characters by the documentation
    blocks: int = 40  # that Markdown may become; 50 by the documentation, buttons included
    section: int = 3_000  # characters of a section's text
    notification: int = 3_500  # bytes of `text`; an update is refused above 4,000
    mentions: int = 10


LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Form:
    """What is shown. `markdown` is the text as a stream would have it, "" in simpler forms."""

    text: str  # for notifications, and all there is without blocks
    content: tuple[Json, ...] = ()
    actions: tuple[Json, ...] = ()
    markdown: str = ""

    @property
    def blocks(self) -> list[Json]:
        return [*self.content, *self.actions]


@dataclass(frozen=True, slots=True)
class Route:
    """Where a message goes. `user` is who asked, `thread` is "" outside of threads."""

    channel: str
    thread: str
    user: str

    @property
    def threaded(self) -> Json:
        return {"thread_ts": self.thread} if self.thread else {}


def cut(markdown: str) -> list[str]:
    """The parts of a text, each within one message in every form; never none."""
    return split(without_tokens(markdown), fits) or [_NOTHING]


def fits(markdown: str) -> bool:
    units, blocks = measured(markdown)
    return units <= LIMITS.markdown and blocks <= LIMITS.blocks


def trusted(reply: Reply) -> frozenset[str]:
    """The web addresses of the documents that an answer cites or names: these may be links."""
    if reply.answer is None:
        return frozenset()
    passages = [cited.passage for cited in reply.answer.citations]
    passages += [ranked.passage for ranked in reply.answer.nearest]
    places = [place for passage in passages for place in (passage.uri, *passage.also_at)]
    return frozenset(without_tokens(place) for place in places if is_web_address(place))


def forms(
    part: str,
    links: Collection[str] = (),
    buttons: Sequence[Button] = (),
    mentions: Sequence[Person] = (),
) -> list[Form]:
    """The forms of a part, the best first: Slack's Markdown, plain sections, bare text."""
    rings = _rings(mentions)
    told = " ".join(filter(None, [notification(part, LIMITS.notification), rings])) or _NOTHING
    plain = to_plain(part).strip() or _NOTHING
    row = button_blocks.blocks(buttons, feedback=False)
    made = [
        Form(told, tuple(_sections(plain, rings)), tuple(row)),
        Form("\n\n".join(filter(None, [controlled(plain), rings]))),
    ]
    if markdown := to_slack(part, links):
        markdown = "\n\n".join(filter(None, [markdown, rings]))
        block = MarkdownBlock(text=markdown).to_dict()
        thumbs = button_blocks.blocks(buttons, feedback=True)
        made.insert(0, Form(told, (block,), tuple(thumbs), markdown))
    return made


def _rings(people: Sequence[Person]) -> str:
    """The people to be told, as Slack writes a mention."""
    ids = [person.id for person in people if person.platform == "slack"]
    known = [each for each in dict.fromkeys(ids) if _PERSON.fullmatch(each)]
    return " ".join(f"<@{each}>" for each in known[: LIMITS.mentions])


def _sections(plain: str, rings: str) -> list[Json]:
    size = LIMITS.section
    text = broken(plain)
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    texts: list[Any] = [
        PlainTextObject(text=piece, emoji=False) for piece in pieces if piece.strip()
    ]
    texts += [rings] if rings else []
    return [SectionBlock(text=each).to_dict() for each in texts]


def name_of(event: str, what: str) -> str:
    """The same for every try at a message, so that it is known again among others."""
    return sha256(f"{event}:{what}".encode()).hexdigest()[:32]


def message(form: Form) -> Json:
    """What all calls share. Slack reads marks in `text` only where it has people to mention."""
    blocks = {"blocks": form.blocks} if form.blocks else {}
    return {"text": form.text, **blocks, **_STILL, "mrkdwn": "<@" in form.text}


def post(form: Form, route: Route, name: str) -> Json:
    """chat.postMessage. `name` goes along twice: as the id by which Slack tells a repeated
    message, and as metadata that can be read back."""
    return {
        "channel": route.channel,
        **route.threaded,
        **message(form),
        "client_msg_id": str(uuid.UUID(name)),
        "metadata": {"event_type": EVENT_TYPE, "event_payload": {"name": name}},
    }


def update(form: Form, route: Route, ts: str) -> Json:
    return {"channel": route.channel, "ts": ts, **message(form), "blocks": form.blocks}


def whisper(form: Form, route: Route) -> Json:
    """chat.postEphemeral: only the asker sees it."""
    return {"channel": route.channel, "user": route.user, **route.threaded, **message(form)}


def response(form: Form, route: Route) -> Json:
    """For a response_url: only the asker sees it, and what was there stays."""
    kept = {"response_type": "ephemeral", "replace_original": False, "delete_original": False}
    return {**kept, **route.threaded, **message(form)}
