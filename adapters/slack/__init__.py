"""Slack, through its Web API and either Socket Mode or signed requests.

The SDK is loaded when one of these names is first asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adapters.slack.factory import create, open_client
    from adapters.slack.platform import Slack

__all__ = ["Slack", "create", "open_client"]

_HOMES = {
    "Slack": "adapters.slack.platform",
    "create": "adapters.slack.factory",
    "open_client": "adapters.slack.factory",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
