"""Who may talk to the bot, from the command line: `allow`, `revoke`, `access`."""

from __future__ import annotations

import json
import re

import typer

from bot.access import Access, Grant
from bot.chat_settings import person_key
from bot.roll import make_access, opened_roll
from bot.settings import Settings
from bot.terminal import Terminal
from graph.model import LEVELS

NO_CODE = "error: that code is unknown or has expired; who writes to the bot again gets a new one"
_BY = "cli"
_FAILED = 1
_CHAT = ":chat"
_GROUP = re.compile(r"telegram:-\d+", re.ASCII)


async def allow(settings: Settings, terminal: Terminal, who: str, level: str, admin: bool) -> None:
    async with opened_roll(settings) as roll:
        try:
            access = make_access(settings, roll)
            key = await access.allow(_checked(who), _BY, level=level, admin=admin)
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
        found = await roll.revoke(key)
    if not found:
        terminal.note(f"error: {key} was not let in. `belay access` lists who was.")
        raise typer.Exit(_FAILED)
    terminal.plain(f"no longer let in: {key}")


async def access(settings: Settings, terminal: Terminal, as_json: bool) -> None:
    async with opened_roll(settings) as roll:
        listed = [Grant(key, LEVELS[-1], True, "settings") for key in settings.admins]
        listed += [grant for grant in await roll.grants() if grant.key not in settings.admins]
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


def _rights(grant: Grant) -> str:
    return f"{grant.level}, admin" if grant.admin else grant.level


def _day(grant: Grant) -> str:
    return grant.at.date().isoformat() if grant.at else ""


def _row(grant: Grant) -> dict[str, object]:
    at = grant.at.isoformat() if grant.at else None
    return {"key": grant.key, "level": grant.level, "admin": grant.admin, "by": grant.by, "at": at}
