"""Which adapter stands behind which name. Nothing here imports an adapter before it is used.

The table is strings so that a process pays only for what it uses; tests/bot/test_registry.py
resolves every row and checks it against its port.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from importlib import import_module
from typing import Any

FACTORIES: dict[str, str] = {
    "index.sqlite": "adapters.sqlite:SqliteIndex.open",
    "index.weaviate": "adapters.weaviate:create",
    "inbox.sqlite": "adapters.sqlite.inbox:SqliteInbox.open",
    "roll.sqlite": "adapters.sqlite.roll:SqliteRoll",
    "feedback.sqlite": "adapters.sqlite.feedback:SqliteFeedback",
    "threads.sqlite": "adapters.sqlite.threads:SqliteThreads",
    "audit.sqlite": "adapters.sqlite.audit:SqliteAudit",
    "sessions.sqlite": "adapters.sqlite.sessions:SqliteSessions",
    "leadership.sqlite": "adapters.sqlite.leadership:SqliteLeadership",
    "timetable.sqlite": "adapters.sqlite.timetable:SqliteTimetable",
    "cache.sqlite": "adapters.sqlite.cache:SqliteCache",
    "copy.sqlite": "adapters.sqlite.copies:copy",
    "server.redis": "adapters.redis.server:create",
    "inbox.redis": "adapters.redis.inbox:RedisInbox",
    "roll.redis": "adapters.redis.roll:RedisRoll",
    "feedback.redis": "adapters.redis.feedback:RedisFeedback",
    "threads.redis": "adapters.redis.threads:RedisThreads",
    "cache.redis": "adapters.redis.cache:RedisCache",
    "sessions.redis": "adapters.redis.sessions:RedisSessions",
    "limits.redis": "adapters.redis.limits:RedisLimiter",
    "leadership.redis": "adapters.redis.leadership:RedisLeadership",
    "timetable.redis": "adapters.redis.timetable:RedisTimetable",
    "roster.ical": "adapters.ical:create",
    "platform.slack": "adapters.slack:create",
    "platform.telegram": "adapters.telegram:create",
    "embedder.builtin": "adapters.use:create",
    "embedder.e5": "adapters.e5:create",
    "embedder.openai": "adapters.openai:create_embedder",
    "model.openai": "adapters.openai:create_chat",
    "web.duckduckgo": "adapters.duckduckgo:create",
    "source.folder": "adapters.folder:create",
    "source.git": "adapters.git:create",
    "source.kept": "adapters.kept:create",
    "console": "adapters.console:create",
    "converters": "adapters.documents:create",
    "traces.otel": "adapters.otel:create",
    "reader": "adapters.documents:create_reader",
    "agents": "adapters.mcp:create",
    "plots": "adapters.plots:create",
}


def factory(name: str) -> Callable[..., Any]:
    """The callable behind `name`. Raises KeyError for an unknown name."""
    module, _, attribute = FACTORIES[name].partition(":")
    loaded: Any = import_module(module)
    found: Callable[..., Any] = reduce(getattr, attribute.split("."), loaded)
    return found
