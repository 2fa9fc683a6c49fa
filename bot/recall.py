"""What the bot remembers of conversations while it runs: the last exchanges, and its answers.

Bounded, in memory, and kept with the scope that each answer was made for: nobody is shown what
was said to a wider audience. Documents' texts are not kept.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import takewhile
from typing import TypeVar

from bot.chat import Incoming, Person, Place, Quote
from bot.sessions import Selection, drawn_from
from bot.subject import subject, transcript
from graph.followup import ASKER, BOT, cut
from graph.model import EVERYBODY, Answer, Citation, Document, Ranked, Scope, Turn
from graph.text import WORD, fold, normalise
from graph.trace import Trace

QUOTED = "quoted"
"""The speaker of a message that a question replies to."""

T = TypeVar("T")
Shown = TypeVar("Shown", Citation, Ranked)

_TELLING = 200  # characters of an answer by which it is known again
_CANDIDATES = 5  # rows of a ranking that are kept for /why


@dataclass(frozen=True, slots=True)
class Bounds:
    """Counts, characters and times of what is kept in memory."""

    conversations: int = 1000
    exchanges: int = 10  # of one conversation
    answers: int = 1000  # whose buttons still know what they are about
    offers: int = 1000  # of a private answer to the channel
    turn_characters: int = 1000  # of one message; more is cut in the middle
    quote_characters: int = 1000
    places_told: int = 1000
    tell_every: timedelta = timedelta(hours=1)  # a group how to get access


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question with its answer. `asker` is a person's key and never leaves this module; `said`
    are the words as others in the conversation saw them."""

    question_id: str
    asker: str
    asked: str
    reply: str
    scope: Scope
    said: str = ""
    behind: tuple[Document, ...] = ()  # what the reply was drawn from


@dataclass(frozen=True, slots=True)
class Remembered:
    """An answer as far as its buttons need it. `resolved` is the self-contained question.

    `asker` is the key of the only person who saw the answer, "" when everybody in the place did.
    """

    place: Place
    resolved: str
    scope: Scope
    answer: Answer  # passages without their texts
    trace: Trace
    asker: str = ""

    @property
    def behind(self) -> frozenset[Document]:
        """The documents that the answer and its trace tell of."""
        considered = {row.place for row in self.trace.candidates}
        return frozenset(considered.union(drawn_from(self.answer)))


@dataclass(frozen=True, slots=True)
class Offer:
    """A private reply that its asker may post to the channel: `line` is the command that gives it
    again, "/ask …", for the audience of the channel."""

    place: Place
    asker: str
    line: str


def room(event: Incoming) -> Place:
    """The conversation that an event belongs to: what is asked in private, in the middle of a
    channel, is a conversation of the asker's own."""
    place = event.place
    if not event.private or place.kind == "private":
        return place
    return replace(place, thread=f"{place.thread}~{event.person.id}")


def covers(scope: Scope, other: Scope) -> bool:
    """True when an audience of `scope` may see all that was found for `other`."""
    labels = all(
        EVERYBODY in own or any(theirs <= own for theirs in other.readers) for own in scope.readers
    )
    types = scope.source_types is None or (
        other.source_types is not None and other.source_types <= scope.source_types
    )
    return scope.tenant == other.tenant and other.levels <= scope.levels and labels and types


class Recall:
    """The memory of one process. Conversations and answers that were not used longest go first."""

    def __init__(self, bounds: Bounds | None = None) -> None:
        self.bounds = bounds or Bounds()
        self._exchanges: OrderedDict[str, list[Exchange]] = OrderedDict()
        self._answers: OrderedDict[str, Remembered] = OrderedDict()
        self._offers: OrderedDict[str, Offer] = OrderedDict()

    def remember(self, question_id: str, remembered: Remembered) -> None:
        trace = replace(remembered.trace, candidates=remembered.trace.candidates[:_CANDIDATES])
        lean = replace(remembered, answer=_lean(remembered.answer), trace=trace)
        _put(self._answers, question_id, lean, self.bounds.answers)

    def answer(self, question_id: str, place: Place) -> Remembered | None:
        """The answer, if it was given in this place: an id from elsewhere opens nothing."""
        found = self._answers.get(question_id)
        return found if found is not None and _same(found.place, place) else None

    def offer(self, question_id: str, offer: Offer) -> None:
        _put(self._offers, question_id, offer, self.bounds.offers)

    def offered(self, question_id: str, event: Incoming) -> Offer | None:
        """The offer behind a button, for the person and the place that it was made to."""
        found = self._offers.get(question_id)
        if found is None or found.asker != event.person.key or not _same(found.place, event.place):
            return None
        return found

    def withdraw(self, question_id: str) -> None:
        self._offers.pop(question_id, None)

    def goes_on_from(self, event: Incoming) -> Place:
        """The conversation that an event goes on from: its own, or the one before it where it
        begins a thread of a private chat, as whatever is said at the top of one does on Slack."""
        place = room(event)
        begins = place.kind == "private" and place.thread in ("", event.message_id)
        if not begins or self._exchanges.get(place.conversation):
            return place
        start = _prefix(place)
        names = reversed(self._exchanges)
        found = next(
            (name for name in names if name.startswith(start) and self._exchanges[name]), ""
        )
        return replace(place, thread=found.removeprefix(start)) if found else place

    def last(self, place: Place) -> Remembered | None:
        """The last answer of the conversation that is still remembered."""
        said = self._exchanges.get(place.conversation, [])
        return self.answer(said[-1].question_id, place) if said else None

    def add(self, place: Place, exchange: Exchange) -> None:
        """Adds a turn once: a question that is worked on again is still one question."""
        limit = self.bounds.turn_characters
        short = replace(
            exchange, asked=cut(exchange.asked, limit), reply=cut(exchange.reply, limit)
        )
        said = [
            item
            for item in self._exchanges.get(place.conversation, [])
            if item.question_id != exchange.question_id
        ]
        kept = [*said, short][-self.bounds.exchanges :] if self.bounds.exchanges else []
        _put(self._exchanges, place.conversation, kept, self.bounds.conversations)

    def history(
        self,
        place: Place,
        person: Person,
        scope: Scope,
        quote: Quote | None,
        context: Sequence[Quote] = (),
        *,
        closed: frozenset[Document] = frozenset(),
        before: str = "",
    ) -> tuple[Turn, ...]:
        """What was said before, oldest first, as `person` may be reminded of it.

        A reply to one of the bot's answers goes on from there; a reply to any other message is
        about that message and nothing else. `context` is what people said in the thread: before
        the exchanges, and after them. Speakers are opaque ids, the asker is "user". `closed` are
        documents that may not be read any more: what was drawn from them is not told again.
        `before` is a question that is asked again: it counts what was said until then.
        """
        known = self._exchanges.get(place.conversation, [])
        said = [
            item
            for item in takewhile(lambda item: item.question_id != before, known)
            if covers(scope, item.scope) and not closed.intersection(item.behind)
        ]
        if quote is None or not quote.text.strip():
            first, last = _around(said, context)
            return (*_told(first), *_turns(said, person.key), *reversed(_told(last)))
        place_of_answer = _answer_quoted(quote.text, said)
        if place_of_answer is None:
            return (Turn(QUOTED, cut(quote.text, self.bounds.quote_characters)),)
        until = said[: place_of_answer + 1]
        if until[-1].asker != person.key:  # else the asker's own last question would be meant
            until = [item for item in until if item.asker != person.key]
        return _turns(until, person.key)

    def move(self, place: Place, new_id: str) -> None:
        """A place has a new id: what is remembered of it moves, topics included."""
        start = _prefix(place)
        for key in [key for key in self._exchanges if key.startswith(start)]:
            moved = _prefix(replace(place, id=new_id)) + key.removeprefix(start)
            self._exchanges[moved] = self._exchanges.pop(key)
        for question_id in self._of(place):
            known = self._answers[question_id]
            self._answers[question_id] = replace(known, place=replace(known.place, id=new_id))

    def behind(self, place: Place) -> frozenset[Document]:
        """The documents that the conversation's answers were drawn from."""
        said = self._exchanges.get(place.conversation, [])
        return frozenset(document for item in said for document in item.behind)

    def knows(self, place: Place) -> bool:
        """Whether this process has met the conversation."""
        return place.conversation in self._exchanges

    def refresh(
        self, place: Place, kept: Sequence[Exchange], *, alone: Collection[str] = (), whole: bool
    ) -> None:
        """Takes over what the log has of the conversation, oldest first: other processes add to it
        and forget from it, too. Exchanges that the log could not take (`alone`, by the ids of
        their questions) stay. `whole`: the log has no earlier ones."""
        before = {item.question_id: item for item in self._exchanges.get(place.conversation, [])}
        own = [item for name, item in before.items() if name in alone]
        _put(self._exchanges, place.conversation, [], self.bounds.conversations)
        for exchange in (*kept, *own):
            self.add(place, exchange)
        if whole:
            self._unbutton(before.keys() - {item.question_id for item in (*kept, *own)})

    def forget_selected(self, selection: Selection) -> set[str]:
        """Drops the exchanges that match, and what their buttons know of them; returns the ids of
        the questions that went."""
        gone: set[str] = set()
        for name, said in self._exchanges.items():
            if selection.conversation in ("", name) and name.startswith(selection.place):
                out = [item for item in said if selection.person in ("", item.asker)]
                said[:] = [item for item in said if item not in out]
                gone |= {item.question_id for item in out}
        self._unbutton(gone)
        return gone

    def forget(self, place: Place) -> None:
        """Drops what was said in a place, in all its topics."""
        for key in [key for key in self._exchanges if key.startswith(_prefix(place))]:
            del self._exchanges[key]
        for question_id in self._of(place):
            del self._answers[question_id]

    def _unbutton(self, question_ids: Iterable[str]) -> None:
        """Drops what the buttons of these answers know of them."""
        for question_id in question_ids:
            self._answers.pop(question_id, None)
            self._offers.pop(question_id, None)

    def _of(self, place: Place) -> list[str]:
        return [question_id for question_id in self._answers if self.answer(question_id, place)]


def _same(one: Place, other: Place) -> bool:
    return (one.platform, one.id) == (other.platform, other.id)


def _around(
    said: Sequence[Exchange], context: Sequence[Quote]
) -> tuple[Sequence[Quote], Sequence[Quote]]:
    """What people said before the last exchange and after it, without the exchanges themselves."""
    places = [at for at, quote in enumerate(context) if _is_exchange(quote, said)]
    end = places[-1] + 1 if places else len(context)
    before = [quote for at, quote in enumerate(context[:end]) if at not in places]
    return before, context[end:]


def _is_exchange(quote: Quote, said: Sequence[Exchange]) -> bool:
    """Whether the message is one of the exchanges, with or without the mention of the bot."""
    words = _words(quote.text)
    asked = (_words(item.said or item.asked) for item in said)
    return _answer_quoted(quote.text, said) is not None or any(
        own and (words == own or words.endswith(f" {own}")) for own in asked
    )


def _told(quotes: Sequence[Quote]) -> tuple[Turn, ...]:
    """What was said, and next to the question what it is about: that alone is leaned on."""
    texts = (transcript(quotes), subject(quotes))
    return tuple(Turn(QUOTED, text) for text in texts if text)


def _prefix(place: Place) -> str:
    return f"{place.platform}:{place.id}:"


def _put(table: OrderedDict[str, T], key: str, value: T, limit: int) -> None:
    table[key] = value
    table.move_to_end(key)
    while len(table) > limit:
        table.popitem(last=False)


def _turns(said: Sequence[Exchange], asker: str) -> tuple[Turn, ...]:
    others = dict.fromkeys(item.asker for item in said if item.asker != asker)
    names = {key: f"speaker-{number}" for number, key in enumerate(others, start=1)}
    turns: list[Turn] = []
    for item in said:
        turns.append(Turn(names.get(item.asker, ASKER), item.asked))
        turns.append(Turn(BOT, item.reply))
    return tuple(turns)


def _answer_quoted(quote: str, said: Sequence[Exchange]) -> int | None:
    """The last exchange whose answer the quote is: platforms show it without its markup, with
    notes and sources behind it, or cut."""
    words = _words(quote)
    for number in range(len(said) - 1, -1, -1):
        reply = _words(said[number].reply)
        if reply and (reply[:_TELLING] in words or (words and reply.startswith(words))):
            return number
    return None


def _words(text: str) -> str:
    return " ".join(fold(word) for word in WORD.findall(normalise(text)))


def _lean(answer: Answer) -> Answer:
    cited, near = map(_textless, answer.citations), map(_textless, answer.nearest)
    return replace(answer, citations=tuple(cited), nearest=tuple(near))


def _textless(item: Shown) -> Shown:
    return replace(item, passage=replace(item.passage, text=""))
