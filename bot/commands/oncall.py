"""/oncall: who is on call, for a team or service, now or at a time. From the roster, never from a
model."""

from __future__ import annotations

from bot.chat import Reply
from bot.commands.call import Ask, Call
from bot.commands.spoken import about, alone
from bot.oncall_answer import answer, argument
from bot.texts import text
from graph.model import Language, Outcome

ONCALL: dict[Language, str] = {
    "en": "[team|service] [at <time>]",
    "ru": "[команда|сервис] [время]",
}
_named = about(
    *("schedule", "schedules", "rotation", "rotations", "handbook", "policy", "policies", "guide"),
    *("duties", "duty", "rules", "pay", "compensation", "handover", "tool", "tools", "alert"),
    *("runbook", "runbooks", "checklist", "process", "procedure", "training", "onboarding"),
)


def spoken_oncall(rest: str) -> bool:
    """After a mention: a team, a time, or nothing, and no other question."""
    return alone(rest) or _named(rest)


async def oncall(call: Call) -> Reply | Ask:
    watch = call.desk.watch
    if watch is None:
        return Reply(text("oncall_off", call.language), outcome=Outcome.NOT_FOUND)
    return await answer(watch, argument(call.argument, watch), call.event, call.language)
