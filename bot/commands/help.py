"""/help: how to ask, and the commands that this person may use here."""

from __future__ import annotations

from collections.abc import Sequence

from bot.chat import Reply
from bot.commands.call import Ask, Call, Command, may_use
from bot.texts import text


async def show_help(call: Call, commands: Sequence[Command]) -> Reply | Ask:
    """Only called for those who may ask here; everybody else learns how to get access."""
    head = text("help_private" if call.private else "help_group", call.language)
    lines = [
        f"- `/{command.name}{' ' if command.usage else ''}{command.usage}`: "
        f"{command.describe[call.language]}"
        for command in commands
        if command.listed
        and may_use(command, call.role)
        and (call.private or not command.private_only)
    ]
    return Reply("\n".join([head, "", *lines]))
