"""The `[mcp]` section of belay.toml: what agents that connect to `belay mcp` may read.

[mcp]
level = "staff"
labels = ["swift"]
sources = ["runbooks"]
types = ["folder", "repo"]
"""

from __future__ import annotations

from pydantic import Field, SecretStr, field_validator

from bot.chat_settings import Section
from bot.search import SearchBounds
from bot.source_types import DOCUMENT_TYPES
from graph.model import SourceType

_BOUNDS = SearchBounds()
_SHORTEST_TOKEN = 16  # characters


class McpSettings(Section):
    """By default a client reads what everybody may read who was let in at the lowest level.

    `sources` and `types` narrow it further; empty, they do not.
    """

    level: str = ""  # the lowest
    labels: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    types: tuple[SourceType, ...] = ()
    token: SecretStr = SecretStr("")  # what a client of the HTTP server shows
    passages: int = Field(default=_BOUNDS.passages, ge=1, le=_BOUNDS.most)
    result_bytes: int = Field(default=128 * 1024, ge=4096, le=1024 * 1024)

    @field_validator("types")
    @classmethod
    def of_documents(cls, value: tuple[SourceType, ...]) -> tuple[SourceType, ...]:
        for kind in value:
            if kind not in DOCUMENT_TYPES:
                raise ValueError(f"{kind!s} is none of {', '.join(DOCUMENT_TYPES)}")
        return value

    @field_validator("token")
    @classmethod
    def hard_to_guess(cls, value: SecretStr) -> SecretStr:
        token = value.get_secret_value()
        if token and (
            len(token) < _SHORTEST_TOKEN or not token.isascii() or not token.isprintable()
        ):
            raise ValueError(f"a token has at least {_SHORTEST_TOKEN} ASCII characters")
        return value
