"""/ask: a question, in groups where the bot hears only commands."""

from __future__ import annotations

from bot.asking import Way
from bot.chat import Reply
from bot.commands.call import Ask, Call
from bot.source_types import DOCUMENT_TYPES, Types, split_types
from bot.texts import literal_code, text
from graph.model import Language

USAGE: dict[Language, str] = {"en": "your question", "ru": "ваш вопрос"}


async def ask(call: Call) -> Reply | Ask:
    """The question behind the word, or the message or thread that it is asked in reply to."""
    return asked(call, Way.ASK) or Reply(
        text("usage", call.language, usage=f"{call.spelled('ask')} {USAGE[call.language]}")
    )


def asked(call: Call, way: Way) -> Ask | Reply | None:
    """What is asked behind a command, of the types of sources named there; None for nothing."""
    words, types = split_types(call.argument)
    if types.unknown:
        return no_such_type(types, call.language)
    if words or call.event.quote is not None or call.event.context:
        return Ask(words, way, types)
    return None


def plain(text: str) -> Ask:
    """A question without a command; a word that names no type of source belongs to it."""
    words, types = split_types(text)
    return Ask(text) if types.unknown else Ask(words, types=types)


def no_such_type(types: Types, language: Language) -> Reply:
    names = ", ".join(sorted(DOCUMENT_TYPES))
    wrong = literal_code(types.unknown[0])
    return Reply(text("unknown_type", language, name=wrong, types=names), private=True)
