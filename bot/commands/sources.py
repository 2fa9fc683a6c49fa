"""/sources: which collections of documents the bot has read, and when."""

from __future__ import annotations

from bot.absent_types import absent_types
from bot.chat import Reply
from bot.commands.ask import no_such_type
from bot.commands.call import Ask, Call
from bot.commands.spoken import alone
from bot.ports import SourceRecord
from bot.source_types import split_types
from bot.texts import literal, text
from graph.model import Language


def with_types(rest: str) -> bool:
    return alone(split_types(rest)[0])


async def sources(call: Call) -> Reply | Ask:
    """Names, counts of documents that may be read here, and dates; never a folder or an address of
    the machine, nor a source of which nobody here may read anything."""
    assert call.scope is not None  # a member's command
    _, types = split_types(call.argument)
    if types.unknown:
        return no_such_type(types, call.language)
    scope = types.over(call.scope)
    records = await call.desk.sources(scope)
    if not records:
        if absent := await absent_types(scope, call.desk.sources):
            return Reply(absent.told(call.language))
        return Reply(text("sources_none", call.language))
    lines = [_line(record, call.language) for record in records]
    return Reply("\n".join([text("sources_head", call.language), "", *lines]))


def _line(record: SourceRecord, language: Language) -> str:
    read = record.last_run
    date = read.date().isoformat() if read else text("never", language)
    name = literal(record.name)
    s = "s" * (record.files != 1)
    return text("sources_line", language, name=name, files=record.files, s=s, date=date)
