"""/remember and /documents: what curators keep from a chat."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bot.chat import Reply, question_id
from bot.commands.add import add
from bot.commands.call import Ask, Call
from bot.commands.spoken import alone
from bot.curating import Curating
from bot.recall import Exchange, room
from bot.texts import literal, text
from graph.model import Answer, Outcome, Question
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
    """The words behind the command, else the message it replies to, else the thread; a file that
    comes without words is handed in."""
    curating, said = call.desk.curating, _said(call)
    if curating is None:
        return Reply(text("keeping_off", call.language), private=True)
    if not await curating.may(call.event.person):
        return await _of_a_member(call, curating, said)
    if said.words.strip():
        return await curating.draft(
            call.event, said.words, said.author, call.language, said.message_id
        )
    if curating.hand_ins.given(call.event).files:
        return await add(call)
    return Reply(text("remember_what", call.language), private=True)


async def _of_a_member(call: Call, curating: Curating, said: _Said) -> Reply:
    """Whoever may not write documents can still tell the bot something: it stays with the
    conversation, and is said again to nobody else."""
    minutes, scope, event = call.desk.minutes, call.scope, call.event
    if not said.own or scope is None or minutes is None:
        return await curating.refusal(event, call.language)
    told = text("noted_here", call.language)
    question = Question(said.words, question_id(event), scope)
    answer = Answer(question.id, Outcome.NOT_FOUND, told, call.language)
    call.desk.recall.add(
        room(event),
        Exchange(question.id, event.person.key, said.words, told, scope, event.text),
    )
    await minutes.record(question, event, answer)
    return Reply(told, private=event.private)


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
        + (text("kept_from", call.language, origin=kept.origin) if kept.origin else "")
        for kept in found
    ]
    return Reply("\n".join([head, "", *lines]), private=True)


async def _refused(call: Call, curating: Curating | None) -> Reply | None:
    if curating is not None and not await curating.may(call.event.person):
        return await curating.refusal(call.event, call.language)
    return None


@dataclass(frozen=True, slots=True)
class _Said:
    """What is to be remembered, who said it, and in which message; `own`: in this one."""

    words: str
    author: str
    message_id: str = ""
    own: bool = False


def _said(call: Call) -> _Said:
    event = call.event
    name = event.person.name or event.person.key
    words = _THIS.sub("", call.argument, count=1) if _THIS.match(call.argument) else call.argument
    if words.strip():
        return _Said(words, name, own=True)
    if event.quote is not None:
        return _Said(event.quote.text, event.quote.author or name, event.quote.message_id)
    lines = [f"{item.author}: {item.text}" if item.author else item.text for item in event.context]
    authors = dict.fromkeys(item.author for item in event.context if item.author)
    return _Said("\n\n".join(lines), ", ".join(authors) or name, event.place.thread)
