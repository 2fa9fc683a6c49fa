"""Commands that a document names in order to forbid them: an answer must not recommend them.

Literals alone cannot tell "never run `drop-all`" from "run `drop-all`": both hold the command.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from graph.blocks import Block, Kind
from graph.literals import Claim, Literal, fold

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
_COMMANDS = (Claim.COMMAND, Claim.CODE)
_CONTEXT = 80  # characters before a command that may forbid it


def recommended(piece: str, found: Iterable[Literal], sources: Iterable[str]) -> list[Literal]:
    """Those commands of a statement, which forbids nothing itself, that the sources only forbid.

    `sources` are folded texts. A command that is forbidden under a condition ("never without a
    backup") is not forbidden as such.
    """
    commands = [item for item in found if item.kind in _COMMANDS]
    if not commands or _WARNS.search(fold(piece)):
        return []
    return [item for item in commands if _is_forbidden(item.text, sources)]


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
