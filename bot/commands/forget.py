"""/forget: drops what somebody said, and what they were answered, from everything that keeps it.

Everybody may have their own words forgotten. In a group only an admin may have those of others.
"""

from __future__ import annotations

import logging
import re

from bot.access import Role
from bot.chat import Reply
from bot.commands.call import Ask, Call
from bot.commands.spoken import with_only
from bot.minutes import Forgotten
from bot.recall import room
from bot.sessions import Selection
from bot.texts import literal_code, text

_log = logging.getLogger(__name__)

SPOKEN_FORGET = with_only(  # "forget it" is said among people
    *("everything", "all", "of", "the", "our", "my", "this", "conversation", "thread", "chat"),
    *("messages", "questions", "everywhere", "всё", "все", "этот", "разговор", "тред", "чат"),
    *("мои", "вопросы", "везде"),
)
_KEY = re.compile(r"[a-z]+:[\w-]+", re.ASCII)
_CONVERSATION = frozenset({"conversation", "thread", "chat", "разговор", "тред", "чат"})
_EVERYWHERE = frozenset({"everywhere", "везде"})
_OWN = frozenset({"my", "мои"})


async def forget(call: Call) -> Reply | Ask:
    """The asker's own turns in this conversation, or everywhere; by an admin all turns of this
    conversation, or of a person."""
    argument = call.argument.strip()
    admin = call.role is Role.ADMIN
    if admin and _KEY.fullmatch(argument):
        gone = await _person(call, argument)
        return _reply(call, gone, "forgot_person", key=literal_code(argument))
    words = frozenset(argument.casefold().split())
    if words & _EVERYWHERE:
        return _reply(call, await _person(call, call.event.person.key), "forgot_everywhere")
    if admin and words & _CONVERSATION and not words & _OWN:
        return _reply(call, await _forget(call, _here(call)), "forgot_conversation")
    own = _here(call, call.event.person.key)
    return _reply(call, await _forget(call, own), "forgot")


def _here(call: Call, person: str = "") -> Selection:
    """This conversation; in private all that was said in private with the asker in the place."""
    event = call.event
    if event.private and not person:
        return Selection(conversation=event.place.conversation)
    if call.private or event.private:
        place = f"{event.place.platform}:{event.place.id}:"
        return Selection(person=person, place=place)
    return Selection(person=person, conversation=room(event).conversation)


async def _person(call: Call, key: str) -> Forgotten:
    """All that a person said and was told, with their votes and their rows of the audit."""
    _log.info("%s has %s forgotten", call.event.person.key, key)
    minutes, recall = call.desk.minutes, call.desk.recall
    if minutes is None:
        return Forgotten(2 * len(recall.forget_selected(Selection(person=key))))
    return await minutes.forget_person(key, recall)


async def _forget(call: Call, selection: Selection) -> Forgotten:
    minutes, recall = call.desk.minutes, call.desk.recall
    if minutes is None:
        return Forgotten(2 * len(recall.forget_selected(selection)))
    return await minutes.forget(selection, recall)


def _reply(call: Call, gone: Forgotten, sentence: str, /, **values: object) -> Reply:
    if not gone.count and sentence == "forgot":
        sentence = "forgot_nothing"
    told = text(sentence, call.language, count=gone.count, **values)
    if gone.votes or gone.audited:
        more = text("forgot_more", call.language, votes=gone.votes, audited=gone.audited)
        told = f"{told} {more}"
    if not gone.complete:
        told = f"{told} {text('forgot_later', call.language)}"
    return Reply(told, private=True)
