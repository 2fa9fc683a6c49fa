"""Types of sources of which an asker may read no document.

That there are none, and that there are some which this asker may not read, are told in the same
words: what may be read alone decides on them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bot.errors import StorageError
from bot.ports import Sources
from bot.texts import text
from graph.model import Language, Outcome, Scope, SourceType
from graph.phrases import listed, say

if TYPE_CHECKING:
    from graph.machine import Finished


@dataclass(frozen=True, slots=True)
class AbsentTypes:
    """`asked` types, and the `readable` ones: those of the documents that may be read."""

    asked: frozenset[SourceType]
    readable: frozenset[SourceType]

    def told(self, language: Language) -> str:
        """What is missing, and what can be asked instead."""
        asked = _listed(self.asked, language, say("or", language))
        missing = text("type_absent", language, types=asked)
        if not self.readable:
            return f"{missing} {text('types_none', language)}"
        readable = _listed(self.readable, language)
        return f"{missing} {text('types_readable', language, types=readable)}"


async def absent_types(scope: Scope, sources: Sources) -> AbsentTypes | None:
    """None where `scope` is of no certain types, or something of them may be read. Raises
    StorageError."""
    if scope.source_types is None or await sources(scope):
        return None
    others = await sources(replace(scope, source_types=None))
    return AbsentTypes(scope.source_types, frozenset(record.kind for record in others))


async def naming_absent(finished: Finished, scope: Scope, sources: Sources) -> Finished:
    """`finished`; where nothing was found because there is nothing of the types that were asked
    for, it says that."""
    answer = finished.answer
    nothing = answer.outcome is Outcome.NOT_FOUND and not answer.nearest
    if not nothing or not finished.trace.verdict:  # small talk is looked up nowhere
        return finished
    try:
        absent = await absent_types(scope, sources)
    except StorageError:  # what it says is true all the same
        return finished
    if absent is None:
        return finished
    words = f"{absent.told(answer.language)}\n\n{say('hand_off', answer.language)}"
    return replace(finished, answer=replace(answer, text=words))


def _listed(types: Iterable[SourceType], language: Language, joiner: str = "") -> str:
    return listed([f"`{kind}`" for kind in sorted(types)], language, joiner)
