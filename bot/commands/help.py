"""/help: how to ask, and the commands that this person may use here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot.chat import Reply
from bot.commands.call import Ask, Call, Command
from bot.texts import literal_code, text


async def show_help(call: Call, commands: Sequence[Command]) -> Reply | Ask:
    """Only called for those who may ask here; everybody else learns how to get access.

    After a word that is no command it is said first that it is none.
    """
    offered = [item for item in commands if item.offered(call.role, private=call.private)]
    asked = call.argument.split(maxsplit=1)[0].casefold().strip("/`") if call.argument else ""
    about = [item for item in offered if asked in item.names]
    if about:
        return Reply("\n".join(_lines(call, about)))
    head = text("help_private" if call.private else "help_group", call.language,
                ask=call.spelled("ask"))  # fmt: skip
    pieces = [head, "\n".join(_lines(call, offered))]
    if asked:
        pieces.insert(0, text("unknown_word", call.language, word=literal_code(asked)))
    return Reply("\n\n".join(pieces))


def _lines(call: Call, commands: Sequence[Command]) -> Iterator[str]:
    for command in commands:
        usage = command.usage.get(call.language, "")
        typed = f"{call.spelled(command.name)} {usage}".rstrip()
        yield f"- `{typed}`: {command.describe[call.language]}"
