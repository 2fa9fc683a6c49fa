"""The answer in a model's reply, without what models wrap around it or go on with after it.

A whole answer comes in a fence, in a JSON object, under a label; it is said over and over; another
turn of the chat is made up after it; or the length limit ends it in the middle of a sentence.
"""

from __future__ import annotations

import re

from graph.blocks import LISTED, ORDINAL, Block, Kind, blocks, join, sentences
from graph.gate import insufficient
from graph.marks import MARK
from graph.reply import first_json
from graph.text import has_words

_FENCED = re.compile(r"\s*(`{3,}|~{3,})(markdown|md|text|txt|)[ \t]*\n(.*?)\n?\1\s*", re.DOTALL)
_OBJECT = re.compile(r"\s*(?:```(?:json)?\s*)?\{.*\}\s*(?:```\s*)?", re.DOTALL)
_ANSWER_KEYS = ("answer", "response", "reply", "text", "output", "result", "ответ")
_MARKED_LINE = re.compile(r"\[\d{1,3}\][.。]?[ \t]*$", re.MULTILINE)
_LABEL = re.compile(
    r"\s*[*_#]*\s*(?:assistant|bot|(?:final )?answer|(?:финальный )?ответ|ассистент)[*_]*:[*_]*\s+",
    re.IGNORECASE,
)
_ASKER = r"(?:user|human|пользователь)"
_BOT = r"(?:assistant|bot|ai|ассистент|бот)"
_NEXT_TURN = re.compile(
    rf"^[*_#]*\s*{_ASKER}[*_]*:(?=.*\n\s*[*_#]*\s*{_BOT}[*_]*:)", re.IGNORECASE | re.MULTILINE
)
_LATE_REASON = re.compile(r"^[ \t*_>-]*(?:INSUFFICIENT|НЕДОСТАТОЧНО)[ \t]*[*_`]*:[*_` \t]*", re.M)
_FINISHED = re.compile(r"[.!?:…。！？)\]»”\"`*|][\s*_]*$")


def bare_answer(text: str) -> str:
    """`text` without its wrapping, made-up turns and repetitions. Applying it twice changes
    nothing."""
    before = ""
    while text != before:
        before, text = text, _unwrapped(text)
    if insufficient(text):
        return text
    turn = _NEXT_TURN.search(text)
    if turn and has_words(text[: turn.start()]):
        text = text[: turn.start()].rstrip()
    return _said_once(_LATE_REASON.sub("", text))


def _unwrapped(text: str) -> str:
    fenced = _FENCED.fullmatch(text)
    if fenced and fenced[1] not in fenced[3] and (fenced[2] or _MARKED_LINE.search(fenced[3])):
        return fenced[3]
    if _OBJECT.fullmatch(text) and (inner := _answer_in(first_json(text))):
        return inner
    return _LABEL.sub("", text, count=1) if _LABEL.match(text) else text


def _answer_in(value: object) -> str:
    if not isinstance(value, dict):
        return ""
    found = {str(key).casefold(): item for key, item in value.items() if isinstance(item, str)}
    text = next((found[key] for key in _ANSWER_KEYS if found.get(key)), "")
    return text if MARK.search(text) or insufficient(text) else ""


def _said_once(text: str) -> str:
    """Without a sentence, an item or a paragraph that says what the one before it says."""
    kept: list[Block] = []
    last = ""
    for block in blocks(text):
        if block.kind in (Kind.PROSE, *LISTED):
            if (said := _said(block.text)) == last and said:
                continue
            last = said
            kept.append(Block(block.kind, _distinct(block.text)))
            continue
        last = last if block.kind is Kind.BLANK else ""
        kept.append(block)
    once = join(kept)
    return once if once == text else once.rstrip()


def _said(text: str) -> str:
    return " ".join(ORDINAL.sub("", text, count=1).split())


def _distinct(text: str) -> str:
    found = sentences(text)
    pieces = [
        piece
        for place, piece in enumerate(found)
        if not place or _said(piece) != _said(found[place - 1]) or not has_words(piece)
    ]
    return text if len(pieces) == len(found) else "".join(pieces).rstrip()


def without_loose_end(text: str) -> str:
    """A text that was cut at its length, up to the last sentence, item or line that is whole; ""
    when none is."""
    found = blocks(text.rstrip())
    last = found.pop()
    if last.kind is Kind.FENCE:
        return _closed(found, last)
    pieces = sentences(last.text) if last.kind in (Kind.PROSE, *LISTED) else [last.text]
    if not _FINISHED.search(pieces[-1]) or last.text.count("`") % 2:
        pieces.pop()
    rest = "".join(pieces).rstrip()
    whole = [*found, Block(last.kind, rest)] if has_words(rest) else found
    return join(whole).rstrip()


def _closed(found: list[Block], fence: Block) -> str:
    """A fence that has no end loses its last line, which may be half a command."""
    first, *lines = fence.text.split("\n")
    mark = first.strip()[:3]
    if lines and lines[-1].strip().startswith(mark):
        return join([*found, fence])
    whole = [first, *lines[:-1], mark]
    return join([*found, Block(Kind.FENCE, "\n".join(whole))] if lines[:-1] else found).rstrip()
