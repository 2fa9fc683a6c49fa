"""Writes questions to the audit in such a way that no answer fails or waits for it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bot.audit import Audit, AuditRecord, looked_up, noted, recorded
from bot.audit_settings import AuditSettings
from bot.chat import Person, Place
from bot.errors import StorageError
from bot.registry import factory
from graph.model import Outcome, Question, Ranked

if TYPE_CHECKING:
    from graph.machine import Finished

AUDIT_FILE = "audit.db"

TERMINAL = Person("console", "terminal")
"""Whoever asks on the machine itself."""

TERMINAL_PLACE = Place("console", "terminal")

_log = logging.getLogger(__name__)


def open_audit(home: Path, settings: AuditSettings) -> Audit:
    """The audit of the bot with this data folder."""
    audit: Audit = factory("audit.sqlite")(
        home / AUDIT_FILE,
        kept=settings.kept,
        pseudonyms=settings.forgotten == "pseudonymous",
    )
    return audit


class Auditor:
    """Called when an answer has left. A store that fails is reported once, until it works again."""

    def __init__(self, audit: Audit) -> None:
        self._audit = audit
        self._missed = 0

    async def __call__(
        self, finished: Finished, question: Question, person: Person, place: Place, way: str
    ) -> None:
        await self._save(recorded(finished, question, person, place, way))

    async def note(
        self, question: Question, person: Person, place: Place, way: str, outcome: Outcome
    ) -> None:
        """Writes down a question that was answered without a search."""
        await self._save(noted(question, person, place, way, outcome))

    async def looked_up(
        self,
        question: Question,
        *,
        person: Person,
        place: Place,
        way: str,
        ranked: Sequence[Ranked],
        outcome: Outcome,
        milliseconds: float = 0.0,
    ) -> None:
        """Writes down a search that ended in passages and not in an answer."""
        record = noted(question, person, place, way, outcome)
        await self._save(looked_up(record, ranked, milliseconds))

    async def _save(self, record: AuditRecord) -> None:
        try:
            await self._audit.save(record)
        except StorageError as error:
            if not self._missed:
                _log.error("the audit misses questions from now on: %s %s", error, error.remedy)
            self._missed += 1
            return
        if self._missed:
            _log.warning("the audit is written again; it misses %d questions", self._missed)
            self._missed = 0
