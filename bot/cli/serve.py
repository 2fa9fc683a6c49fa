"""`belay run`: the bot on every platform that has a token, or the chat in the terminal."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

from bot.app import App, opened
from bot.cli.access import note_first_code
from bot.cli.chat import NOTHING_INDEXED, Asking, converse
from bot.errors import SourceError
from bot.platforms import configured
from bot.settings import Settings
from bot.terminal import Terminal


async def run_bot(settings: Settings, terminal: Terminal, watch: bool) -> None:
    from bot.cli.sync import bring_up_to_date, keep_up_to_date

    async with opened(settings) as app:
        try:
            await bring_up_to_date(app, terminal)
        except SourceError as error:  # what is indexed already still answers
            terminal.note(f"not synced: {error} {error.remedy}")
        async with asyncio.TaskGroup() as group:
            watching = group.create_task(keep_up_to_date(app, terminal)) if watch else None
            if configured(settings):
                await _serve(app, terminal)
            else:
                await converse(app, terminal, Asking())
            if watching is not None:
                watching.cancel()


async def _serve(app: App, terminal: Terminal) -> None:
    """Until a signal ends it."""
    from bot.http import HttpServer, Listening
    from bot.platforms import make_platforms
    from bot.roll import make_access
    from bot.running import Bot, chosen_stores, stop_signals

    settings, names = app.settings, configured(app.settings)
    if not (await app.index.info()).chunks:
        terminal.note(NOTHING_INDEXED)
    host, port = settings.http_address()
    async with AsyncExitStack() as stack:
        kept = await stack.enter_async_context(chosen_stores(settings, names))
        http = await stack.enter_async_context(HttpServer(Listening(host, port)))
        await note_first_code(make_access(settings, kept.roll), terminal)
        bot = Bot(app, kept, lambda wanted: make_platforms(settings, http=http, wanted=wanted))
        with stop_signals() as stop:
            terminal.note(f"answering on {', '.join(names)}; Ctrl-C ends it")
            await bot.run(stop)
