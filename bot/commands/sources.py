"""/sources: which collections of documents the bot has read, and when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot.chat import Reply
from bot.commands.call import Ask, Call
from bot.ports import KnowledgeIndex, SourceRecord
from bot.texts import literal, text
from graph.model import Language, Scope


async def readable_sources(index: KnowledgeIndex, scope: Scope) -> Sequence[SourceRecord]:
    """What is known of the sources that `scope` may read, as far as it may. Raises StorageError."""
    files = await index.files_in(scope)
    records = [record for record in await index.sources() if record.name in files]
    return [replace(record, files=files[record.name]) for record in records]


async def sources(call: Call) -> Reply | Ask:
    """Names, file counts and dates of what may be read here; never a folder of the machine."""
    records = await call.desk.sources(call.scope) if call.scope else ()
    if not records:
        return Reply(text("sources_none", call.language))
    lines = [_line(record, call.language) for record in records]
    return Reply("\n".join([text("sources_head", call.language), "", *lines]))


def _line(record: SourceRecord, language: Language) -> str:
    read = record.last_run
    date = read.date().isoformat() if read else text("never", language)
    name = literal(record.name)
    s = "s" * (record.files != 1)
    return text("sources_line", language, name=name, files=record.files, s=s, date=date)
