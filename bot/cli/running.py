"""Runs a command: settings, logs, event loop, and errors in words with an exit code."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import signal
import sys
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Concatenate, ParamSpec
from urllib.parse import urlsplit

import typer

from bot import logs
from bot.errors import BotError
from bot.redaction import redact
from bot.settings import Settings, load
from bot.terminal import Terminal
from graph.errors import GraphError

P = ParamSpec("P")
Command = Callable[Concatenate[Settings, Terminal, P], Coroutine[Any, Any, None]]

INTERRUPTED, TERMINATED = 130, 143  # what a shell reports for Ctrl-C and for SIGTERM
_LOG = logging.getLogger(__name__)


def run(command: Command[P], *args: P.args, **kwargs: P.kwargs) -> None:
    """Runs `command(settings, terminal, ...)`; a known error becomes a sentence and a remedy."""
    from bot.registry import factory

    terminal: Terminal = factory("console")()
    try:
        settings = load()
        logs.configure(
            settings.log_level,
            as_json=settings.log_format == "json" if settings.log_format else None,
            secrets=secrets(settings),
            tracebacks=settings.log_level == "DEBUG",
        )
        asyncio.run(_until_signal(command(settings, terminal, *args, **kwargs)))
    except (typer.Exit, typer.BadParameter, BrokenPipeError):
        # a result, what typer itself explains, and a reader that has seen enough
        raise
    except Exception as error:
        terminal.close()
        raise typer.Exit(_explained(terminal, _first(error))) from None
    except (KeyboardInterrupt, asyncio.CancelledError) as error:
        terminal.close()
        raise typer.Exit(TERMINATED if str(error) == _SIGTERM else INTERRUPTED) from None


def secrets(settings: Settings) -> list[str]:
    """Setting values that no log line may show."""
    hidden = (
        settings.model_key,
        settings.telegram_token,
        settings.telegram_webhook_secret,
        settings.slack_bot_token,
        settings.slack_app_token,
        settings.slack_signing_secret,
        settings.weaviate_key,
        settings.telemetry.headers,
        settings.mcp.token,
    )
    addresses = (
        settings.model_url,
        settings.web_search.proxy,
        settings.telegram_api_url,
        settings.slack_api_url,
        settings.redis_url,
        settings.weaviate_url,
        settings.telemetry.endpoint,
    )
    found = [value.get_secret_value() for value in hidden]
    found += [urlsplit(address).password or "" for address in addresses]
    return [value for value in (*found, *settings.oncall.secrets()) if value]


async def _until_signal(work: Coroutine[Any, Any, None]) -> None:
    """SIGTERM ends the work like Ctrl-C does: what is half done is rolled back or recorded."""
    task = asyncio.current_task()
    if task is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel, _SIGTERM)
    await work


_SIGTERM = "SIGTERM"


def _first(error: Exception) -> Exception:
    """The error itself, or the first one of a group of tasks."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error


def _explained(terminal: Terminal, error: Exception) -> int:
    """Tells a person what went wrong and what to do; returns the exit code."""
    code = 1
    if isinstance(error, BotError):
        message, remedy, code = str(error), error.remedy, error.exit_code
    elif isinstance(error, GraphError):
        message, remedy = str(error), "Run `belay doctor` to see what is wrong."
    elif isinstance(error, OSError) and error.strerror:
        _LOG.debug("refused by the system", exc_info=error)
        named = f": {error.filename}" if error.filename else ""
        if error.errno == errno.ENOSPC:
            _discard_output()
        message = f"The system refused it: {error.strerror}{named}."
        remedy = "Check the output, the working directory, the space and the permissions there."
    else:
        _LOG.critical("uncaught exception", exc_info=error)
        message = f"Something went wrong that Belay does not expect ({type(error).__name__})."
        remedy = "Run it again with BELAY_LOG_LEVEL=DEBUG, and report what that prints."
    terminal.note(f"error: {redact(message)}")
    if remedy:
        terminal.note(f"  {remedy}")
    return code


def _discard_output() -> None:
    """What waits to be written never will be; Python would try once more at the end."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
