"""Calls to the Bot API, and what its refusals mean for a message.

DeliveryFailed
└── Refused             certainly not shown
    ├── Flooded         too fast: nothing before `seconds` have passed
    ├── Moved           the group has become the supergroup `chat`
    ├── TopicGone       the topic was deleted or closed
    ├── TargetGone      the message to edit is no longer there
    ├── AskedGone       the message to reply to is no longer there
    ├── Missing         the server does not know the method
    └── Unreadable      this form of the message is not accepted
Unclear                 nobody knows whether it took effect
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

from aiogram import Bot
from aiogram.exceptions import (
    ClientDecodeError,
    TelegramAPIError,
    TelegramBadRequest,
    TelegramEntityTooLarge,
    TelegramForbiddenError,
    TelegramMigrateToChat,
    TelegramNetworkError,
    TelegramNotFound,
    TelegramRetryAfter,
    TelegramServerError,
)
from aiogram.methods import TelegramMethod

from adapters.telegram.departure import DepartureSession, departing
from bot.errors import DeliveryFailed, PlatformGone

_log = logging.getLogger(__name__)
_T = TypeVar("_T")

_UNCHANGED = "message is not modified"


class Refused(DeliveryFailed):
    pass


class Flooded(Refused):
    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


class Moved(Refused):
    def __init__(self, message: str, chat: int) -> None:
        super().__init__(message)
        self.chat = chat


class TopicGone(Refused):
    pass


class TargetGone(Refused):
    pass


class AskedGone(Refused):
    pass


class Missing(Refused):
    pass


class Unreadable(Refused):
    pass


class Unclear(Exception):
    pass


# Telegram tells its 400s apart by their descriptions only. The first row that fits counts.
_MEANINGS: tuple[tuple[type[Exception], tuple[str, ...]], ...] = (
    (
        TopicGone,
        (
            "message thread not found",
            "topic_deleted",
            "topic_closed",
            "topic_not_found",
            "topic_id_invalid",
            "thread_id_invalid",
            "not a forum",
        ),
    ),
    (
        AskedGone,
        (
            "message to be replied not found",
            "message to reply not found",
            "replied message not found",
            "reply message not found",
            "reply_message_id_invalid",
        ),
    ),
    (
        TargetGone,
        (
            "message to edit not found",
            "message can't be edited",
            "message_id_invalid",
            "message to delete not found",
            "message can't be deleted",
        ),
    ),
    (
        PlatformGone,
        (
            "chat not found",
            "chat_write_forbidden",
            "chat_send_plain_forbidden",
            "chat_restricted",
            "channel_private",
            "peer_id_invalid",
            "not enough rights",
            "have no rights",
            "need administrator rights",
            "user is deactivated",
            "user_deactivated",
            "user_is_blocked",
            "group chat was deactivated",
            "group chat was deleted",
            "bot is not a member",
        ),
    ),
)


class Requests:
    """One call is one request: nothing is repeated here."""

    def __init__(self, bot: Bot) -> None:
        assert isinstance(bot.session, DepartureSession)
        self._bot = bot

    async def __call__(
        self, method: TelegramMethod[_T], seconds: int, leaving: Callable[[], None] = lambda: None
    ) -> _T | None:
        """The result, waited for `seconds`; None for an edit that changes nothing. `leaving` is
        called right before the bytes go out. Raises what it raises, PlatformGone, Refused (see
        above) and Unclear."""
        with departing(leaving) as departure:
            try:
                return await self._bot(method, request_timeout=seconds)
            except ClientDecodeError as error:
                if isinstance(error.data, dict) and error.data.get("ok") is True:
                    _log.warning("a reply of Telegram that this version cannot read")
                    return None
                raise Unclear("the reply was not readable") from error
            except TelegramBadRequest as error:
                if _UNCHANGED in error.message.lower():
                    return None
                raise _bad_request(error) from error
            except TelegramAPIError as error:
                raise departure.error or _meaning(error, left=departure.left) from error


def _bad_request(error: TelegramBadRequest) -> Exception:
    description = error.message.lower()
    for meaning, words in _MEANINGS:
        if any(word in description for word in words):
            return meaning(error.message)
    return Unreadable(error.message)


_KINDS: tuple[tuple[type[TelegramAPIError], type[Exception]], ...] = (
    (TelegramForbiddenError, PlatformGone),
    (TelegramEntityTooLarge, Unreadable),  # before TelegramNetworkError, which it is as well
    (TelegramNetworkError, Unclear),
    (TelegramNotFound, Missing),
    (TelegramServerError, Unclear),
)


def _meaning(error: TelegramAPIError, *, left: bool) -> Exception:
    match error:
        case TelegramRetryAfter():
            return Flooded(error.message, float(error.retry_after))
        case TelegramMigrateToChat():
            return Moved(error.message, error.migrate_to_chat_id)
        case TelegramNetworkError() if not left:
            return Refused(error.message)
        case _:
            found = (meaning for kind, meaning in _KINDS if isinstance(error, kind))
            return next(found, Refused)(error.message)
