"""The embedded store: one SQLite file that several processes of a bot share."""

from adapters.sqlite.index import SqliteIndex

__all__ = ["SqliteIndex"]
