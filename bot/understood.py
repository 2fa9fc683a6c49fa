"""What was understood of a file that somebody handed in, as its confirmation says it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from bot.drafts import readers
from bot.handed_in import Understood
from bot.kept import Kept
from bot.texts import literal, literal_code, text
from bot.upload_texts import problem
from graph.model import Language, Status

_SECTIONS = 8  # that are named
_NOTES = 5  # remarks of the reader that are shown


@dataclass(frozen=True, slots=True)
class Shown:
    """A draft with what it would be. `lowest` is the lowest level of all, `old` the document that
    it replaces, `twin` the name of one that says the same."""

    kept: Kept
    understood: Understood
    lowest: str
    old: Kept | None = None
    twin: str = ""

    def told(self, language: Language, now: datetime) -> str:
        """Markdown: a list under its title."""
        kept = self.kept
        title, name = literal(kept.title), literal(kept.name)
        head = text("file_draft", language, title=title, name=name, id=kept.id)
        lines = [*self._content(language), *self._place(language), *self._readers(language, now)]
        return "\n".join([head, "", *(f"- {line}" for line in lines)])

    def _content(self, language: Language) -> Iterator[str]:
        sections = self.understood.sections
        names = [literal(name) for name in sections[:_SECTIONS]]
        names += ["…"] if len(sections) > _SECTIONS else []
        if sections:
            yield text("file_sections", language, count=len(sections), names="; ".join(names))
        else:
            yield text("file_no_sections", language)
        yield text("file_passages", language, count=self.understood.passages)
        for message in self.understood.problems[:_NOTES]:
            yield text("file_problem", language, what=literal(problem(message, language)))
        if self.understood.masked:
            yield text("file_masked", language, count=self.understood.masked)

    def _place(self, language: Language) -> Iterator[str]:
        if self.old is not None:
            date = self.old.added_at.date().isoformat()
            yield text("file_replaces", language, id=self.old.id, date=date)
        if self.twin:
            yield text("file_copy", language, document=literal(self.twin))

    def _readers(self, language: Language, now: datetime) -> Iterator[str]:
        """The document's own words may narrow who reads it, and when."""
        access = self.understood.access
        yield readers(access.audience, access.labels, language)
        if self.old is None and self.kept.audience != self.lowest:
            yield text("file_more_readers", language, level=literal_code(self.lowest))
        if access.status is not Status.PUBLISHED:
            yield text("file_status", language, status=literal(access.status))
        if access.effective_from is not None and access.effective_from > now:
            yield text("file_from", language, date=access.effective_from.date().isoformat())
        if access.effective_until is not None:
            yield text("file_until", language, date=access.effective_until.date().isoformat())
