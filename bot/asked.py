"""What a message asks: its words, with what they lean on where they alone would ask nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta

from bot.chat import Incoming
from bot.subject import alert_names, subject
from bot.texts import attachment, language_of, text
from graph.followup import needs_context
from graph.mentions import weight
from graph.model import Turn
from graph.smalltalk import is_blank, is_small_talk

_SHORT = 2  # words
_NAMED = 5  # attachments
_HOURS_FROM = timedelta(hours=2)  # from here on an age is told in hours


def about(words: str, event: Incoming, history: Sequence[Turn]) -> str:
    """The question, with what the message or thread above is about where the words alone would
    ask nothing.

    Follow-ups such as "why?" stay as they are: the machine resolves them from the history.
    """
    quote = event.quote.text.strip() if event.quote else ""
    if not quote:
        return _about_thread(words, event, history)
    if len(history) > 1:
        return words
    quote = history[0].text if history else quote
    if is_blank(words):
        return quote
    return f"{quote}\n\n{words}" if _asks_nothing(words, history) else words


def _about_thread(words: str, event: Incoming, history: Sequence[Turn]) -> str:
    """A bare mention asks what was said last; "what do I check?" asks about the thread's alert."""
    told = subject(event.context)
    if not told:
        return words
    if is_blank(words):
        last = next(item.text for item in reversed(event.context) if not is_blank(item.text))
        return f"{told}\n\n{last}"
    return f"{told}\n\n{words}" if _asks_nothing(words, history) else words


def _asks_nothing(words: str, history: Sequence[Turn]) -> bool:
    """Whether `words` name nothing that could be looked for, and are no follow-up either."""
    if is_small_talk(words) or needs_context(words, history):
        return False
    few = len(words.split()) <= _SHORT and weight(words) <= 1
    return few or weight(words) == 0


def named(words: str, event: Incoming) -> str:
    """What a runbook is looked for by: the words, else the alert above."""
    if not is_blank(words):
        return words
    texts = [event.quote] if event.quote else [*event.context]
    found = [name for item in texts for name in alert_names(item.text)]
    return found[0] if found else subject(texts)


def unread(event: Incoming, words: str) -> list[str]:
    """That pictures and files beside the question were not read."""
    if not event.attachments:
        return []
    language, counted = language_of(words, event.language), Counter(event.attachments)
    shown = [
        attachment(name, language) + (f" × {n}" if n > 1 else "") for name, n in counted.items()
    ]
    names = ", ".join(shown[:_NAMED]) + (", …" if len(shown) > _NAMED else "")
    told = text("not_read", language, names=names)
    alone = event.place.kind == "private" and bool(event.files)
    return [f"{told} {text('add_hint', language)}" if alone else told]


def belated(event: Incoming, words: str, now: datetime) -> list[str]:
    """That the question waited, and how long."""
    age = max(now - event.at, timedelta())
    language = language_of(words, event.language)
    if age >= _HOURS_FROM:
        return [text("late_hours", language, count=age // timedelta(hours=1))]
    return [text("late_minutes", language, count=age // timedelta(minutes=1))]
