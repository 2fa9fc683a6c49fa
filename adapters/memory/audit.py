"""The audit in memory: for tests, and for a bot without a data folder."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import islice

from bot.audit import Audit, AuditQuery, AuditRecord, Extent, pseudonymous


class MemoryAudit(Audit):
    def __init__(
        self,
        *,
        kept: timedelta = timedelta(days=90),
        pseudonyms: bool = False,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._kept, self._pseudonyms, self._now = kept, pseudonyms, now
        self._records: dict[str, AuditRecord] = {}

    async def save(self, record: AuditRecord) -> None:
        self._records.pop(record.question_id, None)
        self._records[record.question_id] = record

    async def find(self, query: AuditQuery) -> list[AuditRecord]:
        wanted = (record for record in self._newest_first() if query.admits(record))
        return list(islice(wanted, query.limit))

    async def forget(self, person: str) -> int:
        found = [record for record in self._newest_first() if record.person == person]
        name = uuid.uuid4().hex[:12]
        for record in found:
            if self._pseudonyms:
                self._records[record.question_id] = pseudonymous(record, name)
            else:
                del self._records[record.question_id]
        return len(found)

    async def extent(self) -> Extent:
        records = self._newest_first()
        return Extent(len(records), records[-1].at if records else None)

    def _newest_first(self) -> list[AuditRecord]:
        oldest = self._now() - self._kept
        kept = {name: record for name, record in self._records.items() if record.at >= oldest}
        self._records = kept
        return sorted(kept.values(), key=lambda record: record.at)[::-1]
