"""/pair, /allow, /revoke: who may talk to the bot. Each use is written to the log, by keys."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from bot.access import place_key
from bot.chat import Reply
from bot.commands.call import Ask, Call
from bot.texts import literal_code, text

_log = logging.getLogger(__name__)
_ADMIN = ("admin", "админ")
_LABELS, _TENANT = ("labels=", "метки="), ("tenant=", "клиент=")
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
        return _usage(call, "allow", "CODE [level] [labels=a,b] [tenant=t] [admin]")
    what, *options = words or [place_key(call.event.place)]
    rights = _Rights.of(options)
    access = call.desk.access
    if (
        wrong := [level for level in rights.levels if level not in access.levels]
        or rights.levels[1:]
    ):
        known = ", ".join(f"`{level}`" for level in access.levels)
        return _private(call, "unknown_level", level=literal_code(wrong[0]), levels=known)
    if access.by_settings(what):
        return _private(call, "in_settings", key=literal_code(what))
    return await _allow(call, what, rights)


@dataclass(frozen=True, slots=True)
class _Rights:
    """The words after the code, sorted out; what is none of the others is taken for a level."""

    levels: tuple[str, ...] = ()
    labels: frozenset[str] = frozenset()
    tenant: str = ""
    admin: bool = False

    @classmethod
    def of(cls, words: Sequence[str]) -> _Rights:
        levels, labels, tenant, admin = [], [], "", False
        for word in words:
            folded = word.casefold()
            if folded in _ADMIN:
                admin = True
            elif folded.startswith(_LABELS):
                labels += [label for label in word.partition("=")[2].split(",") if label]
            elif folded.startswith(_TENANT):
                tenant = word.partition("=")[2]
            else:
                levels.append(folded)
        return cls(tuple(levels), frozenset(labels), tenant, admin)


async def _allow(call: Call, what: str, rights: _Rights) -> Reply:
    by, access = call.event.person.key, call.desk.access
    level = rights.levels[0] if rights.levels else access.levels[-1 if rights.admin else 0]
    key = await access.allow(
        what, by, level=level, admin=rights.admin, labels=rights.labels, tenant=rights.tenant
    )
    if not key:
        _log.info("%s used an unknown code", by)
        return _private(call, "unknown_code")
    _log.info("%s let in %s as %s%s", by, key, level, ", admin" if rights.admin else "")
    sentence = "allowed_admin" if rights.admin else "allowed"
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
