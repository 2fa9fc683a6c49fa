"""/ask: a question, in groups where the bot hears only commands."""

from __future__ import annotations

from bot.chat import Reply
from bot.commands.call import Ask, Call
from bot.texts import text

USAGE = {"en": "your question", "ru": "ваш вопрос"}


async def ask(call: Call) -> Reply | Ask:
    """The question behind the word, or the message that it replies to."""
    if call.argument or call.event.quote is not None:
        return Ask(call.argument)
    usage = f"/ask {USAGE[call.language]}"
    return Reply(text("usage", call.language, usage=usage))
