"""The table of commands: name, who may use it, where, and what it says of itself.

Platforms show it in their menus (`menu`), `/help` lists it, the handler looks commands up (`find`).
"""

from __future__ import annotations

from bot.access import Role
from bot.chat import Reply
from bot.commands.access_commands import allow, pair, revoke
from bot.commands.ask import ask
from bot.commands.call import Ask, Call, Command, may_use
from bot.commands.help import show_help
from bot.commands.sources import sources
from bot.commands.why import why
from graph.model import Language


async def _help(call: Call) -> Reply | Ask:
    return await show_help(call, COMMANDS)


COMMANDS: tuple[Command, ...] = (
    Command(
        "ask",
        ask,
        {"en": "ask the documents", "ru": "задать вопрос по документам"},
        aliases=("вопрос",),
    ),
    Command(
        "sources",
        sources,
        {"en": "what I have read, and when", "ru": "что и когда я прочитал"},
        aliases=("источники",),
    ),
    Command(
        "why",
        why,
        {"en": "how the last answer came about", "ru": "откуда взялся последний ответ"},
        aliases=("почему",),
    ),
    Command(
        "help",
        _help,
        {"en": "how to ask, and the commands", "ru": "как спрашивать и какие есть команды"},
        aliases=("start", "помощь", "справка"),
    ),
    Command(
        "pair",
        pair,
        {"en": "become the first admin", "ru": "стать первым администратором"},
        role=Role.STRANGER,
        private_only=True,
        listed=False,
        changes=True,
        usage="CODE",
    ),
    Command(
        "allow",
        allow,
        {"en": "let a person or a group in", "ru": "впустить человека или группу"},
        role=Role.ADMIN,
        changes=True,
        usage="CODE [level] [admin]",
    ),
    Command(
        "revoke",
        revoke,
        {"en": "take access back", "ru": "закрыть доступ"},
        role=Role.ADMIN,
        changes=True,
        usage="KEY",
    ),
)

_BY_NAME = {name: command for command in COMMANDS for name in (command.name, *command.aliases)}


def find(name: str) -> Command | None:
    return _BY_NAME.get(name)


def menu(language: Language, *, private: bool, admin: bool = False) -> list[tuple[str, str]]:
    """(name, description) of the commands to offer in private chats or in groups."""
    role = Role.ADMIN if admin else Role.MEMBER
    return [
        (command.name, command.describe[language])
        for command in COMMANDS
        if command.listed and may_use(command, role) and (private or not command.private_only)
    ]
