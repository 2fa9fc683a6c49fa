"""Settings of the on-call roster: the `[oncall]` section of belay.toml.

An address of a calendar is a secret. It stands in the file, or in an environment variable that
`url_env` names; no message repeats it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from pydantic import Field, SecretStr, field_validator, model_validator

from bot.chat_settings import Section, listed, person_key
from bot.errors import SettingsError
from bot.roster import Feed, Schedule

_PLACES = {
    "slack": (re.compile(r"[CGD][A-Z0-9]+", re.ASCII), "a channel id, as in slack:C012AB3CD"),
    "telegram": (re.compile(r"-?\d+", re.ASCII), "a chat's number, as in telegram:-100123456"),
}
_LOCAL = ("127.0.0.1", "localhost", "::1")
_MAIL = re.compile(r"[^\s@]+@[^\s@]+")


class ScheduleSettings(Section):
    """One `[[oncall.schedules]]` entry. `channels` are the places whose schedule this is."""

    name: str = Field(min_length=1, max_length=80)
    url: SecretStr = SecretStr("")
    url_env: str = ""
    file: Path | None = None
    aliases: tuple[str, ...] = ()
    services: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()
    zone: str = ""

    @field_validator("aliases", "services", "channels", mode="before")
    @classmethod
    def one_or_many(cls, value: Any) -> Any:
        return listed(value)

    @field_validator("channels")
    @classmethod
    def known_places(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(_place(item) for item in value)

    @field_validator("zone")
    @classmethod
    def known_zone(cls, value: str) -> str:
        return _zone(value) if value else ""

    @field_validator("url")
    @classmethod
    def a_secret_address(cls, value: SecretStr) -> SecretStr:
        return SecretStr(_address(value.get_secret_value()))

    @model_validator(mode="after")
    def one_origin(self) -> ScheduleSettings:
        given = [bool(self.url.get_secret_value()), bool(self.url_env), self.file is not None]
        if sum(given) != 1:
            raise ValueError(f"schedule {self.name!r} needs one of: url, url_env, file")
        if self.url_env.startswith("BELAY_"):
            raise ValueError("url_env: a name without BELAY_, which begins Belay's own settings")
        return self

    def names(self) -> tuple[str, ...]:
        return (self.name, *self.aliases, *self.services)


class PersonSettings(Section):
    """One `[[oncall.people]]` entry: somebody whom calendars name, and who they are in chats."""

    name: str = Field(min_length=1, max_length=80)
    emails: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()  # other spellings in calendars
    slack: str = ""
    telegram: str = ""
    zone: str = ""

    @field_validator("emails", "aliases", mode="before")
    @classmethod
    def one_or_many(cls, value: Any) -> Any:
        return listed(value)

    @field_validator("emails")
    @classmethod
    def addresses(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for item in value:
            if not _MAIL.fullmatch(item):
                raise ValueError(f"{item!r} is no mail address")
        return tuple(item.casefold() for item in value)

    @field_validator("slack", "telegram", mode="before")
    @classmethod
    def an_id(cls, value: Any, info: Any) -> Any:
        text = str(value).strip() if isinstance(value, str | int) else value
        if not isinstance(text, str) or not text:
            return text
        key = person_key(text if ":" in text else f"{info.field_name}:{text}")
        platform, _, number = key.partition(":")
        if platform != info.field_name:
            raise ValueError(f"{text!r} is no id on {info.field_name}")
        return number

    @field_validator("zone")
    @classmethod
    def known_zone(cls, value: str) -> str:
        return _zone(value) if value else ""

    def keys(self) -> tuple[str, ...]:
        """As events name the person: `slack:U012AB3CD`."""
        ids = {"slack": self.slack, "telegram": self.telegram}
        return tuple(f"{platform}:{number}" for platform, number in ids.items() if number)


class OnCallSettings(Section):
    """`zone` is where whoever asks is taken to live when nothing else says so. Seconds."""

    zone: str = "UTC"
    refresh: float = Field(default=300.0, ge=30)
    timeout: float = Field(default=10.0, gt=0, le=60)
    ca_file: str = ""
    schedules: tuple[ScheduleSettings, ...] = ()
    people: tuple[PersonSettings, ...] = ()

    @field_validator("zone")
    @classmethod
    def known_zone(cls, value: str) -> str:
        return _zone(value)

    @model_validator(mode="after")
    def told_apart(self) -> OnCallSettings:
        _distinct("schedules", (item.names() for item in self.schedules))
        _distinct("people", ((*item.emails, *item.keys()) for item in self.people))
        return self

    def resolved(self, environment: Mapping[str, str]) -> OnCallSettings:
        """With the addresses that `url_env` names. Raises SettingsError."""
        schedules = tuple(_resolved(item, environment) for item in self.schedules)
        return self.model_copy(update={"schedules": schedules})

    def feeds(self) -> tuple[Feed, ...]:
        return tuple(
            Feed(
                Schedule(item.name, item.names()[1:], item.zone or self.zone),
                item.url.get_secret_value(),
                item.file.expanduser() if item.file else None,
            )
            for item in self.schedules
        )

    def secrets(self) -> list[str]:
        """Values that no log line may show: each address, and the part of it that is secret."""
        urls = [item.url.get_secret_value() for item in self.schedules]
        return [part for url in urls if url for part in (url, url.partition("://")[2])]


def _resolved(item: ScheduleSettings, environment: Mapping[str, str]) -> ScheduleSettings:
    if not item.url_env:
        return item
    try:
        address = _address(environment.get(item.url_env, "").strip())
        if not address:
            raise ValueError("it is not set")
    except ValueError as error:
        raise SettingsError(
            f"schedule {item.name!r}: the address in {item.url_env} cannot be used: {error}",
            "set it to the secret iCal address of the schedule",
        ) from None
    return item.model_copy(update={"url": SecretStr(address)})


def _address(value: str) -> str:
    """webcal:// is another spelling of https://. Raises ValueError."""
    if not value:
        return ""
    scheme, found, rest = value.partition("://")
    if found and scheme.casefold() in ("webcal", "webcals"):
        value = f"https://{rest}"
    try:
        parts = urlsplit(value)
        host = parts.hostname or ""
    except ValueError:
        host, parts = "", urlsplit("")
    if not host or any(char.isspace() for char in value) or parts.scheme not in ("https", "http"):
        raise ValueError("an address of a calendar begins with https:// and names a host")
    if parts.scheme == "http" and host not in _LOCAL:
        raise ValueError("a secret address must not travel in the open: write https://")
    return value


def _place(value: str) -> str:
    platform, _, number = value.partition(":")
    if platform not in _PLACES:
        raise ValueError(f"{value!r} does not say where: write slack:C012AB3CD or telegram:-100123")
    shape, description = _PLACES[platform]
    if not shape.fullmatch(number.strip()):
        raise ValueError(f"{value!r}: it takes {description}")
    return f"{platform}:{number.strip()}"


def _zone(value: str) -> str:
    try:
        return ZoneInfo(value).key
    except (ValueError, OSError, KeyError):
        raise ValueError(f"{value!r} is no time zone, such as Europe/Berlin or UTC") from None


def _distinct(what: str, entries: Iterator[tuple[str, ...]]) -> None:
    """No two entries share a name. Raises ValueError."""
    seen: dict[str, int] = {}
    for number, names in enumerate(entries):
        for name in names:
            if seen.setdefault(" ".join(name.casefold().split()), number) != number:
                raise ValueError(f"{what}: {name!r} stands in two entries")
