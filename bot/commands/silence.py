"""/mute and /forget: the bot says nothing more here, or knows nothing more of it."""

from __future__ import annotations

from bot.chat import Reply
from bot.commands.call import Ask, Call
from bot.commands.spoken import with_only
from bot.texts import text

SPOKEN_MUTE = with_only("this", "the", "thread", "here", "yourself", "тут", "здесь", "тред", "этот")
SPOKEN_FORGET = with_only(  # "forget it" is said among people
    *("everything", "all", "of", "the", "our", "my", "this", "conversation", "thread", "chat"),
    *("messages", "questions", "всё", "все", "этот", "разговор", "тред", "чат", "мои", "вопросы"),
)


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


async def forget(call: Call) -> Reply | Ask:
    """Drops what the asker said here, and what they were answered."""
    count = call.desk.recall.forget_asker(call.event)
    key = "forgot" if count else "forgot_nothing"
    return Reply(text(key, call.language, count=count), private=True)
