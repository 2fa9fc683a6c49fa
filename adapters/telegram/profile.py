"""How the bot presents itself: its menu of commands, and what privacy mode keeps from it."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Sequence

from aiogram import Bot
from aiogram.exceptions import ClientDecodeError, TelegramAPIError
from aiogram.types import (
    BotCommand,
    BotCommandScopeAllChatAdministrators,
    BotCommandScopeAllGroupChats,
    BotCommandScopeAllPrivateChats,
    BotCommandScopeUnion,
    User,
)

from bot.commands.table import menu
from graph.model import Language

_log = logging.getLogger(__name__)

# Telegram shows the menu without a language to everybody whose language has none of its own.
_LANGUAGES: tuple[tuple[str | None, Language], ...] = ((None, "en"), ("en", "en"), ("ru", "ru"))
_SCOPES: tuple[tuple[BotCommandScopeUnion, bool], ...] = (
    (BotCommandScopeAllPrivateChats(), True),
    (BotCommandScopeAllGroupChats(), False),
    (BotCommandScopeAllChatAdministrators(), False),
)
_PRIVACY: dict[Language, str] = {
    "en": "Privacy mode is on: in this group I see commands and replies to my messages, but not "
    "mentions. Ask with `/ask@{name} …`. To let me see mentions, make me an administrator here, or "
    "turn privacy mode off with @BotFather (`/setprivacy`) and add me again.",
    "ru": "Включён режим приватности: в этой группе я вижу команды и ответы на мои сообщения, но "
    "не упоминания. Спрашивайте так: `/ask@{name} …`. Чтобы я видел упоминания, сделайте меня "
    "администратором или выключите режим приватности у @BotFather (`/setprivacy`) и добавьте меня "
    "снова.",
}
PRIVACY = "privacy mode is on: in groups the bot sees commands and replies to it, but no mentions"
PRIVACY_REMEDY = (
    "make it an administrator of the group; or switch privacy mode off with /setprivacy of "
    "@BotFather and add the bot to the group again"
)


def privacy_note(me: User, language: Language = "en") -> str:
    """What people in a group are told while privacy mode is on; "" when it is off."""
    if me.can_read_all_group_messages:
        return ""
    return _PRIVACY[language].format(name=me.username or "")


def wanted_commands(language: Language, *, private: bool) -> list[BotCommand]:
    """The menu for private chats or for groups."""
    rows = menu(language, private=private)
    return [BotCommand(command=name, description=told) for name, told in rows]


async def publish_commands(bot: Bot) -> int:
    """Tells Telegram the menus that it does not have yet; returns how many.

    A menu is a convenience: what Telegram refuses is logged and left.
    """
    changed = 0
    try:
        async for scope, code, wanted in _stale(bot):
            changed += await bot.set_my_commands(wanted, scope=scope, language_code=code)
    except (TelegramAPIError, ClientDecodeError) as error:
        _log.warning("the menu of commands was not set: %s", error)
    return changed


async def missing_commands(bot: Bot) -> int:
    """How many menus differ from what they should be. Raises TelegramAPIError."""
    return len([code async for _, code, _ in _stale(bot)])


async def _stale(
    bot: Bot,
) -> AsyncIterator[tuple[BotCommandScopeUnion, str | None, list[BotCommand]]]:
    for scope, private in _SCOPES:
        for code, language in _LANGUAGES:
            wanted = wanted_commands(language, private=private)
            known = await bot.get_my_commands(scope=scope, language_code=code)
            if _rows(known) != _rows(wanted):
                yield scope, code, wanted


def _rows(commands: Sequence[BotCommand]) -> list[tuple[str, str]]:
    return [(command.command, command.description) for command in commands]
