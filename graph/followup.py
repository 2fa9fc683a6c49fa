"""Follow-ups by rule: which earlier message a question leans on, and what it means with it.

Two cases are easy to get wrong. A question that stands alone is never touched, so a change of
topic is not dragged back. And only the exchange that the question leans on is carried over, not
the whole conversation, so the search is not about everything that was ever said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graph.mentions import is_telling, names, weight, word_stems
from graph.model import Language, Turn
from graph.phrases import asks_which, is_of_itself
from graph.pointers import (
    is_correction,
    is_personal,
    points_elsewhere,
    stripped,
    taken_back,
    without_correction,
)
from graph.slots import replaced_object, replaced_word, substituted
from graph.smalltalk import asks, is_blank, is_small_talk
from graph.text import WORD, fold, normalise, question_language, stem, stop_words

ASKER, BOT = "user", "bot"

_TOPIC_WORDS = 10  # carried over from the message that a follow-up leans on
_REPLY_WORDS = 5  # carried over from the bot's reply to it
_REPLY_SENTENCES = 2
_REMARK_WORDS = 4  # carried over from what others said since
_CONTEXT_CHARACTERS = 60  # of topic, remarks and reply; the topic alone may be longer
_REPLY_ROOM = 20  # characters of it that the reply gets in any case
_SHORT_CORRECTION = 2  # words
_CHOICE = 4  # weight of what is chosen
_FEW_LINES = 4  # a longer message holds a paste
_DEPTH = 3  # follow-ups upon follow-ups
_HEAD_SHARE = 0.4  # of a long message: the question is often in its last lines
_GAP = "\n[…]\n"

_CODE_BLOCK = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_NOT_OWN = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|:[a-z0-9_+\-]+:", re.DOTALL)
_MARK = re.compile(
    r"\[\d+\]|^[ \t]*(?:\d{1,3}[.)]|[-*+•])[ \t]+", re.MULTILINE
)  # of sources, items
_PERSON = re.compile(r"[A-ZА-ЯЁ][a-zа-яё]+")  # or the first word of a sentence
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_OWN_LATIN = re.compile(r"\b[a-z]{2,}\b")
_NEUTRAL = frozenset(["ok", "okay", "lol"])


@dataclass(frozen=True, slots=True)
class Exchange:
    """A message, the bot's reply to it, and what people said after that without being answered."""

    place: int  # of the message in the history
    who: str
    asked: str
    reply: str = ""
    remarks: tuple[str, ...] = ()


def cut(text: str, limit: int) -> str:
    """`text` within `limit` characters: its beginning and its end, broken at white space."""
    if len(text) <= limit:
        return text
    room = limit - len(_GAP)
    head = text[: int(room * _HEAD_SHARE)]
    tail = text[len(text) - (room - len(head)) :]
    head = head.rsplit(None, 1)[0] if " " in head or "\n" in head else head
    pieces = tail.split(None, 1)
    return head + _GAP + (pieces[1] if len(pieces) > 1 else tail)


def asker_language(text: str, history: Sequence[Turn]) -> Language:
    """The language of the asker's own words; of their last message when `text` has none.

    In a pasted log only the lines around the paste are the asker's own.
    """
    own = _own_lines(text)
    if _has_own_words(own):
        return question_language(own)
    for turn in reversed(history):
        if turn.who != BOT and _has_own_words(turn.text):
            return question_language(_own_lines(turn.text))
    return question_language(own)


def asks_back(turn: Turn) -> bool:
    """True when the bot asked which of several things is meant."""
    return turn.who == BOT and asks_which(turn.text)


def needs_context(text: str, history: Sequence[Turn]) -> bool:
    """True when `text` leans on an earlier message of this history."""
    if not history:
        return False
    if _chooses(text, history):
        return True
    return points_elsewhere(text) and leaned_on(text, history) is not None


def leaned_on(text: str, history: Sequence[Turn]) -> Exchange | None:
    """The exchange that a follow-up is about: the asker's own last one, else the last of all.

    What is "mine" is looked for in the asker's own messages only.
    """
    found = [item for item in exchanges(history) if not _is_idle(item.asked)]
    own = [item for item in found if item.who == ASKER]
    answered = [item for item in own if item.reply] or ([] if _answered(found) else own)
    if answered:
        return answered[-1]
    if is_personal(text):
        return own[-1] if own else None
    anyone = _answered(found) or found
    return anyone[-1] if anyone else None


def resolve(text: str, history: Sequence[Turn]) -> str:
    """`text` as a question that can be understood without the history; unchanged if it can be."""
    if _chooses(text, history):
        return _joined(_chained(exchanges(history[:-1])[-1], history[:-1], _DEPTH), text)
    exchange = leaned_on(text, history) if points_elsewhere(text) else None
    if exchange is None:
        return text
    asked = _chained(exchange, history, _DEPTH)
    if is_correction(text):
        return _corrected(asked, text)
    return substituted(asked, text) or _joined(asked, text, exchange.remarks, exchange.reply)


def _chooses(text: str, history: Sequence[Turn]) -> bool:
    """True when a few words answer the bot's question, which one is meant: "staging"."""
    if len(history) < 2 or not asks_back(history[-1]) or history[-2].who == BOT:  # noqa: PLR2004
        return False
    return weight(text) <= _CHOICE and not asks(text) and not _is_idle(text)


def exchanges(history: Sequence[Turn]) -> list[Exchange]:
    """The conversation as messages with their replies, oldest first."""
    found: list[Exchange] = []
    for place, turn in enumerate(history):
        if turn.who != BOT:
            found.append(Exchange(place, turn.who, turn.text, *_after(history, place)))
    return found


def _after(history: Sequence[Turn], place: int) -> tuple[str, tuple[str, ...]]:
    following = history[place + 1 :]
    if not following or following[0].who != BOT:
        return "", ()
    remarks: list[str] = []
    for number, turn in enumerate(following[1:], start=1):
        answered = number + 1 < len(following) and following[number + 1].who == BOT
        if turn.who == BOT or answered:
            break
        if not _is_idle(turn.text):
            remarks.append(turn.text)
    return following[0].text, tuple(remarks)


def _answered(found: Sequence[Exchange]) -> list[Exchange]:
    return [item for item in found if item.reply]


def _is_idle(text: str) -> bool:
    return is_blank(text) or is_small_talk(text)


def _chained(exchange: Exchange, history: Sequence[Turn], depth: int) -> str:
    """What the exchange asked, with what it leaned on itself."""
    earlier = history[: exchange.place]
    if depth == 0 or not points_elsewhere(exchange.asked):
        return exchange.asked
    before = leaned_on(exchange.asked, earlier)
    if before is None:
        return exchange.asked
    asked = _chained(before, earlier, depth - 1)
    if is_correction(exchange.asked):
        return _corrected(asked, exchange.asked)
    return substituted(asked, exchange.asked) or _joined(asked, exchange.asked)


def _corrected(asked: str, text: str) -> str:
    kept = without_correction(text)
    denied = taken_back(text)
    short = len(kept.split()) <= _SHORT_CORRECTION
    for word in denied:
        replaced = replaced_word(asked, word, kept if short else "")
        if replaced:
            return replaced if short else f"{_topic(replaced, kept)}: {kept}"
    changed = substituted(asked, kept)
    if changed is None and short and weight(kept):
        changed = replaced_object(asked, kept)
    if changed:
        return changed
    topic = _topic(asked, kept)
    return f"{topic}: {kept}" if topic else kept


def _joined(asked: str, text: str, remarks: Sequence[str] = (), reply: str = "") -> str:
    """The topic in front of the follow-up; the bot's reply helps while there is room for it."""
    text = stripped(text)
    known = word_stems(text)
    topic = list(_words(asked, known, _TOPIC_WORDS))
    for remark in remarks:
        topic += _words(remark, known, _REMARK_WORDS)
    room = max(_CONTEXT_CHARACTERS - len(" ".join(topic)), _REPLY_ROOM)
    topic += _reply_words(reply, known, room)
    return f"{' '.join(topic)}: {text}" if topic else text


def _reply_words(reply: str, known: set[str], room: int) -> list[str]:
    """What the bot's first sentences name, then their other words, in reading order."""
    prose = _MARK.sub(" ", _CODE_BLOCK.sub(" ", reply)).strip()
    told = [sentence for sentence in _SENTENCE.split(prose) if not is_of_itself(sentence)]
    opening = " ".join(told[:_REPLY_SENTENCES])
    words = [word for word in _words(opening, known, len(opening)) if not _PERSON.fullmatch(word)]
    named = set(names(opening))
    words.sort(key=lambda word: (word not in named, not is_telling(word)))
    picked: list[str] = []
    for word in words[:_REPLY_WORDS]:
        room -= len(word) + 1
        if room >= 0:
            picked.append(word)
    return sorted(picked, key=opening.find)


def _topic(asked: str, text: str) -> str:
    known = word_stems(text)
    return " ".join(_words(asked, known, _TOPIC_WORDS))


def _words(text: str, known: set[str], limit: int) -> Iterator[str]:
    """The first `limit` words of `text` that say what it is about and are not yet `known`."""
    stops = stop_words()
    for word in WORD.findall(normalise(text)):
        low = fold(word)
        if limit == 0:
            return
        if low in stops or stem(low) in known:
            continue
        known.add(stem(low))
        limit -= 1
        yield word


def _own_lines(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) <= _FEW_LINES:
        return text
    return f"{lines[0]}\n{lines[-1]}"


def _has_own_words(text: str) -> bool:
    text = _NOT_OWN.sub(" ", text)
    words = [fold(word) for word in re.findall(r"[^\W\d_]+", text)]
    if any("а" <= word[0] <= "я" for word in words):
        return True
    plain = [word for word in _OWN_LATIN.findall(text) if word not in _NEUTRAL]
    return len(plain) > 1 or any(word in stop_words() for word in plain)
