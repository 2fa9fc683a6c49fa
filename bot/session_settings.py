"""The `[sessions]` section of belay.toml: how much of what was said is kept, and made findable."""

from __future__ import annotations

from datetime import timedelta

from pydantic import Field

from bot.chat_settings import Section
from bot.sessions import PAUSE, STORED

_HOUR = timedelta(hours=1)


class SessionSettings(Section):
    """`recall` off: what was said is kept for follow-ups, and no answer comes from it. How many
    turns a model is shown stands in [limits]: history_turns, history_tokens."""

    stored: int = Field(default=STORED, ge=2, le=100_000)  # turns of one session
    pause: float = Field(default=PAUSE / _HOUR, gt=0)  # hours after which a new session begins
    recall: bool = True
    every: float = Field(default=2.0, gt=0)  # hours between two runs of the indexer
    last_run: float = Field(default=10.0, ge=0)  # seconds for the run on shutdown; 0 for none

    @property
    def pause_time(self) -> timedelta:
        return self.pause * _HOUR

    @property
    def seconds_between(self) -> float:
        return self.every * _HOUR.total_seconds()
