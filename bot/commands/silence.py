"""/mute: the bot says nothing more here."""

from __future__ import annotations

from bot.chat import Reply
from bot.commands.call import Ask, Call
from bot.commands.spoken import with_only
from bot.texts import text

SPOKEN_MUTE = with_only("this", "the", "thread", "here", "yourself", "тут", "здесь", "тред", "этот")


async def mute(call: Call) -> Reply | Ask:
    """Silence in this thread until somebody mentions the bot again."""
    event = call.event
    if call.private:
        return Reply(text("mute_private", call.language), private=True)
    if event.private and not event.place.thread:
        return Reply(text("mute_where", call.language), private=True)
    if call.desk.threads is not None:
        await call.desk.threads.mute(event.place)
    return Reply(text("muted", call.language))
