"""Lets a streamed answer through piece by piece, and only what the given passages hold.

Nothing passes until the first line is known not to be `INSUFFICIENT: ...`. After that a sentence,
list item, row or whole block of commands passes when its marks exist and its literals stand in the
passages. A piece that fails is held back, and after a failed step or command everything is: half a
procedure misleads. The verified answer replaces the stream in the end.
"""

from __future__ import annotations

import re
from dataclasses import replace

from graph.blocks import LISTED, Block, Kind, blocks, code_spans, sentences
from graph.code_signs import typeable
from graph.marks import normalise_marks, renumbered, used
from graph.proof import Sources, prepared, statement_holds

_INSUFFICIENT = re.compile(
    r"[\s*_`#>\"«]*(?:INSUFFICIENT\b|НЕДОСТАТОЧНО\b|(?i:insufficient|недостаточно)\s*[*_`]*:)"
    r"[\s*_`:.,—-]*(?P<reason>[^\n]*)"
)
_LONGEST_REASON = 300
_SENTENCE = "It is so. "  # stands for one that was shown
_KNOWN_AFTER = 20  # characters: by then the word and its colon have come, or never will


def insufficient(text: str) -> str | None:
    """The reason after a first line `INSUFFICIENT: reason`; None when the text is an answer."""
    match = _INSUFFICIENT.match(text)
    if match is None:
        return None
    reason = match["reason"].strip('*_`"» ')[:_LONGEST_REASON]
    return reason or "the passages do not hold the answer"


class Gate:
    """One stream. Feed it pieces of any size; it returns what may be shown now."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._held = ""  # complete lines and the line being written
        self._opened = False  # the first line is known to begin an answer
        self._closed = False  # nothing more may pass
        self._numbers: dict[int, int] = {}  # marks as shown: in order of first use
        self._begun = False  # sentences of the paragraph at the start of what is held were shown

    def feed(self, piece: str) -> str:
        """What can be shown after this piece."""
        self._held += piece
        if not self._opened:
            self._open()
        if not self._opened or self._closed:
            return ""
        found = self._blocks()
        ready, self._held = found[:-1], found[-1].text
        if ready and self._grows(ready[-1], found[-1]):
            self._held = ready.pop().text + "\n" + self._held
        self._begun = self._begun and not ready
        shown = "".join(self._passed(block, "\n") for block in ready)
        return shown + self._sentences()

    def close(self) -> str:
        """The rest, at the end of the stream."""
        if not self._opened:
            self._closed = insufficient(self._held) is not None
        held, self._held = self._blocks(), ""
        return "".join(self._passed(block, "\n") for block in held).rstrip("\n")

    def _blocks(self) -> list[Block]:
        """What is held; "3." after a sentence is a number, and no item of a list."""
        if not self._begun:
            return blocks(self._held)
        first, *others = blocks(_SENTENCE + self._held)
        return [replace(first, text=first.text.removeprefix(_SENTENCE)), *others]

    def _open(self) -> None:
        start = self._held.lstrip(' \n\t*_`#>"«')
        if "\n" in start or len(start) > _KNOWN_AFTER:
            self._opened = True
            wrapped = start.startswith("{")  # in JSON: the answer is known when it is whole
            self._closed = wrapped or insufficient(self._held) is not None

    @staticmethod
    def _grows(block: Block, last: Block) -> bool:
        """A list item or paragraph may go on in the line that is being written."""
        return block.kind in (Kind.PROSE, *LISTED) and last.kind is Kind.BLANK and not last.text

    def _passed(self, block: Block, end: str) -> str:
        if self._closed:
            return ""
        if block.kind in (Kind.BLANK, Kind.RULE):
            return block.text + end
        pieces = sentences(block.text) if block.kind in (Kind.PROSE, *LISTED) else [block.text]
        passed = [piece for piece in pieces if self._holds(block, piece)]
        if len(passed) < len(pieces) and block.kind in (Kind.STEP, Kind.FENCE):
            self._closed = True
            return ""
        text = "".join(map(normalise_marks, passed))
        for number in used(text):
            self._numbers.setdefault(number, len(self._numbers) + 1)
        return renumbered(text, self._numbers) + end if text else ""

    def _holds(self, block: Block, piece: str) -> bool:
        if block.kind is Kind.FENCE:
            plain = typeable(piece, self._sources.all().writes) == piece
            return plain and statement_holds(block, piece, self._sources)
        if _opens_code(piece):
            return False
        marked = normalise_marks(piece)
        clean = prepared(piece, self._sources) == marked.strip()
        return clean and statement_holds(block, marked, self._sources)

    def _sentences(self) -> str:
        """The complete sentences of the paragraph that is being written."""
        found = self._blocks()
        if len(found) != 1 or found[0].kind is not Kind.PROSE:
            return ""
        *ready, rest = sentences(self._held) or [""]
        while ready and _opens_code("".join(ready)):
            rest = ready.pop() + rest
        self._held = rest
        if not ready:
            return ""
        self._begun = True
        return self._passed(Block(Kind.PROSE, "".join(ready)), "")


def _opens_code(text: str) -> bool:
    """Whether a run of back-quotes has no end in `text`: the code may go on in what follows."""
    place = 0
    for start, end, _ in code_spans(text):
        if "`" in text[place:start]:
            return True
        place = end
    return "`" in text[place:]
