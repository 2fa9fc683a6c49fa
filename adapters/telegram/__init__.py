"""Telegram: how answers look there, and the bot itself.

The SDK takes seconds to import: it is loaded when one of these names is first asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adapters.telegram.factory import create, open_bot
    from adapters.telegram.platform import Telegram

__all__ = ["Telegram", "create", "open_bot"]

_HOMES = {
    "Telegram": "adapters.telegram.platform",
    "create": "adapters.telegram.factory",
    "open_bot": "adapters.telegram.factory",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
