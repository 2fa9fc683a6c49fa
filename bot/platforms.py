"""The platforms that the settings give a token to."""

from __future__ import annotations

from collections.abc import Sequence

from bot.http import Mount
from bot.ports import Platform
from bot.registry import factory
from bot.running import OnAdded
from bot.settings import Settings


def configured(settings: Settings) -> tuple[str, ...]:
    """The names of the platforms that have a token."""
    return ("telegram",) if settings.telegram_token.get_secret_value() else ()


def make_platforms(
    settings: Settings, *, http: Mount | None = None, on_added: OnAdded | None = None
) -> Sequence[Platform]:
    """Every platform that has a token; nothing is connected yet. Webhooks are mounted on `http`.

    Raises SettingsError.
    """
    return [_MAKERS[name](settings, http, on_added) for name in configured(settings)]


def _telegram(settings: Settings, http: Mount | None, on_added: OnAdded | None) -> Platform:
    platform: Platform = factory("platform.telegram")(
        settings.telegram_token.get_secret_value(),
        api_url=settings.telegram_api_url,
        webhook_url=settings.telegram_webhook_url,
        webhook_secret=settings.telegram_webhook_secret.get_secret_value(),
        http=http,
        on_added=on_added,
    )
    return platform


_MAKERS = {"telegram": _telegram}
