"""What serves agents: a protocol over `bot.knowledge.Lookup`. adapters/mcp is the real one."""

from __future__ import annotations

from typing import Protocol


class Agents(Protocol):
    """Both run until they are cancelled or the other side has ended."""

    async def stdio(self) -> None:
        """Serves one client over standard input and output."""

    async def http(self, host: str, port: int, token: str) -> None:
        """Serves clients that show `token`, on this address."""
