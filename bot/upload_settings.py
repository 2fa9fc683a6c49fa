"""[uploads] of belay.toml: files that are handed in by chat."""

from __future__ import annotations

from datetime import timedelta

from pydantic import Field

from bot.chat_settings import Section


class UploadSettings(Section):
    """`files`: of one message; `minutes`: how long after a file "add this" still means it."""

    draft_days: float = Field(default=7.0, gt=0)  # a draft from a chat goes unless it is published
    files: int = Field(default=10, ge=1, le=50)
    minutes: float = Field(default=30.0, gt=0)

    @property
    def draft_life(self) -> timedelta:
        return timedelta(days=self.draft_days)

    @property
    def remembered(self) -> timedelta:
        return timedelta(minutes=self.minutes)
