"""Settings of the messengers: their shapes, and what is said about values that cannot work.

No message shows a secret value: it names what the value looks like.
"""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator

from bot.desk_options import DeskOptions
from bot.limits import Rate, Rates

_DESK, _RATES = DeskOptions(), Rates()
_TELEGRAM_TOKEN = re.compile(r"\d{3,}:[A-Za-z0-9_-]{20,}", re.ASCII)
_SLACK_TOKEN = re.compile(r"(?:xoxb|xapp)-[A-Za-z0-9-]{10,}", re.ASCII)
_SIGNING_SECRET = re.compile(r"[0-9a-fA-F]{20,128}", re.ASCII)
_COMMAND = re.compile(r"/[a-z0-9_-]{1,31}", re.ASCII)
_WEBHOOK_SECRET = re.compile(r"[A-Za-z0-9_-]{16,256}", re.ASCII)
_IDS = {
    "telegram": (re.compile(r"[1-9]\d*", re.ASCII), "a number, as in telegram:42"),
    "slack": (re.compile(r"[UW][A-Z0-9]+", re.ASCII), "a member id, as in slack:U012AB3CD"),
}
_OTHERS = {
    "xoxb-": "a Slack bot token",
    "xapp-": "a Slack app token",
    "xoxp-": "a Slack token of a person",
    "xoxe": "a Slack token that expires; switch token rotation off",
    "xox": "a Slack token",
    "sk-": "a model provider's key",
    "http": "an address",
}
_PORTS = range(65536)  # 0: any free one


class Section(BaseModel):
    """One table of belay.toml."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class DeskSettings(Section):
    """How questions are worked on. Seconds and counts."""

    workers: int = Field(default=_DESK.workers, ge=1, le=256)  # conversations at a time
    lease: float = Field(default=_DESK.lease, gt=0)
    poll: float = Field(default=_DESK.poll, gt=0)
    late_after: float = Field(default=_DESK.late_after, gt=0)
    give_up: float = Field(default=_DESK.give_up, gt=0)
    grace: float = Field(default=20.0, ge=0)  # on shutdown, for answers that are being written

    def options(self) -> DeskOptions:
        return DeskOptions(**self.model_dump(exclude={"grace"}))


class RateSettings(Section):
    """How many questions one person, and one chat or channel, may ask."""

    person_per_minute: float = Field(default=_RATES.person.per_minute, gt=0)
    person_burst: int = Field(default=_RATES.person.burst, ge=1)
    place_per_minute: float = Field(default=_RATES.place.per_minute, gt=0)
    place_burst: int = Field(default=_RATES.place.burst, ge=1)

    def rates(self) -> Rates:
        return Rates(
            person=Rate(self.person_per_minute, self.person_burst),
            place=Rate(self.place_per_minute, self.place_burst),
        )


class SlackSettings(Section):
    """How the bot behaves on Slack. `command` is the name of its slash command, as the app's
    manifest has it."""

    follow_threads: bool = True  # after one mention, a thread needs no other
    command: str = "/belay"

    @field_validator("command")
    @classmethod
    def a_slash_command(cls, value: str) -> str:
        value = value if value.startswith("/") else f"/{value}"
        if not _COMMAND.fullmatch(value):
            raise ValueError(f"{value!r} is no slash command, as in /belay")
        return value


def listed(value: Any) -> Any:
    """A list that was written as one item, or with empty items, as people leave them."""
    if isinstance(value, str | int):
        value = str(value).split(",")
    if isinstance(value, list | tuple):
        return tuple(text for text in (str(item).strip() for item in value) if text)
    return value


def person_key(value: str) -> str:
    """A person as in BELAY_ADMINS. Raises ValueError."""
    platform, colon, name = value.partition(":")
    if not colon:
        raise ValueError(f"{value!r} does not say where: write telegram:42 or slack:U012AB3CD")
    if platform not in _IDS:
        raise ValueError(f"{value!r}: {platform!r} is none of {', '.join(_IDS)}")
    shape, description = _IDS[platform]
    if not shape.fullmatch(name.strip()):
        raise ValueError(f"{value!r}: the id is {description}; names can change hands")
    return f"{platform}:{name.strip()}"


def telegram_token(value: str) -> str:
    """A token as @BotFather gives it. Raises ValueError."""
    if not value or _TELEGRAM_TOKEN.fullmatch(value):
        return value
    if other := _what(value):
        raise ValueError(f"this is {other}; a Telegram token looks like 123456:AA… (@BotFather)")
    raise ValueError(
        "this is no Telegram token: digits, a colon and about 35 letters, without blanks and "
        "quotes, as @BotFather shows it"
    )


def slack_bot_token(value: str) -> str:
    """A token as the app's page OAuth & Permissions shows it. Raises ValueError."""
    return _slack_token(value, "xoxb-", "a Slack bot token", "OAuth & Permissions")


def slack_app_token(value: str) -> str:
    """A token as the app's page Basic Information shows it. Raises ValueError."""
    return _slack_token(value, "xapp-", "a Slack app token", "Basic Information")


def _slack_token(value: str, start: str, what: str, page: str) -> str:
    if not value or (value.startswith(start) and _SLACK_TOKEN.fullmatch(value)):
        return value
    looks = f"{what} begins with {start} ({page} of the app's configuration)"
    other = "" if value.startswith(start) else _what(value)
    raise ValueError(f"this is {other}; {looks}" if other else f"this is no such token: {looks}")


def slack_signing_secret(value: str) -> str:
    """Raises ValueError for what cannot be one."""
    if not value or _SIGNING_SECRET.fullmatch(value):
        return value
    looks = "a signing secret is 32 digits and letters a to f (Basic Information of the app)"
    other = _what(value)
    raise ValueError(f"this is {other}; {looks}" if other else looks)


def _what(value: str) -> str:
    """What a value that stands in the wrong place looks like; "" when nobody knows."""
    if _TELEGRAM_TOKEN.fullmatch(value):
        return "a Telegram token"
    return next((what for start, what in _OTHERS.items() if value.startswith(start)), "")


def webhook_secret(value: str) -> str:
    """Raises ValueError for a secret that Telegram would refuse or that can be guessed."""
    if value and not _WEBHOOK_SECRET.fullmatch(value):
        raise ValueError(
            "16 to 256 letters, digits, _ and -; for example from: openssl rand -hex 32"
        )
    return value


def listen_address(value: str) -> tuple[str, int]:
    """Host and port of "host:port"; a port alone means this machine only. Raises ValueError."""
    host, _, port = value.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") or "127.0.0.1"
    if not (port.isascii() and port.isdigit() and int(port) in _PORTS):
        raise ValueError(f"{value!r} is no host:port, as in 127.0.0.1:8080 or 0.0.0.0:8080")
    if ":" in host:
        ip_address(host)
    return host, int(port)


def is_web_address(value: str) -> bool:
    try:
        parts = urlsplit(value)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and " " not in value
    except ValueError:  # such as an unclosed bracket
        return False
