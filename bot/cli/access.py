"""Who may talk to the bot, from the command line: `allow`, `revoke`, `access`."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

import typer

from bot.access import Access, Grant
from bot.chat_settings import person_key
from bot.roll import make_access, opened_roll
from bot.settings import Settings
from bot.terminal import Terminal

NO_CODE = "error: that code is unknown or has expired; who writes to the bot again gets a new one"
_BY, _SETTINGS = "cli", "settings"
_GUEST = "guest"
_FAILED = 1
_CHAT = ":chat"
_GROUP = re.compile(r"telegram:-\d+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Rights:
    """What somebody is let in with; empty values stand for the defaults."""

    level: str = ""
    labels: frozenset[str] = frozenset()
    tenant: str = ""
    admin: bool = False


async def allow(settings: Settings, terminal: Terminal, who: str, rights: Rights) -> None:
    async with opened_roll(settings) as roll:
        access = make_access(settings, roll)
        try:
            checked = _checked(who)
            if access.by_settings(checked):
                raise ValueError(f"{checked} has its rights from [access] in belay.toml")
            key = await access.allow(
                checked,
                _BY,
                level=rights.level,
                admin=rights.admin,
                labels=rights.labels,
                tenant=rights.tenant,
            )
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None
        if not key:
            terminal.note(NO_CODE)
            raise typer.Exit(_FAILED)
        grant = await roll.grant(key)
    assert grant is not None
    terminal.plain(f"let in: {key} ({_rights(grant)})")


async def revoke(settings: Settings, terminal: Terminal, key: str) -> None:
    key = key.strip()
    if key in settings.admins:
        terminal.note(f"error: {key} is an admin by BELAY_ADMINS: take it out there")
        raise typer.Exit(_FAILED)
    async with opened_roll(settings) as roll:
        if make_access(settings, roll).by_settings(key):
            terminal.note(
                f"error: {key} has its rights from [access] in belay.toml: take it out there"
            )
            raise typer.Exit(_FAILED)
        found = await roll.revoke(key)
    if not found:
        terminal.note(f"error: {key} was not let in. `belay access` lists who was.")
        raise typer.Exit(_FAILED)
    terminal.plain(f"no longer let in: {key}")


async def access(settings: Settings, terminal: Terminal, as_json: bool) -> None:
    async with opened_roll(settings) as roll:
        listed = _of_settings(settings)
        known = {grant.key for grant in listed}
        listed += [grant for grant in await roll.grants() if _spot(grant.key) not in known]
        if as_json:
            rows = [_row(grant) for grant in listed]
            terminal.plain(json.dumps(rows, ensure_ascii=False, indent=2))
            return
        if listed:
            lines = [[grant.key, _rights(grant), grant.by, _day(grant)] for grant in listed]
            terminal.table(("who", "may read", "let in by", "on"), lines)
        else:
            terminal.note("Nobody may talk to the bot yet.")
        await note_first_code(make_access(settings, roll), terminal)


async def note_first_code(access: Access, terminal: Terminal) -> None:
    """While there is no admin: how to become one."""
    code = await access.first_code()
    if code is not None:
        terminal.note(
            f"Nobody is an admin yet. Within an hour, write to the bot in a private chat: "
            f"/pair {code.text}\n(`belay access` shows a new code later.)"
        )


def _checked(who: str) -> str:
    """A code as it is; a key in the spelling that events have. Raises ValueError."""
    who = who.strip()
    if ":" not in who or who.endswith(_CHAT):
        return who
    if _GROUP.fullmatch(who):
        return who + _CHAT
    return person_key(who)


def _of_settings(settings: Settings) -> list[Grant]:
    """Who is named there, as if they had been let in; admins first."""
    directory = settings.access.directory()
    readers = {key: directory.people.get(key, directory.highest) for key in settings.admins}
    readers |= directory.people
    readers |= {key: rule.reader for key, rule in directory.places.items() if rule.reader}
    return [
        Grant(
            key,
            _GUEST if reader.guest else reader.level,
            key in settings.admins,
            _SETTINGS,
            labels=reader.labels,
            tenant="" if reader.tenant == directory.tenant else reader.tenant,
        )
        for key, reader in readers.items()
    ]


def _spot(key: str) -> str:
    """A key of the roll as the settings write it."""
    return key.removesuffix(_CHAT)


def _rights(grant: Grant) -> str:
    words = [grant.level, *sorted(grant.labels)]
    words += [f"tenant {grant.tenant}"] if grant.tenant else []
    return ", ".join([*words, "admin"] if grant.admin else words)


def _day(grant: Grant) -> str:
    return grant.at.date().isoformat() if grant.at else ""


def _row(grant: Grant) -> dict[str, object]:
    at = grant.at.isoformat() if grant.at else None
    return {
        "key": grant.key,
        "level": grant.level,
        "labels": sorted(grant.labels),
        "tenant": grant.tenant,
        "admin": grant.admin,
        "by": grant.by,
        "at": at,
    }
