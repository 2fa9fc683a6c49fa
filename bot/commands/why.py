"""/why: how the last answer of this conversation came about."""

from __future__ import annotations

from collections.abc import Iterator

from bot.chat import Reply
from bot.commands.call import Ask, Call
from bot.recall import Remembered, covers
from bot.texts import literal, literal_code, text
from graph.model import Language


async def why(call: Call) -> Reply | Ask:
    """The verdict with its figures and the best candidates, to whoever may see all of them."""
    recall = call.desk.recall
    last = recall.last(recall.goes_on_from(call.event))
    if last is None or not await _open(last, call):
        return Reply(text("why_nothing", call.language))
    return Reply("\n".join(_lines(last, call.language)))


async def _open(last: Remembered, call: Call) -> bool:
    """Whether all of it may be seen here, and today."""
    if call.scope is None or not covers(call.scope, last.scope):
        return False
    return await call.desk.readable(last.behind, call.scope) == last.behind


def _lines(last: Remembered, language: Language) -> Iterator[str]:
    trace = last.trace
    if not trace.verdict:
        yield text("why_unasked", language)
        return
    yield text("why_question", language, question=literal(trace.resolved))
    yield ""
    yield text(
        "why_verdict",
        language,
        verdict=trace.verdict,
        reason=literal(trace.reason),
        relevance=f"{trace.relevance:.2f}",
        threshold=f"{trace.threshold:.2f}",
    )
    yield ""
    for row in trace.candidates:
        yield f"- `{literal_code(row.document)}` {literal(row.heading)}: {row.relevance:.2f}"
    yield ""
    yield text("why_web", language, status=trace.web)
    yield text("why_id", language, id=trace.question_id)
