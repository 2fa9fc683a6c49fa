"""The Redis that several replicas of a bot share."""

from __future__ import annotations

import re
from datetime import timedelta

from pydantic import Field, field_validator

from bot.chat_settings import Section

_PREFIX = re.compile(r"[A-Za-z0-9._-]{1,64}", re.ASCII)
_SCHEME = re.compile(r"rediss?(\+(sentinel|cluster))?://\S", re.ASCII)


class RedisSettings(Section):
    """`[redis]`. Counts when BELAY_REDIS_URL is set."""

    prefix: str = "belay"  # of its keys: a bot each on one server
    timeout: float = Field(default=2.0, gt=0)  # seconds for one command
    start_timeout: float = Field(default=30.0, ge=0)  # for a server that is starting
    sessions_days: int = Field(default=365, ge=1, le=3650)  # for what was said, since the last word
    answers_seconds: float = Field(default=600.0, ge=0)  # an answer is given again; 0: never
    vectors_seconds: float = Field(default=86_400.0, ge=0)  # of questions, from a remote embedder

    @property
    def sessions_kept(self) -> timedelta:
        return timedelta(days=self.sessions_days)

    @field_validator("prefix")
    @classmethod
    def a_plain_word(cls, value: str) -> str:
        if not _PREFIX.fullmatch(value):
            raise ValueError("letters, digits and . _ - only, such as belay")
        return value


def redis_address(value: str) -> str:
    """Raises ValueError for what is no address of a Redis; it is not repeated: it may hold a
    password."""
    if value and not _SCHEME.match(value):
        raise ValueError(
            "an address begins with redis://, rediss:// (TLS), redis+sentinel:// or "
            "redis+cluster:// and names a host"
        )
    return value
