"""Which line of a file a converted line comes from, so that citations lead to it."""

from __future__ import annotations

import re
from collections.abc import Sequence

_LOOKAHEAD = 400  # lines searched for the origin of a converted line
_WORD = re.compile(r"\w{2,}")


def origins(lines: Sequence[str], source: Sequence[str], position: int) -> tuple[int, ...]:
    """For each converted line the line of the file (from 1) that it most likely comes from.

    Converters keep the order of the words, so a line is looked for below the one found before.
    """
    folded = [set(_WORD.findall(line.lower())) for line in source]
    numbers: list[int] = []
    for line in lines:
        words = _WORD.findall(line.lower())[:6]
        if words:
            window = range(position, min(position + _LOOKAHEAD, len(source)))
            needed = set(words[:3])
            hit = next((index for index in window if needed <= folded[index]), None)
            if hit is None:
                hit = next((index for index in window if words[0] in folded[index]), position)
            position = hit
        numbers.append(position + 1)
    return tuple(numbers)
