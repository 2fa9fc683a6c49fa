"""The platforms that the settings give a token to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from bot.http import Mount
from bot.ports import Platform
from bot.registry import factory
from bot.settings import Settings

if TYPE_CHECKING:
    from bot.running import Wanted


def configured(settings: Settings) -> tuple[str, ...]:
    """The names of the platforms that have a token."""
    tokens = {"telegram": settings.telegram_token, "slack": settings.slack_bot_token}
    return tuple(name for name, token in tokens.items() if token.get_secret_value())


def make_platforms(
    settings: Settings, *, http: Mount | None = None, wanted: Wanted | None = None
) -> Sequence[Platform]:
    """Every platform that has a token; nothing is connected yet. Webhooks are mounted on `http`.

    Raises SettingsError.
    """
    return [_MAKERS[name](settings, http, wanted) for name in configured(settings)]


def _telegram(settings: Settings, http: Mount | None, wanted: Wanted | None) -> Platform:
    platform: Platform = factory("platform.telegram")(
        settings.telegram_token.get_secret_value(),
        api_url=settings.telegram_api_url,
        webhook_url=settings.telegram_webhook_url,
        webhook_secret=settings.telegram_webhook_secret.get_secret_value(),
        http=http,
        on_added=wanted.on_added if wanted else None,
        files=settings.telegram_files,
    )
    return platform


def _slack(settings: Settings, http: Mount | None, wanted: Wanted | None) -> Platform:
    follows = wanted is not None and settings.slack.follow_threads
    platform: Platform = factory("platform.slack")(
        settings.slack_bot_token.get_secret_value(),
        app_token=settings.slack_app_token.get_secret_value(),
        signing_secret=settings.slack_signing_secret.get_secret_value(),
        api_url=settings.slack_api_url,
        http=http,
        threads=wanted.threads if wanted and follows else None,
        pages=wanted.pages if wanted else None,
        **({"reads": wanted.reads} if wanted else {}),
    )
    return platform


_MAKERS: dict[str, Callable[[Settings, Mount | None, Wanted | None], Platform]] = {
    "telegram": _telegram,
    "slack": _slack,
}
