"""The `[audit]` section of belay.toml: how long questions are kept, and of whom."""

from __future__ import annotations

from datetime import timedelta
from typing import Literal

from pydantic import Field

from bot.chat_settings import Section


class AuditSettings(Section):
    """`forgotten`: what becomes of the questions of a person who is forgotten."""

    days: int = Field(default=90, ge=1, le=36_500)
    forgotten: Literal["deleted", "pseudonymous"] = "deleted"

    @property
    def kept(self) -> timedelta:
        return timedelta(days=self.days)
