"""/runbook and /incident: the document by its name or by what happens, without a model."""

from __future__ import annotations

from bot.asking import Way
from bot.chat import Reply
from bot.commands.ask import asked
from bot.commands.call import Ask, Call
from bot.commands.spoken import about
from bot.texts import text
from graph.model import Language

RUNBOOK: dict[Language, str] = {"en": "alert or service", "ru": "алерт или сервис"}
INCIDENT: dict[Language, str] = {"en": "symptom", "ru": "симптом"}

SPOKEN_RUNBOOK = about(
    *("template", "templates", "format", "style", "list", "lists", "index", "owner", "owners"),
    *("review", "reviews", "link", "links", "policy", "guidelines", "шаблон", "список"),
)
SPOKEN_INCIDENT = about(
    *("response", "management", "manager", "commander", "commanders", "process", "procedure"),
    *("policy", "policies", "review", "reviews", "severity", "severities", "report", "reports"),
    *("template", "channel", "channels", "comms", "communication", "communications", "level"),
    *("levels", "number", "id", "timeline", "postmortem", "postmortems", "retro", "history"),
)


async def runbook(call: Call) -> Reply | Ask:
    return _ask(call, "runbook", Way.RUNBOOK, RUNBOOK)


async def incident(call: Call) -> Reply | Ask:
    return _ask(call, "incident", Way.INCIDENT, INCIDENT)


def _ask(call: Call, name: str, way: Way, wanted: dict[Language, str]) -> Reply | Ask:
    """What is looked for, or what the message or thread above is about."""
    if (found := asked(call, way)) is not None:
        return found
    usage = f"{call.spelled(name)} {wanted[call.language]}"
    return Reply(text("usage", call.language, usage=usage), private=True)
