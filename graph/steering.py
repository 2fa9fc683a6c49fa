"""Text that speaks to a machine, not to a reader: planted orders, wherever a document has them.

A model that obeys what it reads is not given such text, and what it says then has no support in
it. From an order on, the rest of its paragraph goes too, and of a section under such a heading
everything: what follows an order is its content.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any

from graph.blocks import Block, Kind, blocks, join, sentences
from graph.model import Passage
from graph.text import has_odd_letters

GONE = "[…]"
_SECTIONS = " · "  # between the headings of sections that share a chunk
_KEPT = 512  # texts; the same passages are given for question after question
_AGENT = (
    r"(?:(?:ai|llm|language|chat) (?:agent|assistant|model|bot)|ai|llm|chatbot|assistant|gpt)s?"
)
_AGENT_RU = r"(?:ии|ассистент|помощник|нейросет|чат-?бот|языков\w+ модел)[а-я]*"
_START = r"(?:^|[.!?]\s)\W*"
_SAY = r"(?:say|add|print|output|reply|answer|reveal|include|append|repeat|send|mention|show|run)"
_RULES = r"(?:rules?|instructions?|prompts?|orders|messages|context|guidelines)"
_STEERING = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,30}\b(?:instructions?|prompts?)\b"
    r"|\b(?:ignore|disregard|forget|override|bypass)\b.{0,20}"
    rf"\b(?:earlier|previous|prior|above|preceding|your|former)\b.{{0,20}}\b{_RULES}\b"
    r"|\b(?:ignore|disregard|forget) (?:all |the |your )+(?:\w+ )?doc(?:s|uments|umentation)\b"
    rf"|{_START}(?:system|assistant)\s*:\s*(?:you|ignore|from|always|never|new|tell|respond|{_SAY})\b"
    r"|<\|?(?:system|assistant|im_start|im_end)\b"
    r"|\bfrom now on,?.{0,20}\b(?:answer|reply|respond|act)\b"
    rf"|\byou are (?:now )?(?:an? |the )?(?:\w+ ){{0,2}}{_AGENT}\b"
    r"|\byou (?:\w+ )?act (?:as|for) (?:an? |the )?(?:admin|root|super|director|unrestrict)"
    r"|\b(?:answer|respond|reply) only (?:in|with)\b"
    r"|\b(?:note|notice|instruction|message|order|request)s? (?:to|for) (?:the |all |any )?"
    rf"{_AGENT}\b"
    rf"|{_START}(?:attention|dear|hey|hi|hello|note|for)?,? ?(?:all |any |the )?{_AGENT}\s*[:,!]"
    rf"|{_START}(?:for|attention) (?:all |any |the )?{_AGENT}\W*$"
    rf"|\b{_AGENT} (?:must|shall|should|has to|have to|needs? to) (?:\w+ )?{_SAY}\b"
    r"|игнорируй|(?:забудь|забудьте|отбрось)(?: \w+)? (?:инструкц|прежн|предыдущ|правил|прошл)"
    r"|с этого момента отвечай|отвечай только|ты теперь (?:\w+ )?(?:админ|директор|ассистент)"
    r"|пользователь (?:теперь )?(?:является|считается) (?:админ|директор)"
    rf"|^\W*(?:для|внимание|{_AGENT_RU})[,!:]? ?(?:всех )?{_AGENT_RU}\W*$"
    rf"|\b(?:указани|инструкци|сообщени|обращени|записк|приказ)\w* (?:для |к )?{_AGENT_RU}\b",
    re.IGNORECASE | re.MULTILINE,
)
_SIGNS = (  # a steering text has one of these, and hardly any other text
    "ignore", "disregard", "forget", "override", "bypass", "assistant", "from now on", "you are",
    "act as", "act for", " only in", " only with", "llm", "gpt", "chatbot", "im_start", "im_end",
    "игнорируй", "забудь", "отбрось", "с этого момента", "отвечай только", "ты теперь",
    "пользователь", "ассистент", "помощник", "нейросет", "модел",
)  # fmt: skip
_LONG_SIGN = re.compile(  # in lower case
    r"system(?:\s*:|(?<=<system)|(?<=\|system))"
    r"|\b(?:ais?\b|ии|чат-?бот|(?:language|chat) (?:agent|assistant|model|bot))"
)


@lru_cache(maxsize=_KEPT)
def steers(text: str) -> bool:
    """True when `text` gives orders to whoever reads it for somebody else."""
    lower = text.lower()
    signed = any(sign in lower for sign in _SIGNS) or _LONG_SIGN.search(lower)
    if not signed and not has_odd_letters(text):
        return False
    return _STEERING.search(text) is not None


@lru_cache(maxsize=_KEPT)
def without_steering(text: str) -> str:
    """`text` with planted orders, and what belongs to them, replaced by an ellipsis."""
    if not steers(text):
        return text
    kept: list[Block] = []
    level = 0  # of the heading whose section goes; 0 for none
    for block in blocks(text):
        if block.kind is Kind.HEADING:
            depth = _depth(block)
            if not level or depth <= level:
                level = depth if steers(block.text) else 0
            if level == 1 and not kept:
                level = 0  # the title of a document is no section
                continue
        if level:
            continue
        kept.append(_cleaned(block))
    return join(kept).strip("\n") or GONE


def _depth(block: Block) -> int:
    title = block.text.strip()
    return len(title) - len(title.lstrip("#")) or 1


def _cleaned(block: Block) -> Block:
    if block.kind is Kind.FENCE or not steers(block.text):
        return block
    kept: list[str] = []
    for sentence in sentences(block.text):
        if steers(sentence):
            break
        kept.append(sentence)
    return Block(Kind.PROSE, "".join([*kept, GONE]))


def without_orders(passage: Passage) -> dict[str, Any]:
    """The fields of a passage (text, title, heading) that change when its orders go."""
    if not steers("\n".join((passage.text, passage.title, *passage.heading))):
        return {}
    title = passage.title
    if steers(title):
        title = PurePosixPath(passage.document).name
    heading = tuple(_heading(part) for part in passage.heading)
    headed = any(block.kind is Kind.HEADING for block in blocks(passage.text))
    sections = heading[1:] if passage.heading[:1] == (passage.title,) else heading
    text = GONE if GONE in sections and not headed else without_steering(passage.text)
    return {"text": text, "title": title, "heading": heading}


def _heading(part: str) -> str:
    """A heading of a chunk, which may stand for several sections, without those for machines."""
    kept = [name for name in part.split(_SECTIONS) if not steers(name)]
    return _SECTIONS.join(kept) or GONE
