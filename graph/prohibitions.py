"""What a document forbids: an answer must not recommend it.

Literals alone cannot tell "never run `drop-all`" from "run `drop-all`": both hold the command. And
a sentence without commands, such as "Do not restart the database", has no literal at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import takewhile

from graph.blocks import ORDINAL, Block, Kind, blocks, code_spans, sentences
from graph.literals import Claim, Literal, fold
from graph.marks import without_marks
from graph.text import content_stems

_BETWEEN = (
    r"(?:ever|just|simply|blindly|manually|directly|to|the|a|command|commands|be|"
    r"(?:run|us|execut|apply|call|issu|typ|do|start|launch|invok|restart)(?:e|s|ing|ed|ning)?"
    r"|команд\w*|сразу|вручную|просто|никогда|надо|нужно|следует|стоит|рекоменд\w*|вводит\w*"
    r"|(?:запуск|выполн|использ|примен|вызыв|дела)\w*)"
)
_FORBIDS = re.compile(
    r"\b(?:never|do not|don't|must not|mustn't|should not|shouldn't|cannot|can't|avoid|forbidden to"
    r"|prohibited to|не|нельзя|запрещ\w+|никогда не|избегайте)"
    rf"(?:\s+{_BETWEEN}){{0,4}}\s*[:\s\"'(*_]*`{{0,2}}$",
    re.IGNORECASE,
)
_FORBIDDING = re.compile(  # what every other pattern here has one of
    r"\b(?:never|not|don't|mustn't|shouldn't|cannot|can't|avoid|forbidden|prohibited|не|нельзя"
    r"|никогда|избегайте)\b|\bзапрещ",
    re.IGNORECASE,
)
_AFTERWARDS = re.compile(
    r"[`\"')*_]*\s*(?:(?:is|are)\s+(?:strictly\s+)?(?:forbidden|prohibited|not allowed)"
    r"|(?:строго\s+)?(?:запрещ\w+|нельзя))\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"[^.!?]{0,80}\b(?:without|unless|before|until|while|if|when|except|more than|again|twice"
    r"|без|пока|до|если|когда|кроме|прежде|больше|повторно|дважды)\b",
    re.IGNORECASE,
)
_WARNS = re.compile(
    r"\b(?:never|not|cannot|avoid\w*|forbidden|prohibited|instead of|rather than|without)\b|n't\b"
    r"|\b(?:не|нельзя|запрещ\w+|никогда|избегайте|вместо|без)\b",
    re.IGNORECASE,
)
_ORDERS_NOT = re.compile(  # from the first word on
    r"\W*(?:\d+[.)]\s+)?(?:(?:please|warning|important|внимание|важно)\W+)?"
    r"(?:never|do not|don't|нельзя|запрещ\w+|никогда не|не\s+\w+(?:йте|ите|ьте|ай|яй))\b",
    re.IGNORECASE,
)
_SEVERAL_CLAUSES = re.compile(r"[,;:—(]\s|\s[-–—]\s")
_TELLING = 3  # content words; a shorter statement is too common to be told from others
_KEPT = 256  # passages
_ALIKE = 4  # letters
_COMMANDS = (Claim.COMMAND, Claim.CODE)
_CONTEXT = 80  # characters before a command that may forbid it


def may_forbid(text: str) -> bool:
    """False for a folded text without a word that forbids, which most passages are."""
    return _FORBIDDING.search(text) is not None


def recommended(piece: str, found: Iterable[Literal], sources: Iterable[str]) -> list[Literal]:
    """Those commands of a statement, which forbids nothing itself, that the sources only forbid.

    `sources` are folded texts. A command that is forbidden under a condition ("never without a
    backup") is not forbidden as such.
    """
    commands = [item for item in found if item.kind in _COMMANDS]
    if not commands or _WARNS.search(fold(piece)):
        return []
    return [item for item in commands if _is_forbidden(item.text, sources)]


def reverses(piece: str, sources: Iterable[str]) -> bool:
    """True for a statement that says a prohibition of the sources without its "not".

    All its words stand in one sentence of one clause that forbids, and in none that does not.
    """
    bare = ORDINAL.sub("", without_marks(piece))
    words = content_stems(bare)
    if len(words) < _TELLING or code_spans(bare) or _WARNS.search(fold(bare)):
        return False
    texts = list(sources)
    if not any(_says(stems, words) for text in texts for stems in _forbidding(text)):
        return False
    return not any(_says(stems, words) for text in texts for stems in _allowing(text))


def _says(stems: frozenset[str], words: frozenset[str]) -> bool:
    others = words - stems
    return len(others) <= 1 and all(any(map(partial(_alike, word), stems)) for word in others)


def _alike(word: str, other: str) -> bool:
    """True for two aspects of a Russian verb: same beginning, another ending."""
    same = takewhile(lambda letters: letters[0] == letters[1], zip(word, other, strict=False))
    shared = len(list(same))
    return shared >= _ALIKE and not word.isascii() and shared * 5 >= 3 * max(len(word), len(other))


@lru_cache(maxsize=_KEPT)
def _forbidding(text: str) -> tuple[frozenset[str], ...]:
    """The stems of each sentence of a passage that forbids and says nothing else."""
    return tuple(content_stems(piece) for piece in _sentences(text) if _only_forbids(piece))


@lru_cache(maxsize=_KEPT)
def _allowing(text: str) -> tuple[frozenset[str], ...]:
    """The stems of its other sentences."""
    return tuple(content_stems(piece) for piece in _sentences(text) if not _only_forbids(piece))


def _sentences(text: str) -> Iterator[str]:
    for block in blocks(text):
        yield from [block.text] if block.kind is Kind.FENCE else sentences(block.text)


def _only_forbids(piece: str) -> bool:
    folded = fold(piece)
    bare = _ORDERS_NOT.match(folded) and not _SEVERAL_CLAUSES.search(folded)
    return bool(bare) and not _CONDITION.search(folded)


def _is_forbidden(command: str, sources: Iterable[str]) -> bool:
    places = [
        (text, match.start(), match.end())
        for text in sources
        for match in re.finditer(re.escape(command), text)
    ]
    return bool(places) and all(_forbids(*place) for place in places)


def _forbids(text: str, start: int, end: int) -> bool:
    if _AFTERWARDS.match(text, end):
        return True
    before = _FORBIDS.search(text, max(0, start - _CONTEXT), start)
    return before is not None and not _CONDITION.match(text, end)


def announced_by(found: Sequence[Block], place: int) -> str:
    """What announces the commands of a fence: the text before it."""
    if found[place].kind is not Kind.FENCE:
        return ""
    earlier = (block for block in reversed(found[:place]) if block.kind is not Kind.BLANK)
    return next((block.text for block in earlier), "")
