"""/pair, /allow, /revoke: who may talk to the bot. Each use is written to the log, by keys."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from bot.access import place_key
from bot.chat import Reply
from bot.commands.call import Ask, Call
from bot.texts import literal_code, text
from graph.model import LEVELS

_log = logging.getLogger(__name__)
_ADMIN = ("admin", "админ")
_LISTED = 20  # keys shown


async def pair(call: Call) -> Reply | Ask:
    """Makes the person with the printed code the first admin."""
    person = call.event.person
    done = await call.desk.access.pair(call.argument, person)
    _log.info("pairing by %s: %s", person.key, "done" if done else "refused")
    return Reply(text("paired" if done else "not_paired", call.language, help=call.spelled("help")))


async def allow(call: Call) -> Reply | Ask:
    """Lets in whoever asked with a code, or a key; in a group without either, the group."""
    words = call.argument.split()
    if not words and call.private:
        return _usage(call, "allow", "CODE [level] [admin]")
    what, *options = words or [place_key(call.event.place)]
    admin = any(word.casefold() in _ADMIN for word in options)
    levels = [word.casefold() for word in options if word.casefold() not in _ADMIN]
    if wrong := [level for level in levels if level not in LEVELS] or levels[1:]:
        known = ", ".join(f"`{level}`" for level in LEVELS)
        return _private(call, "unknown_level", level=literal_code(wrong[0]), levels=known)
    level = levels[0] if levels else LEVELS[-1] if admin else LEVELS[0]
    return await _allow(call, what, level, admin)


async def _allow(call: Call, what: str, level: str, admin: bool) -> Reply:
    by = call.event.person.key
    key = await call.desk.access.allow(what, by, level=level, admin=admin)
    if not key:
        _log.info("%s used an unknown code", by)
        return _private(call, "unknown_code")
    _log.info("%s let in %s as %s%s", by, key, level, ", admin" if admin else "")
    sentence = "allowed_admin" if admin else "allowed"
    return Reply(text(sentence, call.language, key=literal_code(key), level=level))


async def revoke(call: Call) -> Reply | Ask:
    """Takes a grant back by its key; in a group without one, the group's own."""
    here = "" if call.private else place_key(call.event.place)
    key = call.argument or here
    if not key:
        return _usage(call, "revoke", "KEY")
    if await call.desk.roll.revoke(key):
        _log.info("%s revoked %s", call.event.person.key, key)
        return _private(call, "revoked", key=literal_code(key))
    keys = [grant.key for grant in await call.desk.roll.grants()]
    return _private(call, "not_revoked", key=literal_code(key), keys=_listed(call, keys))


def _listed(call: Call, keys: Sequence[str]) -> str:
    shown = ", ".join(f"`{literal_code(key)}`" for key in keys[:_LISTED])
    return shown + (", …" if len(keys) > _LISTED else "") or text("nobody", call.language)


def _usage(call: Call, command: str, usage: str) -> Reply:
    return _private(call, "usage", usage=f"{call.spelled(command)} {usage}")


def _private(call: Call, key: str, /, **values: object) -> Reply:
    return Reply(text(key, call.language, **values), private=True)
