"""Chat and embedding models behind any server that speaks OpenAI's protocol.

The SDK costs most of a second to import: it is loaded when one of these names is first asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adapters.openai.chat import OpenAIChat
    from adapters.openai.embedder import OpenAIEmbedder
    from adapters.openai.factory import create_chat, create_embedder

__all__ = ["OpenAIChat", "OpenAIEmbedder", "create_chat", "create_embedder"]

_HOMES = {
    "OpenAIChat": "adapters.openai.chat",
    "OpenAIEmbedder": "adapters.openai.embedder",
    "create_chat": "adapters.openai.factory",
    "create_embedder": "adapters.openai.factory",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
