"""What one chat message shows by itself: that it points at another, or takes something back.

A message that points at nothing outside itself is a question of its own, whatever was said
before. Pointing words count only when nothing earlier in the same message is what they stand for.
"""

from __future__ import annotations

import re

from graph.mentions import ACRONYMS, weight, word_stems, word_weight
from graph.smalltalk import is_blank, is_small_talk
from graph.text import WORD, fold, stem

# Weights (graph/mentions.py) up to which a message of each kind leans on another.
_HINTED = 2  # "still", "else", "another"; "what if"
_POINTING = 3  # a pronoun after one word that it might stand for; "and on staging?"
_SHOWING = 4  # "that directory"; "not X, Y"
_LEADING = 6  # a pronoun before anything that it could stand for; "I meant X"
_ANTECEDENT = (
    2  # words before a pronoun that weigh as much are what it stands for; 1 of a new topic
)
_LONG = 300  # characters; longer messages speak for themselves

_PLACE = r"(?:in|on|of|for|from|to|with|by|at|about|after|before|during|like|than)"
_SHOW_EN = r"(?:this|that|these|those)"
_SHOW_RU = r"(?:этот|эта|эти|этого|этой|этих|этим|этом|эту)"


def _pattern(*alternatives: str, before: str = r"\b", after: str = r"\b") -> re.Pattern[str]:
    return re.compile(f"{before}(?:{'|'.join(alternatives)}){after}", re.IGNORECASE)


_OPENING = _pattern(
    r"ok|okay|so|well|right|great|thanks|thx|thank you|hm+|oh|got it|i see|makes sense|understood",
    r"ах|ок|окей|ладно|ну|так|понял|понятно|ясно|спасибо|спс|хорошо",
    before="^(?:",
    after=r"\b[\s,.!:;–—-]*)+",
)
_SWITCH = _pattern(
    r"btw|by the way|another (?:question|thing|topic)|different thing|unrelated|off[- ]?topic",
    r"(?:a )?(?:new|different|other) (?:question|topic)|separately|next question|moving on",
    r"changing (?:the )?(?:topic|subject)|(?:now )?something else|now about",
    r"кстати|(?:другой|еще|ещё|новый|отдельный|следующий) (?:один )?вопрос|вопрос не по теме",
    r"не по теме|отдельно|(?:теперь )?(?:про|о) друго[ем]|другая тема|теперь (?:про|о|об)",
    r"и ещё вопрос",
    before="^(?:and |и |а )?",
    after=r"\b[\s,.:;–—-]*",
)
_ELLIPSIS = _pattern(
    r"and|but|or|what about|how about|what if|also|(?:the )?same (?:for|with|on|in)",
    r"а если|ну а|а что|а|и|но|или|то же (?:самое )?(?:для|про|на|с|в)",
    before="^",
    after=r"\b[\s,]*",
)
_POINTER = _pattern(
    r"its?|it's|them|they|their|theirs|he|him|she|those|these|ones|both|mine",
    rf"(?:{_PLACE}|is|was|did|do|does|and|not|reset|fix|undo|stop|revert) that",
    r"(?:can|could|should|will|would|must|has) that(?= \w+)",
    r"thats?(?= (?:is|mean|happen|why|way)\b)|that(?=\W*$)",
    r"(?:that|this)(?= (?:back|off|on|up|down|out|over|away|again|now|safely)\b)",
    r"this(?! (?:week|month|year|morning|time)\b)",
    r"(?:the|default|which|other|new|old) one|one(?= for\b)",
    r"the (?:other|rest|same|former|latter)|the (?:first|second|third|last)(?= one\b|\W*$)",
    r"(?<!is )(?<!are )there(?! (?:is|are|a|any)\b)",
    r"он|она|оно|они|его|ее|её|их|ему|ей|нему|него|ней|нее|неё|ним|ними|них|нем|нём|им|ими",
    rf"это|этому|{_SHOW_RU}|тот|та|те|того|той|тех|такой|такая|такие|то(?=\W*$)",
    r"там|тут|туда|оттуда|отсюда|сам|сама|само|сами|оба|обе|первый|первом|второй|вторая|втором",
    r"остальн\w+|друг(?:ой|ая|ие|ое|им|ом)",
)
_SHOWN = re.compile(
    rf"(?:\w+ )?(?:{_SHOW_EN}|{_SHOW_RU})\s+(?!is\b|the\b)([^\W\d_]+)", re.IGNORECASE
)
_PLEONASTIC = _pattern(
    r"is (?:it|this|that) (?:ok|okay|possible|safe|true|fine|normal|necessary|worth|better)",
    r"is (?:it|this|that) (?:allowed|to|the|an?)|it is (?:ok|possible|safe)|what time is it",
    r"what does (?:it|this) mean (?:when|if|that)|the same (?:time|as)|these days",
    r"which one(?=.*\b(?:or|of|between)\b)|which (?:is|are)(?=.*\bor\b)|it department",
    r"правда ли|(?:что )?это (?:за|такое)|так это|то есть|в том числе|тем не менее|и так далее",
    r"о том|том,? что|того,? что|тот же",
)
_CLAUSE = _pattern(r"when|if|while|because|after|before|когда|если|пока", after=r"\s+$")
_CONDITION = _pattern("if", "если")
_ASKED_FOR = _pattern(
    r"who|what|where|when|which|кто|кому|что|где|куда|когда|как(?:ой|ая|ое|ие|ую)", before="^"
)
_PAIR = _pattern("both", "оба", "обе", "обоих")
_PREDICATE = _pattern(
    r"есть|is there|are there|do we|does|how|why|как|почему|зачем|сколько",
)
_EVERYTHING = _pattern(r"all|every|everything|все|всех|всё")
_LETTERS = re.compile(r"[^\W\d_]")
_MINE = _pattern(r"my|mine|мой|моя|мое|моё|мои|моего|моей|моем|моём|моих|мою|моим|у меня")
_HINTS = _pattern(
    r"still|also|too|else|instead|again|another|earlier|faster|as well|then|now what",
    r"то же самое|тоже|также|еще|ещё|раньше|пораньше|быстрее|тогда|опять|снова",
    r"всё равно|все равно",
)
_CORRECTION = _pattern(
    r"i (?:mean|meant|said)|i(?: was|'m| am) (?:asking|talking) about|correction|rather|make that",
    r"i actually (?:want(?:ed)?|need(?:ed)?|meant|mean)|actually,? (?:for|on|in)",
    r"(?:the )?wrong (?:alert|one|service|env|environment|node|cluster|name|word|question)",
    r"я про|я о|я об|(?:я )?имел[аи]? в виду|точнее|вернее|не тот|не та|не то|ошиб(?:ся|лась)",
    r"я спрашива\w+|я спросил[аи]?|речь о|вопрос про|опечат\w+",
    before=r"^(?:(?:no|nope|sorry|oops|нет|ой|извини|извините|прости|сорри)\b[\s,.!]*)*",
    after=r"\b[\s,.:!–—-]*",
)
_NEGATION = re.compile(
    r"^(?:(?:no|nope|нет|не-не|sorry|ой)\b[\s,.!:–—-]*)+|^(?=(?:not|не)\s)", re.IGNORECASE
)
_NEGATED_END = re.compile(r",\s*(?:not|а не|не)\s+(?:the\s+|a\s+)?[\w\-]+\W*$", re.IGNORECASE)
_DENIED = r"(?:not|не)\s+(?:(?:the|a|про|на|on)\s+)?"
_DENIED_START = re.compile(
    rf"^{_DENIED}[\w\-]+\s*(?:,|;|but|а|—|-)+\s*(?:а\s+|but\s+)?", re.IGNORECASE
)
_DENIED_WORD = re.compile(
    rf"\b{_DENIED}([\w\-]+)(?=\s*(?:,|;|\bbut\b|\bа\b|[.!?]*$))", re.IGNORECASE
)
_QUESTION_START = _pattern(
    r"how|what|which|who|why|when|where|can|is|are|does|do",
    r"как|что|где|когда|почему|зачем|сколько|кто|чем|можно",
    before="^",
)


def points_elsewhere(text: str) -> bool:
    """True when a message cannot be understood without the ones before it."""
    body = stripped(text)
    if len(text) > _LONG or not _LETTERS.search(text) or is_blank(text) or is_small_talk(text):
        return False
    total = weight(body)
    needed = 1 if _SWITCH.match(text) else _ANTECEDENT
    if is_correction(body) or _has_pointer(body, total, needed):
        return True
    opener = _ELLIPSIS.match(body)
    if opener and not _SWITCH.match(text):
        return total <= _elliptic_limit(opener.group(), body[opener.end() :])
    if _EVERYTHING.search(body):
        return False
    return total <= (_HINTED if _HINTS.search(body) or is_personal(body) else 0)


def is_correction(text: str) -> bool:
    """True when a message takes back a part of what was asked before: "no, I meant prod"."""
    body = stripped(text)
    if _CORRECTION.match(body):
        return weight(body) <= _LEADING
    if not (_NEGATION.match(body) or _NEGATED_END.search(body)):
        return False
    return weight(body) <= _SHOWING and not _QUESTION_START.match(_NEGATION.sub("", body))


def is_personal(text: str) -> bool:
    """True when a message speaks of what is the asker's own: "my service", "mine"."""
    return _MINE.search(text) is not None


def stripped(text: str) -> str:
    """The message without acknowledgements and announcements in front."""
    body = _SWITCH.sub("", _OPENING.sub("", text.strip()))
    return body or text.strip()


def without_opener(text: str) -> str:
    """The message without "and", "what about", "а если" in front."""
    return _ELLIPSIS.sub("", stripped(text))


def without_correction(text: str) -> str:
    """What a correction puts in place: neither its marker nor what it takes back."""
    body = _NEGATION.sub("", _CORRECTION.sub("", stripped(text)))
    body = _NEGATED_END.sub("", body)
    return _DENIED_START.sub("", body).strip(" ,.!?") or body.strip(" ,.!?")


def taken_back(text: str) -> tuple[str, ...]:
    """The words that a correction denies: "not client, server" denies "client"."""
    return tuple(match.group(1) for match in _DENIED_WORD.finditer(text))


def _elliptic_limit(opener: str, rest: str) -> int:
    if _CONDITION.search(opener):
        return _HINTED
    if _PREDICATE.search(rest):
        return 1
    return _HINTED if _ASKED_FOR.match(rest) else _POINTING


def _has_pointer(body: str, total: int, needed: int) -> bool:
    masked = _PLEONASTIC.sub(lambda match: "-" * len(match.group()), body)
    return any(_points(found, masked, total, needed) for found in _POINTER.finditer(masked))


def _points(found: re.Match[str], body: str, total: int, needed: int) -> bool:
    before, after = body[: found.start()], body[found.end() :]
    if _PAIR.fullmatch(found.group()) and weight(after) > _HINTED:
        return False
    shown = _SHOWN.match(body, found.start())
    if shown and total <= _SHOWING:
        return stem(fold(shown.group(1))) not in word_stems(before)
    words = [match for match in WORD.finditer(before) if fold(match.group()) not in ACRONYMS]
    candidates = sum(word_weight(match, body) for match in words)
    if candidates >= (1 if _CLAUSE.search(before) else needed):
        return False
    return total <= (_POINTING if candidates else _LEADING)
