"""What a user or operator did that Belay cannot work with, and what to do about it.

BotError
├── SettingsError        a setting is missing or wrong; names the key
│   └── AccessWithdrawn  a platform took the bot's access back while it ran
├── SourceError          a source cannot be read (missing, empty, unreadable)
├── SyncBusy             another process is syncing the same home
├── IndexIncompatible    the index was built with another embedder or chunker version
├── StorageError         the data folder cannot be written (full disk, permissions, damage)
├── RosterDown           an on-call calendar cannot be read, and there is no copy of it
├── PlatformGone         the bot was blocked, removed or the place is gone: nothing more goes there
├── AnswerRefused        a platform takes this answer in no form: it is given up, and the asker told
│   └── ThreadGone       nothing can be said there any more; in other threads of the place it can
└── DeliveryFailed       a platform could not be reached in time: the question stays open
"""


class BotError(Exception):
    """`str(error)` is a sentence for the person at the terminal; `remedy` says what to do."""

    exit_code = 1

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.remedy = remedy


class SettingsError(BotError):
    exit_code = 2


class AccessWithdrawn(SettingsError):
    pass


class SourceError(BotError):
    exit_code = 3


class SyncBusy(BotError):
    exit_code = 4


class IndexIncompatible(BotError):
    exit_code = 5


class StorageError(BotError):
    exit_code = 6


class RosterDown(BotError):
    pass


class PlatformGone(BotError):
    pass


class AnswerRefused(BotError):
    pass


class ThreadGone(AnswerRefused):
    pass


class DeliveryFailed(BotError):
    pass
