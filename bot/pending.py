"""What happens to events while they wait: edits, order, pieces. The same rules in every store.

Pure functions over Incoming; an Inbox applies them inside one transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from bot.chat import Incoming, Kind, Place, Quote
from graph.model import Language
from graph.text import has_words, question_language

_COMMAND = "/"


@dataclass(frozen=True, slots=True)
class Joining:
    """When messages of one person are pieces of one question: a paste that the client cut, an
    album, or what is forwarded with a word about it. Lengths are UTF-16 units."""

    near_limit: int = 4000  # a message this long was probably cut by the client
    window: float = 1.5  # seconds that the next piece is waited for
    span: float = 5.0  # seconds between the first piece and the last
    pieces: int = 20  # in one question at most
    beside: float = 1.0  # seconds between a message and what is forwarded with it
    only_forwards: bool = False

    @property
    def forwards(self) -> Joining:
        """Of what is forwarded together with a message, which arrives after it."""
        return replace(self, span=self.beside, only_forwards=True)

    def expects_more(self, event: Incoming) -> bool:
        if is_forward(event):
            return True
        units = len(event.text.encode("utf-16-le", "surrogatepass")) // 2
        return bool(event.album) or units >= self.near_limit


def is_forward(event: Incoming) -> bool:
    """Whether a message only passes on another one: it quotes itself, and says nothing."""
    return event.quote is not None and event.quote.message_id == event.message_id


def lane(event: Incoming) -> str:
    """What is worked on in order: the questions of a conversation. Presses of buttons and changes
    of a place do not wait for a question that is being answered, nor do people who ask in private
    in the same place for each other."""
    if event.kind is Kind.QUESTION:
        conversation = event.place.conversation
        return f"{conversation}~{event.person.id}" if event.private else conversation
    if event.kind is Kind.PRESS:
        return f"{event.place.conversation}:press:{event.message_id}"
    return f"{event.place.conversation}:place"


def edited(pending: Incoming, edit: Incoming) -> Incoming:
    """The pending question with the words of its newest version, asked when it was first asked."""
    return replace(
        pending,
        text=edit.text,
        attachments=edit.attachments,
        files=edit.files,
        nearby=edit.nearby or pending.nearby,
        quote=edit.quote or pending.quote,
        addressed=pending.addressed or edit.addressed,
    )


def asked_by(edit: Incoming) -> Incoming | None:
    """The question that an edit may have made of a message, by adding the mention of the bot. An
    inbox knows whether it had that question before, and takes it once."""
    asks = edit.kind is Kind.EDIT and edit.addressed and edit.place.kind != "private"
    return replace(edit, kind=Kind.QUESTION) if asks else None


def continues(first: Incoming, other: Incoming, rule: Joining) -> bool:
    """Whether `other`, which came later in the same conversation, is a piece of the same question.

    Of an album only its own pictures are: one caption, on any of them, asks for all.
    """
    if other.kind is not Kind.QUESTION or other.person.key != first.person.key:
        return False
    if first.album or other.album:
        return first.album == other.album
    if rule.only_forwards and (not is_forward(other) or first.text.startswith(_COMMAND)):
        return False
    near = abs(other.at - first.at) <= timedelta(seconds=rule.span)
    return near and not other.text.startswith(_COMMAND)


def joined(first: Incoming, following: Sequence[Incoming]) -> Incoming:
    """One question from its pieces, under the name and time of the first."""
    pieces = (first, *following)
    return replace(
        first,
        text="\n".join(piece.text for piece in pieces if piece.text),
        attachments=tuple(name for piece in pieces for name in piece.attachments),
        files=tuple(file for piece in pieces for file in piece.files),
        nearby=tuple(dict.fromkeys(file for piece in pieces for file in piece.nearby)),
        quote=_quoted([piece for piece in pieces if piece.quote is not None]),
        addressed=any(piece.addressed for piece in pieces),
    )


def _quoted(pieces: Sequence[Incoming]) -> Quote | None:
    """What was replied to, else all that was forwarded."""
    quotes = [piece.quote for piece in pieces if piece.quote and not is_forward(piece)]
    quotes += [piece.quote for piece in pieces if piece.quote and is_forward(piece)]
    if len(quotes) > 1 and all(map(is_forward, pieces)):
        return replace(quotes[0], text="\n\n".join(quote.text for quote in quotes))
    return quotes[0] if quotes else None


def stops(stop: Incoming, question: Incoming) -> bool:
    """Whether a STOP means this question: the named one, or whichever is at work when the
    platform names none. In a group only the asker stops an answer."""
    return (
        question.kind is Kind.QUESTION
        and question.place.conversation == stop.place.conversation
        and stop.message_id in ("", question.message_id)
        and (stop.place.kind == "private" or stop.person.key == question.person.key)
    )


def moved(place: Place, new: str) -> Place:
    return replace(place, id=new)


def language_of(event: Incoming) -> Language:
    """The language to say a sentence in: that of the words, else of the person's interface."""
    if has_words(event.text.removeprefix(_COMMAND)):
        return question_language(event.text)
    return "ru" if event.language.lower().startswith("ru") else "en"
