"""Messages that want no answer from the documents: nothing at all, greetings, thanks."""

from __future__ import annotations

import re
from functools import lru_cache

from graph.mentions import weight, word_file
from graph.model import Answer, Language, Outcome, Question
from graph.phrases import say
from graph.text import fold, has_words, normalise

_EMOJI = re.compile(r":[a-z0-9_+\-']+:", re.IGNORECASE)
_WORDS = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*")
_NOT_AT_ALL = ("не за что", "не стоит")
_GREETING = re.compile(
    r"\b(?:hi|hello|hey|hiya|yo|morning|afternoon|evening|"
    r"привет|здравствуйте|здравствуй|добрый|доброе|доброго)\b"
)
_ACKNOWLEDGEMENT = re.compile(
    r"^(?:\S+ )?(?:ok|okay|lol|haha|thx|thanks|thank|ty|cheers|great|nice|cool|perfect|gotcha|np|"
    r"brb|ок|окей|ага|спс|спасибо|благодарю|понял|поняла|понятно|ясно|принято|супер|круто|класс|отлично|"
    r"хорошо|ладно|ура|ахах|хаха|лол)\b"
)
_ASKS = re.compile(
    r"\?|\b(?:how|what|whats|which|who|whos|whose|why|when|where|can|could|should|shall|may|must|is|"
    r"are|does|do|did|will|would|tell|show|explain|какой|какая|какое|какие|какую|каком|каким|какими|"
    r"каких|как|что|чем|чего|чему|кто|кого|кому|где|куда|откуда|когда|почему|зачем|сколько|"
    r"скольки|можно|нужно|надо|стоит|ли|покажи|расскажи|объясни)\b",
    re.IGNORECASE,
)


def is_blank(text: str) -> bool:
    """True when there is nothing to answer: no letters or digits, emoji short codes aside."""
    return not has_words(_EMOJI.sub(" ", normalise(text)))


def asks(text: str) -> bool:
    """True when `text` has a question mark or a word that asks."""
    return _ASKS.search(text) is not None


def is_small_talk(text: str) -> bool:
    """True for greetings, thanks and remarks that ask for nothing."""
    plain = _plain(text)
    if not plain or "?" in text:
        return False
    if plain.startswith(_NOT_AT_ALL) or all(word in _fillers() for word in plain.split()):
        return True
    return bool(_ACKNOWLEDGEMENT.match(plain)) and weight(text) <= 1 and not asks(text)


def is_greeting(text: str) -> bool:
    """True for small talk that opens a conversation."""
    return is_small_talk(text) and bool(_GREETING.search(_plain(text)))


def courtesy(question: Question, language: Language) -> Answer | None:
    """The friendly line for a message that asks nothing; None for everything else.

    It cites nothing, so it is never "answered".
    """
    if is_blank(question.text):
        key = "blank_question"
    elif is_small_talk(question.text):
        key = "greeting" if is_greeting(question.text) else "thanks"
    else:
        return None
    return Answer(question.id, Outcome.NOT_FOUND, say(key, language), language)


def _plain(text: str) -> str:
    words = _WORDS.findall(_EMOJI.sub(" ", normalise(text)))
    return " ".join(fold(word).replace("’", "'") for word in words)


@lru_cache(maxsize=1)
def _fillers() -> frozenset[str]:
    return word_file("small_talk.txt")
