"""What `belay doctor` finds out about a bot: token, webhook, privacy mode, menu of commands."""

from __future__ import annotations

from collections.abc import AsyncIterator

from aiogram import Bot
from aiogram.exceptions import AiogramError, TelegramNotFound, TelegramUnauthorizedError
from aiogram.types import WebhookInfo

from adapters.telegram.profile import PRIVACY, PRIVACY_REMEDY, missing_commands
from bot.ports import Finding

_CHECK = "telegram"
_COPY = "copy the token from @BotFather into BELAY_TELEGRAM_TOKEN"


async def findings(bot: Bot, webhook: str, wanted: frozenset[str]) -> AsyncIterator[Finding]:
    """`webhook` is the address that updates should come to, "" for polling; `wanted` are the
    kinds of updates. Changes nothing at Telegram."""
    try:
        me = await bot.get_me()
        yield Finding(_CHECK, "ok", f"the token is that of @{me.username}")
        yield _webhook(await bot.get_webhook_info(), webhook, wanted)
        if me.can_read_all_group_messages:
            yield Finding(_CHECK, "ok", "privacy mode is off: mentions in groups are seen")
        else:
            yield Finding(_CHECK, "note", PRIVACY, PRIVACY_REMEDY)
        yield _commands(await missing_commands(bot))
    except (TelegramUnauthorizedError, TelegramNotFound):
        yield Finding(_CHECK, "bad", "Telegram does not know the token", _COPY)
    except AiogramError as error:
        remedy = "allow outgoing HTTPS to api.telegram.org, or check BELAY_TELEGRAM_API_URL"
        yield Finding(_CHECK, "bad", f"Telegram was not reached ({type(error).__name__})", remedy)


def _webhook(info: WebhookInfo, wanted_url: str, wanted: frozenset[str]) -> Finding:
    waiting = f"{info.pending_update_count} updates wait"
    if not wanted_url:
        if info.url:
            message = f"a webhook is set, and {waiting} for it"
            return Finding(_CHECK, "note", message, "`belay run` takes it away and polls")
        return Finding(_CHECK, "ok", f"by polling; {waiting}")
    if info.url != wanted_url:
        message = "the webhook is not set, or to another address"
        return Finding(_CHECK, "note", message, f"`belay run` sets it to {wanted_url}")
    if info.last_error_message:
        when = f" at {info.last_error_date:%Y-%m-%d %H:%M} UTC" if info.last_error_date else ""
        message = f"webhook: the last delivery failed{when}: {info.last_error_message}; {waiting}"
        remedy = "check that the proxy passes /telegram/webhook with its headers to BELAY_HTTP"
        return Finding(_CHECK, "bad" if info.pending_update_count else "note", message, remedy)
    if info.allowed_updates and not wanted <= set(info.allowed_updates):
        message = "the webhook does not bring every kind of update that is needed"
        return Finding(_CHECK, "note", message, "`belay run` sets it anew")
    return Finding(_CHECK, "ok", f"by webhook {info.url}; {waiting}")


def _commands(missing: int) -> Finding:
    if missing:
        message = f"{missing} menus of commands are missing or old"
        return Finding(_CHECK, "note", message, "`belay run` sets them")
    return Finding(_CHECK, "ok", "the menus of commands are set")
