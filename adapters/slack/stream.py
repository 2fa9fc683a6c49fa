"""Signs of work while an answer is written: a status line, and a message that grows.

Nothing here is owed to anybody: a sign that is too early, too long or refused is left out. What
stands in the place in the end is `shown`, for the final text to take its place. A message whose
start nobody confirmed, or whose process died, may stay behind as it is; Slack ends a stream after
some five minutes.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from adapters.markdown.links import without_tokens
from adapters.markdown.partial import closed
from adapters.slack.growth import grown
from adapters.slack.line import Line
from adapters.slack.message import LIMITS, Route, fits, forms, name_of, post, update
from adapters.slack.plain import to_plain
from adapters.slack.requests import Flooded, Missing, Refused, Unclear
from bot.chat import Incoming
from bot.errors import PlatformGone

_log = logging.getLogger(__name__)

STATUS, POST, UPDATE = "assistant.threads.setStatus", "chat.postMessage", "chat.update"
START, APPEND, STOP = "chat.startStream", "chat.appendStream", "chat.stopStream"
_STATUS_LENGTH = 100  # characters


@dataclass(slots=True)
class Shown:
    """A message that the final text may take the place of. `open`: a stream that is not ended.
    `text`: the Slack Markdown that it shows, None when nobody knows."""

    ts: str
    open: bool = False
    text: str | None = None


class Signs:
    """The signs of one conversation. Private ones and those outside of threads have none."""

    def __init__(self, event: Incoming, line: Line, route: Route) -> None:
        self._event, self._line, self._route = event, line, route
        self._began = line.clock()
        self._off = event.private or not route.thread
        self._kind = event.place.kind
        self.shown: Shown | None = None
        self.status = False  # a status line stands under the thread

    def end(self) -> None:
        """The final text takes over."""
        self._off = True

    async def progress(self, stage: str) -> None:
        if self._off:
            return
        if self._offers(STATUS):
            await self._set_status(to_plain(stage)[:_STATUS_LENGTH])
        if not self._offers(STATUS):
            await self._stand_in(stage)

    async def stream(self, markdown: str) -> None:
        if self._off:
            return
        if self.shown.open if self.shown is not None else self._offers(START):
            await self._grow(markdown)
        elif self.shown is not None or not self._offers(STATUS):
            await self._stand_in(markdown)

    async def clear(self) -> None:
        """Takes the status line back; a message in the thread does that by itself."""
        if self.status:
            self.status = False
            await self._try(STATUS, {**self._thread, "status": ""})

    @property
    def _thread(self) -> dict[str, str]:
        return {"channel_id": self._route.channel, "thread_ts": self._route.thread}

    def _offers(self, method: str) -> bool:
        return (method, self._kind) not in self._line.refused

    def _turn(self, method: str, what: str, interval: float) -> bool:
        """Whether it is time: Slack counts calls by method, readers what they see of a thread."""
        now, pace = self._line.clock(), self._line.pace
        if pace.closed_for(method, now):
            return False
        return pace.turn(f"{what}:{self._route.channel}:{self._route.thread}", now, interval)

    async def _set_status(self, stage: str) -> None:
        if stage and self._turn(STATUS, "status", self._line.options.status_every):
            payload = {**self._thread, "status": stage, "loading_messages": [stage]}
            self.status = await self._try(STATUS, payload) is not None or self.status

    async def _stand_in(self, markdown: str) -> None:
        """A message in place of a status: it shows the stage, then the answer so far."""
        options = self._line.options
        text = closed(without_tokens(markdown))
        early = self._line.clock() - self._began < options.quiet
        if early or not text.strip() or not fits(text):
            return
        method = POST if self.shown is None else UPDATE
        if not self._turn(method, "text", options.update_every):
            return
        form = forms(text)[0]
        if self.shown is not None:
            await self._try(UPDATE, update(form, self._route, self.shown.ts))
            return
        name = name_of(self._event.key, "sign")
        made = await self._try(POST, post(form, self._route, name))
        if made is not None:
            self.shown = Shown(str(made["ts"]))

    async def _grow(self, markdown: str) -> None:
        method = START if self.shown is None else APPEND
        if not self._turn(method, "text", self._line.options.stream_every):
            return
        text = grown(without_tokens(markdown))
        shown = self.shown.text if self.shown is not None else ""
        if not shown_further(text, shown):
            return
        if self.shown is None:
            await self._start(text)
        else:
            await self._append(self.shown, text)

    async def _start(self, text: str) -> None:
        payload = {
            "channel": self._route.channel,
            "thread_ts": self._route.thread,
            "recipient_user_id": self._route.user,
            "recipient_team_id": self._line.team_id,
            "markdown_text": text,
        }
        made = await self._try(START, payload)
        if made is not None:
            self.shown, self.status = Shown(str(made["ts"]), open=True, text=text), False

    async def _append(self, shown: Shown, text: str) -> None:
        assert shown.text is not None
        addition = text[len(shown.text) :]
        payload = {"channel": self._route.channel, "ts": shown.ts, "markdown_text": addition}
        if await self._try(APPEND, payload) is not None:
            shown.text = text

    async def _try(self, method: str, payload: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The response; None when the sign was not shown, or perhaps not."""
        line = self._line
        try:
            return await line.requests(method, payload, line.options.sign_timeout)
        except Flooded as flood:
            line.pace.close(method, line.clock(), flood.seconds)
        except Missing as missing:
            _log.info("no %s in places of the kind %r: %s", method, self._kind, missing)
            line.refused.add((method, self._kind))
        except Unclear:
            self._off = True
            if self.shown is not None:
                self.shown.text = None
        except (Refused, PlatformGone) as refusal:
            _log.debug("a sign of work was refused: %s", refusal)
            self._off = self._off or method != STATUS
        return None


def shown_further(text: str, shown: str | None) -> bool:
    """Whether a text goes on where the shown one stops, within one message."""
    if shown is None or len(text) <= len(shown) or len(text) > LIMITS.markdown:
        return False
    return text.startswith(shown)
