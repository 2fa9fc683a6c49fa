"""Builds the platform from plain values, as settings hold them."""

from __future__ import annotations

from pathlib import Path

from aiogram import Bot
from aiogram.client.telegram import PRODUCTION, TelegramAPIServer
from aiogram.utils.token import TokenValidationError

from adapters.telegram.departure import DepartureSession
from adapters.telegram.options import Options
from adapters.telegram.platform import Hook, OnAdded, Telegram, stay
from adapters.telegram.webhook import secret_of
from bot.errors import SettingsError
from bot.http import Mount


def open_bot(token: str, api_url: str = "", options: Options | None = None) -> Bot:
    """A client of the Bot API at `api_url`, Telegram's own without one; close its session.

    Raises SettingsError for what cannot be a token.
    """
    api = TelegramAPIServer.from_base(api_url) if api_url.strip() else PRODUCTION
    session = DepartureSession(api=api, timeout=(options or Options()).call_timeout)
    try:
        return Bot(token.strip(), session)
    except TokenValidationError as error:
        raise SettingsError(
            "BELAY_TELEGRAM_TOKEN is no token of a Telegram bot",
            "It looks like 123456789:AA… and comes from @BotFather.",
        ) from error


def create(
    token: str,
    api_url: str = "",
    *,
    webhook_url: str = "",
    webhook_secret: str = "",
    http: Mount | None = None,
    on_added: OnAdded | None = None,
    leaves_topic: bool = True,
    files: str = "",
    options: Options | None = None,
) -> Telegram:
    """The platform: by webhook when `webhook_url` is given, else by polling.

    `http` is where the webhook is mounted. `on_added` decides whether to stay in a group. With
    `leaves_topic` off, an answer whose topic is gone is not shown in the rest of the group.
    `files` is the folder in which a Bot API server with `--local` keeps what people send.
    Raises SettingsError.
    """
    bot = open_bot(token, api_url, options)
    hook = None
    if webhook_url.strip():
        if http is None:
            raise SettingsError("a webhook needs the HTTP server", "Set BELAY_HTTP.")
        hook = Hook(webhook_url.strip(), webhook_secret.strip() or secret_of(token.strip()), http)
    return Telegram(
        bot,
        hook=hook,
        on_added=on_added or stay,
        leaves_topic=leaves_topic,
        files=Path(files).expanduser() if files.strip() else None,
        options=options,
    )
