"""A reply that only admits, in a model's own words, that the passages do not hold the answer.

Models are asked for `INSUFFICIENT: ...` and forget it; with a mark behind it such a sentence would
pass for an answer from the documents.
"""

from __future__ import annotations

import re

from graph.blocks import Kind, blocks, code_spans, sentences
from graph.marks import without_marks
from graph.text import has_words

_LONGEST = 600  # characters; a longer reply says something
_SOURCE = (
    r"(?:passages?|documents?|documentation|docs|sources?|context|excerpts?|materials?|texts?"
    r"|results?|(?:provided|given|available) information)"
)
_NOT = r"(?:(?:do|does|did|is|are|was|could)(?: not|n.t)|can(?:not| not|.t))"
_KNOWLEDGE = (
    r"(?:information|answers?|details?|mentions?|instructions?|guidance|data|references?|anything"
    r"|explanations?|descriptions?)"
)
_TELL = (
    r"(?:mention|specify|say|state|describe|cover|address|answer|explain|discuss|indicate|tell"
    r"|(?:contain|have|provide|include|hold|give|offer) (?:\w+ ){0,3}" + _KNOWLEDGE + ")"
)
_SOURCE_RU = r"(?:документ|фрагмент|источник|контекст|отрыв|материал|текст)\w*"
_KNOWLEDGE_RU = r"(?:информаци|сведени|ответ|данны|упоминани|инструкци|описани|указани)\w*"
_ADMITS = re.compile(
    rf"\b{_SOURCE} (?:\w+ ){{0,3}}{_NOT} (?:\w+ ){{0,2}}{_TELL}\b"
    rf"|\b{_SOURCE} (?:\w+ ){{0,2}}(?:contain|have|has|provide|give)s? no {_KNOWLEDGE}\b"
    rf"|\bthere (?:is|are) no (?:\w+ ){{0,2}}{_KNOWLEDGE}\b.*\b{_SOURCE}\b"
    rf"|\b(?:is|are|was|were)(?: not|n.t) (?:\w+ ){{0,2}}(?:mentioned|specified|provided|stated"
    rf"|described|covered|given|found|available|included) (?:\w+ ){{0,2}}(?:in|by)"
    rf" (?:\w+ ){{0,3}}{_SOURCE}\b"
    r"|\bI (?:do not|don.t) (?:know|have (?:\w+ ){0,3}information)\b"
    r"|\bI (?:cannot|can.t|could not|couldn.t|(?:am|was) unable to) (?:\w+ )?"
    r"(?:find|answer|determine)\b"
    rf"|\b{_SOURCE_RU} (?:\w+ ){{0,3}}не (?:содерж|упомина|указыва|описыва|сообща|говор|отвеча)\w*"
    rf"|\b{_SOURCE_RU} (?:\w+ ){{0,3}}(?:нет|отсутству\w+) (?:\w+ ){{0,3}}{_KNOWLEDGE_RU}"
    rf"|\b{_SOURCE_RU} (?:[\w,]+ ){{0,5}}не (?:указан|упомин|описан|сказан|найден|привед)\w*"
    rf"|\b{_KNOWLEDGE_RU} (?:[\w,]+ ){{0,6}}(?:нет|отсутству\w+|не найден\w*)\b"
    r"|\bя не (?:знаю|могу ответить|наш[её]л)\b|\bне удалось найти\b",
    re.IGNORECASE,
)
_COURTESY = re.compile(
    r"\W*(?:(?:I.m )?sorry|I apologi[sz]e|unfortunately|к сожалению|извините)\b[^.!?]{0,40}[.!]?\s*"
    r"|\W*please\b.*|\W*(?:пожалуйста|обратитесь|уточните)\b.*",
    re.IGNORECASE | re.DOTALL,
)


def admits_nothing(text: str) -> str | None:
    """The first sentence of a reply that says nothing else; None for an answer.

    A reply with code, a list or a table, or with any other sentence, is an answer.
    """
    if len(text) > _LONGEST or code_spans(text):
        return None
    found = [block for block in blocks(text) if block.kind is not Kind.BLANK]
    if any(block.kind is not Kind.PROSE for block in found):
        return None
    pieces = [without_marks(piece).strip() for block in found for piece in sentences(block.text)]
    admitted = [piece for piece in pieces if _ADMITS.search(piece)]
    others = [piece for piece in pieces if piece not in admitted and has_words(piece)]
    return admitted[0] if admitted and all(map(_COURTESY.fullmatch, others)) else None
