"""The roll in Redis: who was let in, known to every replica at once."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from adapters.redis.script import script
from adapters.redis.server import Server
from bot.access import Code, Grant, Roll

_CODE_KNOWN = 86_400  # seconds, more than the life of any code
_SCRIPT = script("roll.lua")


class RedisRoll(Roll):
    """Grants are for ever, in one hash; each code is a key of its own, which goes after a day."""

    def __init__(self, server: Server) -> None:
        self._server, self._key = server, server.key("roll")
        self._grants = server.key("roll", "grants")

    async def grant(self, key: str) -> Grant | None:
        found = await self._server.command("HGET", self._grants, key)
        return _grant(key, found) if found is not None else None

    async def grants(self) -> list[Grant]:
        found: dict[str, str] = await self._server.command("HGETALL", self._grants)
        return [_grant(key, found[key]) for key in sorted(found)]

    async def save(self, grant: Grant) -> None:
        at = grant.at.isoformat() if grant.at else None
        rights = [sorted(grant.labels), grant.tenant]
        row = json.dumps([grant.level, grant.admin, grant.by, at, *rights])
        await self._server.command("HSET", self._grants, grant.key, row)

    async def revoke(self, key: str) -> bool:
        return bool(await self._server.command("HDEL", self._grants, key))

    async def save_code(self, code: Code) -> None:
        expires = repr(code.expires.timestamp())
        await self._run("save_code", code.key, code.text, expires, str(_CODE_KNOWN))

    async def code_for(self, key: str) -> Code | None:
        return _code(await self._run("code_for", key))

    async def redeem(self, text: str, now: datetime) -> Code | None:
        return _code(await self._run("redeem", text, repr(now.timestamp())))

    async def rename(self, old: str, new: str) -> None:
        if old != new:
            await self._run("rename", old, new)

    async def _run(self, operation: str, *values: str) -> list[str]:
        found: list[str] = await self._server.run(_SCRIPT, self._key, operation, *values)
        return found


def _grant(key: str, row: str) -> Grant:
    level, admin, by, at, labels, tenant = json.loads(row)
    moment = datetime.fromisoformat(at) if at else None
    return Grant(key, level, admin, by, moment, frozenset(labels), tenant)


def _code(row: list[str]) -> Code | None:
    if not row:
        return None
    key, text, expires = row
    return Code(text, key, datetime.fromtimestamp(float(expires), UTC))
