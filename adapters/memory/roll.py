"""The roll in memory: for tests, and for a bot that should forget everybody when it stops."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from bot.access import Code, Grant, Roll


class MemoryRoll(Roll):
    def __init__(self) -> None:
        self._grants: dict[str, Grant] = {}
        self._codes: dict[str, Code] = {}

    async def grant(self, key: str) -> Grant | None:
        return self._grants.get(key)

    async def grants(self) -> list[Grant]:
        return [self._grants[key] for key in sorted(self._grants)]

    async def save(self, grant: Grant) -> None:
        self._grants[grant.key] = grant

    async def revoke(self, key: str) -> bool:
        return self._grants.pop(key, None) is not None

    async def save_code(self, code: Code) -> None:
        self._codes[code.key] = code

    async def code_for(self, key: str) -> Code | None:
        return self._codes.get(key)

    async def redeem(self, text: str, now: datetime) -> Code | None:
        for code in self._codes.values():
            if code.text == text and code.expires > now:
                return self._codes.pop(code.key)
        return None

    async def rename(self, old: str, new: str) -> None:
        grant = self._grants.pop(old, None)
        if grant is not None:
            self._grants[new] = replace(grant, key=new)
        code = self._codes.pop(old, None)
        if code is not None:
            self._codes[new] = replace(code, key=new)
