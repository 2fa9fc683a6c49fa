"""[expansion] of belay.toml: lines that the chat model writes beside each document at a sync."""

from __future__ import annotations

from pydantic import Field

from bot.chat_settings import Section
from graph.model import LANGUAGES, Language


class ExpansionSettings(Section):
    """`lines`: in each of `languages`, those in which people ask; `characters`: of a document that
    the model reads; `parallel`: calls of the model at once."""

    enabled: bool = False
    lines: int = Field(default=3, ge=1, le=8)
    languages: tuple[Language, ...] = Field(default=LANGUAGES, min_length=1)
    characters: int = Field(default=8000, ge=500, le=100_000)
    parallel: int = Field(default=4, ge=1, le=32)
    kept_days: float = Field(default=180.0, gt=0)
