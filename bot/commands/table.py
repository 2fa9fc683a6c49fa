"""The table of commands: name, who may use it, where, and what it says of itself.

Platforms show it in their menus (`menu`), `/help` lists it, the handler looks commands up (`find`).
"""

from __future__ import annotations

from bot.access import Role
from bot.chat import Reply
from bot.commands.access_commands import allow, pair, revoke
from bot.commands.add import add
from bot.commands.ask import USAGE, ask
from bot.commands.call import Ask, Call, Command
from bot.commands.forget import SPOKEN_FORGET, forget
from bot.commands.help import show_help
from bot.commands.oncall import ONCALL, oncall, spoken_oncall
from bot.commands.remember import documents, remember, spoken_documents, spoken_remember
from bot.commands.runbook import (
    INCIDENT,
    RUNBOOK,
    SPOKEN_INCIDENT,
    SPOKEN_RUNBOOK,
    incident,
    runbook,
)
from bot.commands.silence import SPOKEN_MUTE, mute
from bot.commands.sources import sources, with_types
from bot.commands.spoken import a_key, anything, never, unasked, with_only
from bot.commands.why import why
from graph.model import Language


async def _help(call: Call) -> Reply | Ask:
    return await show_help(call, COMMANDS)


COMMANDS: tuple[Command, ...] = (
    Command(
        "ask",
        ask,
        {"en": "ask the documents", "ru": "задать вопрос по документам"},
        aliases=("kb", "вопрос"),
        usage=USAGE,
        spoken=anything,
    ),
    Command(
        "runbook",
        runbook,
        {
            "en": "the runbook of an alert or service, without a model",
            "ru": "инструкция к алерту или сервису, без модели",
        },
        aliases=("rb", "ранбук", "инструкция"),
        usage=RUNBOOK,
        spoken=SPOKEN_RUNBOOK,
    ),
    Command(
        "incident",
        incident,
        {
            "en": "what to do about a symptom, without a model",
            "ru": "что делать при симптоме, без модели",
        },
        aliases=("инцидент",),
        usage=INCIDENT,
        spoken=SPOKEN_INCIDENT,
    ),
    Command(
        "oncall",
        oncall,
        {"en": "who is on call, now or at a time", "ru": "кто дежурит, сейчас или в другое время"},
        aliases=("on-call", "whoisoncall", "who", "дежурный", "кто"),
        postable=True,
        usage=ONCALL,
        spoken=spoken_oncall,
        slash_only=("who", "кто"),
    ),
    Command(
        "sources",
        sources,
        {"en": "what I have read, and when", "ru": "что и когда я прочитал"},
        aliases=("источники",),
        postable=True,
        usage={"en": "[type:TYPE]", "ru": "[тип:ТИП]"},
        spoken=with_types,
    ),
    Command(
        "why",
        why,
        {"en": "how the last answer came about", "ru": "откуда взялся последний ответ"},
        aliases=("почему",),
        spoken=unasked,
    ),
    Command(
        "forget",
        forget,
        {"en": "forget what you asked here", "ru": "забыть, что вы здесь спрашивали"},
        aliases=("забудь",),
        changes=True,
        usage={"en": "[everywhere]", "ru": "[везде]"},
        spoken=SPOKEN_FORGET,
    ),
    Command(
        "mute",
        mute,
        {
            "en": "stay silent in this thread until mentioned again",
            "ru": "молчать в этом треде, пока не упомянут",
        },
        aliases=("тихо",),
        group_only=True,
        changes=True,
        spoken=SPOKEN_MUTE,
    ),
    Command(
        "remember",
        remember,
        {"en": "keep this message as a note", "ru": "сохранить сообщение как заметку"},
        aliases=("запомни", "запомнить"),
        changes=True,
        usage={"en": "[TEXT]", "ru": "[ТЕКСТ]"},
        spoken=spoken_remember,
    ),
    Command(
        "add",
        add,
        {
            "en": "add the file that came with it to the documents",
            "ru": "добавить присланный файл в документы",
        },
        aliases=("добавь",),
        changes=True,
        usage={"en": "[for LEVEL]", "ru": "[для УРОВЕНЬ]"},
        spoken=never,  # recognised by the whole message: bot/commands/add.py
    ),
    Command(
        "documents",
        documents,
        {"en": "documents that were handed in", "ru": "переданные документы"},
        aliases=("документы",),
        changes=True,
        usage={"en": "[delete ID]", "ru": "[удали ID]"},
        spoken=spoken_documents,
    ),
    Command(
        "help",
        _help,
        {"en": "how to ask, and the commands", "ru": "как спрашивать и какие есть команды"},
        aliases=("start", "помощь", "справка"),
        spoken=with_only("me", "мне"),
        slash_only=("start",),
    ),
    Command(
        "pair",
        pair,
        {"en": "become the first admin", "ru": "стать первым администратором"},
        role=Role.STRANGER,
        private_only=True,
        listed=False,
        changes=True,
        usage={"en": "CODE", "ru": "КОД"},
        spoken=a_key,
    ),
    Command(
        "allow",
        allow,
        {"en": "let a person or a group in", "ru": "впустить человека или группу"},
        role=Role.ADMIN,
        changes=True,
        usage={
            "en": "CODE [level] [labels=a,b] [admin]",
            "ru": "КОД [уровень] [labels=a,b] [admin]",
        },
        spoken=a_key,
    ),
    Command(
        "revoke",
        revoke,
        {"en": "take access back", "ru": "закрыть доступ"},
        role=Role.ADMIN,
        changes=True,
        usage={"en": "KEY", "ru": "КЛЮЧ"},
        spoken=a_key,
    ),
)

_BY_NAME = {name: command for command in COMMANDS for name in command.names}


def find(name: str) -> Command | None:
    return _BY_NAME.get(name)


def menu(language: Language, *, private: bool, admin: bool = False) -> list[tuple[str, str]]:
    """(name, description) of the commands to offer in private chats or in groups."""
    role = Role.ADMIN if admin else Role.MEMBER
    return [
        (command.name, command.describe[language])
        for command in COMMANDS
        if command.offered(role, private=private)
    ]
