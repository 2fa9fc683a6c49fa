"""/remember and /documents: what curators keep from a chat."""

from __future__ import annotations

import re

from bot.chat import Reply
from bot.commands.call import Ask, Call
from bot.commands.spoken import alone
from bot.curating import Curating
from bot.texts import literal, text
from graph.smalltalk import asks

_THIS = re.compile(r"(?:this|that|it|это)(?!\w)(?:\s*[:,—–-])?\s*|[:,—–-]\s*", re.IGNORECASE)
_DELETE = re.compile(r"(?:delete|удали|удалить)\s+(\S+)", re.IGNORECASE)


def spoken_remember(rest: str) -> bool:
    """ "remember this" and "remember the porter answers at 112", but no question."""
    this = _THIS.match(rest)
    return this is not None or not ("?" in rest or asks(rest))


def spoken_documents(rest: str) -> bool:
    return alone(rest) or _DELETE.fullmatch(rest.strip()) is not None


async def remember(call: Call) -> Reply | Ask:
    """The words behind the command, else the message it replies to, else the thread."""
    curating = call.desk.curating
    refused = await _refused(call, curating)
    if refused is not None or curating is None:
        return refused or Reply(text("keeping_off", call.language), private=True)
    words, author = _said(call)
    if not words.strip():
        return Reply(text("remember_what", call.language), private=True)
    return await curating.draft(call.event, words, author, call.language)


async def documents(call: Call) -> Reply | Ask:
    """Lists what was handed in, or deletes one of them."""
    curating = call.desk.curating
    refused = await _refused(call, curating)
    if refused is not None or curating is None or call.scope is None:
        return refused or Reply(text("keeping_off", call.language), private=True)
    wanted = _DELETE.fullmatch(call.argument.strip())
    if wanted is not None:
        return await curating.delete(call.event, call.scope, wanted[1], call.language)
    found = await curating.listed(call.scope)
    if not found:
        return Reply(text("kept_none", call.language), private=True)
    head = text("kept_head", call.language, delete=f"{call.spelled('documents')} delete")
    lines = [
        text(
            "kept_line",
            call.language,
            id=kept.id,
            title=literal(kept.title or kept.name),
            state=text(f"kept_state_{'draft' if kept.draft else 'published'}", call.language),
        )
        for kept in found
    ]
    return Reply("\n".join([head, "", *lines]), private=True)


async def _refused(call: Call, curating: Curating | None) -> Reply | None:
    if curating is not None and not await curating.may(call.event.person):
        return Reply(text("curators_only", call.language), private=True)
    return None


def _said(call: Call) -> tuple[str, str]:
    """What is to be remembered, and who said it."""
    event = call.event
    own = event.person.name or event.person.key
    words = _THIS.sub("", call.argument, count=1) if _THIS.match(call.argument) else call.argument
    if words.strip():
        return words, own
    if event.quote is not None:
        return event.quote.text, event.quote.author or own
    lines = [f"{item.author}: {item.text}" if item.author else item.text for item in event.context]
    authors = dict.fromkeys(item.author for item in event.context if item.author)
    return "\n\n".join(lines), ", ".join(authors) or own
