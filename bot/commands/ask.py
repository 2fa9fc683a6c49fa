"""/ask: a question, in groups where the bot hears only commands."""

from __future__ import annotations

from bot.chat import Reply
from bot.commands.call import Ask, Call
from bot.texts import text
from graph.model import Language

USAGE: dict[Language, str] = {"en": "your question", "ru": "ваш вопрос"}


async def ask(call: Call) -> Reply | Ask:
    """The question behind the word, or the message or thread that it is asked in reply to."""
    event = call.event
    if call.argument or event.quote is not None or event.context:
        return Ask(call.argument)
    usage = f"{call.spelled('ask')} {USAGE[call.language]}"
    return Reply(text("usage", call.language, usage=usage))
