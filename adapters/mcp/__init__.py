"""A Model Context Protocol server over a team's documents, with the official SDK.

The SDK is an optional extra. A client reads what `bot.knowledge.ReadPolicy` says and nothing else.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from bot.errors import SettingsError

if TYPE_CHECKING:
    from adapters.mcp.server import AgentServer
    from bot.knowledge import Lookup

_NEEDED = "`belay mcp` needs the extra `mcp`, which is not installed."
_REMEDY = "Install it: pip install 'belay-bot[mcp]'"


def create(lookup: Lookup) -> AgentServer:
    """The factory that bot/registry.py names. Raises SettingsError without the SDK."""
    if find_spec("mcp") is None:
        raise SettingsError(_NEEDED, _REMEDY)
    from adapters.mcp.server import AgentServer  # noqa: PLC0415 - the SDK takes a second to load

    return AgentServer(lookup)
