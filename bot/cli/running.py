"""Runs a command: settings, logs, event loop, and errors in words with an exit code."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, ParamSpec

import typer

from bot import logs
from bot.errors import BotError
from bot.settings import Settings, load
from bot.terminal import Terminal
from graph.errors import GraphError

P = ParamSpec("P")
Command = Callable[Concatenate[Settings, Terminal, P], Coroutine[Any, Any, None]]

INTERRUPTED = 130  # what a shell reports for Ctrl-C


def run(command: Command[P], *args: P.args, **kwargs: P.kwargs) -> None:
    """Runs `command(settings, terminal, ...)`; a known error becomes a sentence and a remedy."""
    from bot.registry import factory

    terminal: Terminal = factory("console")()
    try:
        settings = load()
        logs.configure(settings.log_level, secrets=secrets(settings))
        asyncio.run(_until_signal(command(settings, terminal, *args, **kwargs)))
    except BotError as error:
        _stop(terminal, str(error), error.remedy, error.exit_code)
    except GraphError as error:
        _stop(terminal, f"{error}", "run `belay doctor` to see what is wrong", 1)
    except (KeyboardInterrupt, asyncio.CancelledError):
        raise typer.Exit(INTERRUPTED) from None


def secrets(settings: Settings) -> list[str]:
    """Setting values that no log line may show."""
    return [value for value in (settings.model_key.get_secret_value(),) if value]


async def _until_signal(work: Coroutine[Any, Any, None]) -> None:
    """SIGTERM ends the work like Ctrl-C does: what is half done is rolled back or recorded."""
    task = asyncio.current_task()
    if task is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    await work


def _stop(terminal: Terminal, message: str, remedy: str, code: int) -> None:
    terminal.note(f"error: {message}")
    if remedy:
        terminal.note(f"  {remedy}")
    raise typer.Exit(code)
