"""Text that speaks to a machine, not to a reader: planted orders, wherever a document has them.

A model that obeys what it reads is not given such text, and what it says then has no support in
it. From an order on, the rest of its paragraph goes too, and of a section under such a heading
everything: what follows an order is its content.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from graph.blocks import Block, Kind, blocks, join, sentences
from graph.model import Passage
from graph.text import has_odd_letters, holds_any, normalise

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


class _Order(NamedTuple):
    """A way to give orders. A text that has it has one of `signs` in lower case: looking for these
    takes a small part of the time that looking for the pattern takes."""

    signs: tuple[str, ...]
    pattern: re.Pattern[str]


def _order(signs: tuple[str, ...], *alternatives: str) -> _Order:
    return _Order(signs, re.compile("|".join(alternatives), re.IGNORECASE | re.MULTILINE))


_TO_MACHINES = _order(
    (
        "llm", "gpt", "assistant", "chatbot", "language ", "chat ",
        "ассистент", "помощник", "нейросет", "чатбот", "чат-бот", "языков",
    ),
    rf"\byou are (?:now )?(?:an? |the )?(?:\w+ ){{0,2}}{_AGENT}\b",
    r"\b(?:note|notice|instruction|message|order|request)s? (?:to|for) (?:the |all |any )?"
    rf"{_AGENT}\b",
    rf"{_START}(?:attention|dear|hey|hi|hello|note|for)?,? ?(?:all |any |the )?{_AGENT}\s*[:,!]",
    rf"{_START}(?:for|attention) (?:all |any |the )?{_AGENT}\W*$",
    rf"\b{_AGENT} (?:must|shall|should|has to|have to|needs? to) (?:\w+ )?{_SAY}\b",
    rf"^\W*(?:для|внимание|{_AGENT_RU})[,!:]? ?(?:всех )?{_AGENT_RU}\W*$",
    rf"\b(?:указани|инструкци|сообщени|обращени|записк|приказ)\w* (?:для |к )?{_AGENT_RU}\b",
)  # fmt: skip
_ORDERS = (
    _order(
        ("ignore", "disregard", "forget", "override", "bypass"),
        r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,30}\b(?:instructions?|prompts?)\b",
        r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,20}"
        rf"\b(?:earlier|previous|prior|above|preceding|your|former)\b.{{0,20}}\b{_RULES}\b",
        r"\b(?:ignore|disregard|forget) (?:all |the |your )+(?:\w+ )?doc(?:s|uments|umentation)\b",
    ),
    _order(
        ("system", "assistant"),
        rf"{_START}(?:system|assistant)\s*:\s*"
        rf"(?:you|ignore|from|always|never|new|tell|respond|{_SAY})\b",
    ),
    _order(("<",), r"<\|?(?:system|assistant|im_start|im_end)\b"),
    _order(("from now on",), r"\bfrom now on,?.{0,20}\b(?:answer|reply|respond|act)\b"),
    _order(
        ("act as", "act for"),
        r"\byou (?:\w+ )?act (?:as|for) (?:an? |the )?(?:admin|root|super|director|unrestrict)",
    ),
    _order(
        ("answer only ", "respond only ", "reply only "),
        r"\b(?:answer|respond|reply) only (?:in|with)\b",
    ),
    _order(
        ("forget",), r"\bforget (?:everything|anything|all)(?: that)? (?:you|above|before|i) ?\w*"
    ),
    _order(
        ("not follow",),
        r"\bnot follow (?:your|the|any) (?:earlier|previous|prior|above|former|system) "
        r"(?:instructions?|rules?|prompts?)\b",
    ),
    _order(
        ("the above",),
        r"\b(?:disregard|ignore) (?:(?:all|everything) (?:of )?)?the above(?=\W*(?:and\b|$))",
    ),
    _order(
        ("prompt",),
        r"\b(?:print|reveal|show|repeat|output|leak|tell)\b.{0,30}"
        r"\b(?:system|initial|your) prompt\b",
    ),
    _order(
        ("new instruction", "new task", "new rule", "new objective"),
        rf"{_START}(?:here are |your )?new (?:instructions?|task|objective|rules?)(?: is| are)?"
        rf"(?: to)?\s*:?\s*(?:you|respond|ignore|output|tell|write|{_SAY})\b",
    ),
    _order(
        ("summari", "answering", "responding"),
        r"\bwhen(?:ever)?\b.{0,20}\b(?:summari[sz]\w+|answering|responding)\b.{0,40}"
        r"\bthis (?:document|page|text|file|section)\b.{0,20}"
        r"\b(?:tell|include|add|say|mention|recommend|append|insert|link)\b",
    ),
    _order(
        ("nothing else",), r"\b(?:respond|reply|answer|output|say)\b.{0,60}\band nothing else\b"
    ),
    _order(
        ("pretend", "dan "),
        r"\bpretend (?:that )?(?:you are|to be) (?:an? |the )?"
        r"(?:dan|admin\w*|root|unrestricted|\w+ (?:ai|model|assistant))\b",
        r"\byou are (?:now )?dan\b",
    ),
    _order(
        ("instead of answering",), rf"\binstead of answering\b.{{0,20}}\b(?:output|write|{_SAY})\b"
    ),
    _order(("[inst]", "[/inst]", "<<sys"), r"\[/?inst\]|<</?sys>>"),
    _order(
        ("ignorier", "vergiss", "missachte", "ignorez", "oublie", "ignora", "olvida"),
        r"\b(?:ignorier\w*|vergiss|missachte\w*)\b.{0,40}\b(?:anweisung|instruktion|vorgabe|regel)",
        r"\b(?:ignorez|oubliez?)\b.{0,40}\b(?:instructions|consignes|r[èe]gles)\b",
        r"\b(?:ignora|olvida)[dr]?\b.{0,40}\b(?:instrucciones|reglas|indicaciones)\b",
    ),
    _order(("忽略", "無視"), r"(?:忽略|無視).{0,12}(?:指令|指示|提示|规则|說明|说明)"),
    _order(("игнорируй",), "игнорируй"),
    _order(("не следуй",), r"не следуй(?:те)?.{0,20} (?:инструкци|указани|правил)"),
    _order(
        ("нов",),
        r"нов(?:ая|ые|ое) (?:инструкци|указани|задани)\w*\s*:\s*"
        r"(?:ответ|скажи|напиши|выведи|назови|ты\b)",
    ),
    _order(("если ты",), rf"если ты\s*[-–—]?\s*{_AGENT_RU}\b"),
    _order(("промпт",), r"(?:выведи|покажи|назови|раскрой)(?:те)?\b.{0,20} промпт"),
    _order(("сообщение:",), r"системное сообщение:\s*(?:ты|отвеч|игнор)"),
    _order(
        ("в ответ",),
        r"всегда (?:добавляй|вставляй|упоминай)(?:те)? в (?:(?:свой|каждый|этот) ответ"
        r"|ответ (?:ссылку|текст|фразу|слово|слова|адрес)\b)",
    ),
    _order(
        ("забудь", "отбрось"),
        r"(?:забудь|забудьте|отбрось)(?: \w+)? (?:инструкц|прежн|предыдущ|правил|прошл)",
    ),
    _order(("отвечай",), "с этого момента отвечай", "отвечай только"),
    _order(("ты теперь",), r"ты теперь (?:\w+ )?(?:админ|директор|ассистент)"),
    _order(("пользователь",), "пользователь (?:теперь )?(?:является|считается) (?:админ|директор)"),
    _TO_MACHINES,
)
_SIGNS = tuple(sign for order in _ORDERS for sign in order.signs)
_MIXED = re.compile(r"\b(?=[^\W\d_]*[a-z])(?=[^\W\d_]*[а-яіјѕ])[^\W\d_]+\b", re.IGNORECASE)
_ADJOINED = re.compile(  # scanning for it takes a small part of the time
    r"[а-яіјѕ](?:(?=[^\W\d_а-яёіјѕ])|(?<=[^\W\d_а-яёіјѕ].))", re.IGNORECASE | re.DOTALL
)
_LOOK_ALIKES = str.maketrans("аеорсухіјѕкмтнвАЕОРСУХІЈЅКМТНВ", "aeopcyxijskmthbAEOPCYXIJSKMTHB")
# Each begins with its letters and looks back over them: scanning is then fast.
_ARTIFICIAL = re.compile(r"ai(?<=\bai)s?\b"), re.compile(r"ии(?<=\bии)")


@lru_cache(maxsize=_KEPT)
def steers(text: str) -> bool:
    """True when `text` gives orders to whoever reads it for somebody else."""
    text = _as_read(text)
    lower, odd = text.lower(), has_odd_letters(text)
    if not odd and not holds_any(lower, _SIGNS) and not _speaks_of_ai(lower):
        return False  # nearly every text
    return any(order.pattern.search(text) for order in _ORDERS if odd or _is_signed(lower, order))


def _as_read(text: str) -> str:
    """`text` as a reader sees it: no invisible signs, no letters that only look like others."""
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", normalise(text))
    if not _ADJOINED.search(text):
        return text
    return _MIXED.sub(lambda match: match.group().translate(_LOOK_ALIKES), text)


def _is_signed(lower: str, order: _Order) -> bool:
    if holds_any(lower, order.signs):
        return True
    return order is _TO_MACHINES and _speaks_of_ai(lower)


def _speaks_of_ai(lower: str) -> bool:
    return any(word.search(lower) for word in _ARTIFICIAL)


@lru_cache(maxsize=_KEPT)
def without_steering(text: str) -> str:
    """`text` with planted orders, and what belongs to them, replaced by an ellipsis."""
    if not steers(text):
        return text
    kept: list[Block] = []
    level = 0  # of the heading whose section goes; 0 for none
    for block in blocks(text):
        if block.kind is Kind.HEADING:
            depth = block.level
            if not level or depth <= level:
                level = depth if steers(block.text) else 0
            if level == 1 and not kept:
                level = 0  # the title of a document is no section
                continue
        if level:
            continue
        kept.append(_cleaned(block))
    return join(kept).strip("\n") or GONE


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
