"""`[[sources]]` and `[git]` of belay.toml: what is read and from where.

[[sources]]
kind = "repo"
url = "git@github.com:example/runbooks.git"
key = "~/.ssh/belay_runbooks"
known_hosts = "~/.ssh/known_hosts"
folder = "docs"
schedule = "*/15 * * * *"
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator, model_validator

from bot.chat_settings import Section
from bot.errors import SettingsError
from bot.schedule_settings import Duration, ScheduleSettings
from bot.sync_schedule import SyncSchedule, cron_expression
from graph.model import SourceType

PROTOCOLS = ("https", "ssh", "http", "file")
_SCP = re.compile(r"(?:[A-Za-z0-9._][\w.-]*@)?[A-Za-z0-9][\w.-]*:(?!//|-)[^\s:][^\s]*")
_BRANCH = re.compile(r"(?![-/.])(?!.*(?:\.\.|//|@\{|\.lock$|/$|\.$))[^\s~^:?*\[\\\x00-\x1f\x7f]+")


@dataclass(frozen=True, slots=True)
class Remote:
    """A repository and how to get at it. `token` is secret."""

    url: str
    branch: str = ""  # empty: the one that the server calls its HEAD
    folder: str = ""
    key: Path | None = None
    known_hosts: Path | None = None
    token: str = field(default="", repr=False)
    user: str = "x-token-auth"
    link: str = ""
    proxy: str = field(default="", repr=False)
    ca_file: str = ""

    @property
    def protocol(self) -> str:
        return self.url.partition("://")[0] if "://" in self.url else "ssh"


@dataclass(frozen=True, slots=True)
class GitLimits:
    """Seconds, and the size of what is kept of one repository."""

    fetch_seconds: float = 600.0
    local_seconds: float = 120.0  # of a command that talks to nobody
    silence: float = 30.0  # of a server
    bytes: int = 2_000_000_000
    files: int = 100_000
    protocols: tuple[str, ...] = ("https", "ssh")


_LIMITS = GitLimits()


class GitSettings(Section):
    protocols: tuple[Literal["https", "ssh", "http", "file"], ...] = ("https", "ssh")
    fetch_seconds: float = Field(default=_LIMITS.fetch_seconds, gt=0)
    silence: float = Field(default=_LIMITS.silence, ge=1)
    megabytes: int = Field(default=_LIMITS.bytes // 1_000_000, ge=1)
    files: int = Field(default=_LIMITS.files, ge=1)

    def limits(self) -> GitLimits:
        return GitLimits(
            fetch_seconds=self.fetch_seconds,
            silence=self.silence,
            bytes=self.megabytes * 1_000_000,
            files=self.files,
            protocols=self.protocols,
        )


class SourceSettings(Section):
    """One `[[sources]]` entry of belay.toml: a folder with `path`, a repository with `url`."""

    kind: Literal["", "folder", "repo", "vault"] = ""  # what `path` or `url` says
    path: Path | None = None
    name: str = ""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    audience: str = ""  # the lowest level
    labels: tuple[str, ...] = Field(default=("all",), min_length=1)
    tenant: str = ""  # that of [access]
    url: str = ""
    branch: str = ""
    folder: str = ""
    key: Path | None = None
    known_hosts: Path | None = None
    token_env: str = ""  # the variable that holds a token for https
    token: SecretStr = Field(default=SecretStr(""), exclude=True)
    user: str = "x-token-auth"
    link: str = ""
    proxy: str = Field(default="", repr=False)
    ca_file: str = ""
    schedule: str = ""  # a cron expression; a vault needs none
    jitter: Duration | None = None  # that of [schedules]

    @field_validator("url")
    @classmethod
    def a_repository(cls, value: str) -> str:
        return repository_address(value) if value else value

    @field_validator("branch")
    @classmethod
    def a_branch(cls, value: str) -> str:
        if value and not _BRANCH.fullmatch(value):
            raise ValueError(f"{value!r} cannot be the name of a branch")
        return value

    @field_validator("folder")
    @classmethod
    def inside(cls, value: str) -> str:
        value = value.strip("/")
        if ".." in value.split("/") or value.startswith(("-", ":")):
            raise ValueError(f"{value!r} is no folder inside a repository")
        return value

    @field_validator("name")
    @classmethod
    def a_name(cls, value: str) -> str:
        if "/" in value or value in (".", ".."):
            raise ValueError(f"{value!r} cannot be a name: take letters, digits, '-' and '_'")
        return value

    @field_validator("token")
    @classmethod
    def not_in_the_file(cls, value: SecretStr) -> SecretStr:
        if value.get_secret_value():
            raise ValueError("name the variable that holds the token: token_env")
        return value

    @model_validator(mode="after")
    def one_place(self) -> SourceSettings:
        if bool(self.url) == (self.path is not None):
            raise ValueError("a source has a path (a folder) or a url (a repository), one of them")
        wrong = {"repo": not self.url, "folder": bool(self.url)}.get(self.kind, False)
        if wrong:
            raise ValueError(f"kind {self.kind!r} needs {'url' if not self.url else 'path'}")
        return self

    @model_validator(mode="after")
    def a_schedule(self) -> SourceSettings:
        """Checked here, where the source can be named."""
        try:
            if self.schedule:
                cron_expression(self.schedule)
        except ValueError as error:
            raise ValueError(
                f"source {self.called()!r}: {self.schedule!r} is no schedule: {error}; write "
                'minute, hour, day, month and weekday, as in schedule = "*/15 * * * *"'
            ) from None
        if self.jitter is not None and self.jitter < timedelta(0):
            raise ValueError(f"source {self.called()!r}: jitter cannot be negative")
        return self

    def planned(self, common: ScheduleSettings) -> SyncSchedule | None:
        """When it is due; None for a source that is read when somebody says so."""
        jitter = common.jitter if self.jitter is None else self.jitter
        if self.schedule:
            cron = cron_expression(self.schedule)
            return SyncSchedule(cron, zone=common.zone, jitter=jitter)
        if self.source_type() is SourceType.VAULT:
            return SyncSchedule(every=common.vault, jitter=jitter)
        return None

    def source_type(self) -> SourceType:
        if self.kind:
            return SourceType(self.kind)
        return SourceType.REPO if self.url else SourceType.FOLDER

    def called(self) -> str:
        """Its name, or the last part of the place."""
        if self.name or self.path:
            return self.name or self.place().resolve().name
        return re.split(r"[/:]", self.url.rstrip("/").removesuffix(".git"))[-1]

    def place(self) -> Path:
        assert self.path is not None
        return self.path.expanduser()

    def remote(self) -> Remote | None:
        if not self.url:
            return None
        return Remote(
            self.url,
            self.branch,
            self.folder,
            self.key.expanduser().absolute() if self.key else None,
            self.known_hosts.expanduser().absolute() if self.known_hosts else None,
            self.token.get_secret_value(),
            self.user,
            self.link,
            self.proxy,
            self.ca_file,
        )

    def resolved(self, environment: Mapping[str, str]) -> SourceSettings:
        """With the token that `token_env` names. Raises SettingsError."""
        if not self.token_env:
            return self
        token = environment.get(self.token_env, "").strip()
        if not token:
            raise SettingsError(
                f"source {self.called()!r}: the variable {self.token_env} is not set",
                "set it to a token that may read the repository",
            )
        return self.model_copy(update={"token": SecretStr(token)})


def repository_address(value: str) -> str:
    """Raises ValueError, which repeats nothing that may be secret."""
    known = "https://host/path, ssh://git@host/path or git@host:path"
    if value.startswith("-") or any(ch.isspace() or not ch.isprintable() for ch in value):
        raise ValueError(f"the address of a repository looks like {known}")
    if "://" not in value:
        if not _SCP.fullmatch(value):
            raise ValueError(f"the address of a repository looks like {known}")
        return value
    try:
        parts = urlsplit(value)
        host, password, _ = parts.hostname or "", parts.password, parts.port
    except ValueError:
        raise ValueError(f"the address of a repository looks like {known}") from None
    if parts.scheme not in PROTOCOLS:
        raise ValueError(f"the address of a repository looks like {known}")
    if password is not None or parts.query or parts.fragment:
        raise ValueError("the address holds a password or a token: name its variable in token_env")
    if parts.username and parts.scheme != "ssh":
        raise ValueError("the address holds a name or a token: use user and token_env")
    if parts.scheme != "file" and (not host or host.startswith("-")):
        raise ValueError(f"the address of a repository looks like {known}")
    if (parts.username or "").startswith("-"):
        raise ValueError(f"the address of a repository looks like {known}")
    return value
