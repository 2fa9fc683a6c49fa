"""Handing a question over to a person: who that is, and what to pass on to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bot.chat import Incoming, Person, Reply
from bot.reply import source_line
from bot.texts import literal, text
from graph.model import Answer, Citation, Language

_PEOPLE = 5  # owners named


@dataclass(frozen=True, slots=True)
class Duty:
    """People on call by their names as the calendar writes them, and those of them whose account
    on this platform is known."""

    names: tuple[str, ...]
    mentions: tuple[Person, ...] = ()


class OnDuty(Protocol):
    """Who is on call now for whoever asks in a place."""

    async def __call__(self, event: Incoming) -> Duty | None:
        """None when nobody is, when no schedule is meant, and when no calendar can be read: a
        hand-off never guesses."""


class HandOff:
    """`contact` is who can always be asked, from the settings."""

    def __init__(
        self,
        contact: str,
        on_duty: OnDuty | None,
        *,
        stale_days: int,
        now: Callable[[], datetime],
    ) -> None:
        self._contact, self._on_duty = contact, on_duty
        self._stale_days, self._now = stale_days, now

    async def reply(
        self, event: Incoming, question: str, answer: Answer | None, language: Language
    ) -> Reply:
        """Who could know, and the question with the nearest documents in a form that can be passed
        on. Without an `answer`, forgotten or of another audience, only who."""
        duty = await self._on_duty(event) if self._on_duty is not None else None
        pieces = [self._people(duty, answer, language)]
        if answer is not None and question:
            pieces += [text("pass_on", language), f"> {literal(question)}"]
            pieces += self._documents(answer, language)
        mentions = duty.mentions if duty else ()
        return Reply("\n\n".join(pieces), mentions=mentions)

    def _people(self, duty: Duty | None, answer: Answer | None, language: Language) -> str:
        sentences: list[str] = []
        if duty is not None and duty.names:
            sentences.append(text("on_call_now", language, people=_listed(duty.names)))
        named = _owners(answer)[:_PEOPLE] if answer else ()
        if named:
            sentences.append(text("people", language, people=_listed(named)))
        if self._contact:
            sentences.append(text("contact", language, contact=literal(self._contact)))
        return " ".join(sentences) or text("no_people", language)

    def _documents(self, answer: Answer, language: Language) -> list[str]:
        shown = cited_or_nearest(answer)
        if not shown:
            return []
        lines = [
            f"- {source_line(item, language, self._stale_days, self._now())}" for item in shown
        ]
        head = text("sources" if answer.citations else "nearest", language)
        return [f"**{head}**", "\n".join(lines)]


def cited_or_nearest(answer: Answer) -> tuple[Citation, ...]:
    """The sources of an answer, or what came nearest where it has none."""
    return answer.citations or tuple(
        Citation(number, item.passage, item.scores.relevance)
        for number, item in enumerate(answer.nearest, start=1)
    )


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(map(literal, names))


def _owners(answer: Answer) -> tuple[str, ...]:
    """Whom the cited documents name as their owners, then the nearest ones; each once."""
    cited = [item.passage for item in answer.citations]
    nearest = [item.passage for item in answer.nearest]
    return tuple(dict.fromkeys(item.owner for item in (*cited, *nearest) if item.owner))
