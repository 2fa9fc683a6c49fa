"""The signs of commands: models set them like prose, with curly quotes, long dashes, hard spaces.

Such a command says what the passage says, and does not run when it is copied.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from graph.blocks import Block, Kind, blocks, code_spans, join
from graph.literals import in_plain_signs

_JOINED_DASHES = re.compile(r"(?<=\s)[–—](?=[^\W\d_])")  # "--" before the name of an option


def typeable(text: str, is_written: Callable[[str], bool]) -> str:
    """`text` with its code in the signs of a keyboard, but for lines that `is_written` so."""
    if text.isascii() or not ("`" in text or "~~~" in text or "    " in text or "\t" in text):
        return text
    return join(_typed(block, is_written) for block in blocks(text))


def _typed(block: Block, is_written: Callable[[str], bool]) -> Block:
    if block.text.isascii():
        return block
    if block.kind is Kind.FENCE:
        lines = (_plain(line, is_written) for line in block.text.split("\n"))
        return Block(block.kind, "\n".join(lines))
    pieces: list[str] = []
    place = 0
    for start, end, content in code_spans(block.text):
        span = block.text[start:end]
        pieces += [block.text[place:start], span.replace(content, _plain(content, is_written))]
        place = end
    return Block(block.kind, "".join([*pieces, block.text[place:]]))


def _plain(code: str, is_written: Callable[[str], bool]) -> str:
    if code.isascii() or is_written(code.strip()):
        return code
    options = in_plain_signs(_JOINED_DASHES.sub("--", code))
    return options if is_written(options.strip()) else in_plain_signs(code)
