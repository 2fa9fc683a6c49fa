"""All settings: environment variables (prefix BELAY_) over one TOML file over defaults.

The only module that reads the environment. The file is `belay.toml` in the working directory, or
what BELAY_CONFIG names. Nested keys: `[thresholds] factual = 0.75` in the file,
BELAY_THRESHOLDS__FACTUAL=0.75 in the environment.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_core.core_schema import ValidationInfo
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from bot.access_settings import AccessSettings
from bot.audit_settings import AuditSettings
from bot.chat_settings import (
    DeskSettings,
    RateSettings,
    SlackSettings,
    is_web_address,
    listed,
    listen_address,
    person_key,
    slack_app_token,
    slack_bot_token,
    slack_signing_secret,
    telegram_token,
    webhook_secret,
)
from bot.errors import SettingsError
from bot.expansion_settings import ExpansionSettings
from bot.mcp_settings import McpSettings
from bot.oncall_settings import OnCallSettings
from bot.redis_settings import RedisSettings, redis_address
from bot.schedule_settings import ScheduleSettings
from bot.sections import (
    IngestSettings,
    LimitSettings,
    Retrieval,
    Thresholds,
    WebSettings,
)
from bot.session_settings import SessionSettings
from bot.settings_reading import (
    Environment,
    explained,
    read_toml,
    stripped,
    unquoted,
    with_home,
)
from bot.source_settings import GitSettings, SourceSettings
from bot.telemetry_settings import TelemetrySettings
from bot.upload_settings import UploadSettings
from bot.weaviate_settings import (
    WeaviateSettings,
    distinct_doors,
    grpc_address,
    tenant_of_weaviate,
)
from graph.policy import Limits, Policy

PREFIX = "BELAY_"


def user_cache() -> Path | None:
    """The user's cache folder, by the XDG base directory specification; None without a home."""
    with suppress(RuntimeError):
        return Path(os.getenv("XDG_CACHE_HOME") or "~/.cache", "belay").expanduser()
    return None


class Settings(BaseSettings):
    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter="__", extra="ignore", frozen=True,
        protected_namespaces=(),
    )  # fmt: skip

    home: Path = Path(".belay")
    access: AccessSettings = AccessSettings()  # first, for the levels that others name
    cache: Path | None = Field(default_factory=user_cache)  # what can be made again
    model: str = ""
    model_url: str = Field(default="", repr=False)  # may hold a password
    model_key: SecretStr = SecretStr("")
    embedder: str = "builtin"
    web: bool = True
    log_format: Literal["", "text", "json"] = ""  # empty: text in a terminal
    level: str = ""  # whose documents the terminal may read; the highest by default
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "WARNING"
    admins: tuple[str, ...] = ()  # "telegram:42"
    contact: str = ""  # who can always be asked, shown by "Ask a person"
    leave_strangers: bool = True  # leave groups that somebody unknown added the bot to
    telegram_token: SecretStr = SecretStr("")
    telegram_api_url: str = Field(default="", repr=False)  # of a Bot API server of your own
    telegram_files: str = ""  # where a Bot API server with --local keeps files
    telegram_webhook_url: str = Field(default="", repr=False)  # empty: polling
    telegram_webhook_secret: SecretStr = SecretStr("")
    slack_bot_token: SecretStr = SecretStr("")
    slack_app_token: SecretStr = SecretStr("")  # Socket Mode
    slack_signing_secret: SecretStr = SecretStr("")  # requests to /slack/events
    slack_api_url: str = Field(default="", repr=False)  # in place of https://slack.com/api/
    weaviate_url: str = Field(default="", repr=False)  # empty: the index is a file in `home`
    weaviate_grpc: str = ""
    weaviate_key: SecretStr = SecretStr("")
    redis_url: str = Field(default="", repr=False)  # empty: inbox and access are files in `home`
    http: str = "127.0.0.1:8080"  # webhooks, /healthz, /readyz, /metrics
    thresholds: Thresholds = Thresholds()
    retrieval: Retrieval = Retrieval()
    limits: LimitSettings = LimitSettings()
    web_search: WebSettings = WebSettings()
    ingest: IngestSettings = IngestSettings()
    expansion: ExpansionSettings = ExpansionSettings()
    desk: DeskSettings = DeskSettings()
    rates: RateSettings = RateSettings()
    slack: SlackSettings = SlackSettings()
    weaviate: WeaviateSettings = WeaviateSettings()
    redis: RedisSettings = RedisSettings()
    sources: tuple[SourceSettings, ...] = ()
    git: GitSettings = GitSettings()
    schedules: ScheduleSettings = ScheduleSettings()
    oncall: OnCallSettings = OnCallSettings()
    sessions: SessionSettings = SessionSettings()
    audit: AuditSettings = AuditSettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    mcp: McpSettings = McpSettings()
    uploads: UploadSettings = UploadSettings()

    @model_validator(mode="before")
    @classmethod
    def without_spaces_around(cls, data: Any) -> Any:
        """A line break after a value, from a file or a secret store, is nobody's intention."""
        return stripped(data)

    @field_validator("log_level", mode="before")
    @classmethod
    def in_capitals(cls, value: Any) -> Any:
        return value.upper() if isinstance(value, str) else value

    @field_validator("home", "cache", mode="before")
    @classmethod
    def not_the_working_directory(cls, value: Any, info: ValidationInfo) -> Any:
        """An empty variable means the default, not the place where the command was typed."""
        field = cls.model_fields[str(info.field_name)]
        return value or field.get_default(call_default_factory=True, validated_data={})

    @field_validator("home", "cache")
    @classmethod
    def without_a_tilde(cls, value: Path | None) -> Path | None:
        return value and with_home(value)

    @field_validator("level")
    @classmethod
    def on_the_ladder(cls, value: str, info: ValidationInfo) -> str:
        if access := info.data.get("access"):
            access.level_named(value)
        return value

    @field_validator("sources")
    @classmethod
    def audiences_on_the_ladder(
        cls, value: tuple[SourceSettings, ...], info: ValidationInfo
    ) -> tuple[SourceSettings, ...]:
        if access := info.data.get("access"):
            for source in value:
                access.level_named(source.audience)
        return value

    @field_validator("mcp")
    @classmethod
    def level_of_agents(cls, value: McpSettings, info: ValidationInfo) -> McpSettings:
        if access := info.data.get("access"):
            access.level_named(value.level)
        return value

    @field_validator("embedder")
    @classmethod
    def known_embedder(cls, value: str) -> str:
        if value in ("builtin", "e5") or (value.startswith("openai:") and len(value) > 7):  # noqa: PLR2004
            return value
        raise ValueError(f"{value!r} is none of: builtin, e5, openai:MODEL")

    @field_validator("admins", mode="before")
    @classmethod
    def one_or_many(cls, value: Any) -> Any:
        return listed(value)

    @field_validator("admins")
    @classmethod
    def people(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(person_key(item) for item in value)

    @field_validator("telegram_token")
    @classmethod
    def a_telegram_token(cls, value: SecretStr) -> SecretStr:
        return SecretStr(telegram_token(value.get_secret_value()))

    @field_validator("telegram_webhook_secret")
    @classmethod
    def a_webhook_secret(cls, value: SecretStr) -> SecretStr:
        return SecretStr(webhook_secret(value.get_secret_value()))

    @field_validator("slack_bot_token")
    @classmethod
    def a_slack_bot_token(cls, value: SecretStr) -> SecretStr:
        return SecretStr(slack_bot_token(value.get_secret_value()))

    @field_validator("slack_app_token")
    @classmethod
    def a_slack_app_token(cls, value: SecretStr) -> SecretStr:
        return SecretStr(slack_app_token(value.get_secret_value()))

    @field_validator("slack_signing_secret")
    @classmethod
    def a_slack_signing_secret(cls, value: SecretStr) -> SecretStr:
        return SecretStr(slack_signing_secret(value.get_secret_value()))

    @field_validator("http")
    @classmethod
    def host_and_port(cls, value: str) -> str:
        listen_address(value)
        return value

    @field_validator("redis_url")
    @classmethod
    def a_redis_address(cls, value: str) -> str:
        return redis_address(value)

    @field_validator("weaviate_grpc")
    @classmethod
    def a_grpc_address(cls, value: str) -> str:
        return grpc_address(value)

    @field_validator(
        "model_url", "telegram_api_url", "telegram_webhook_url", "slack_api_url", "weaviate_url"
    )
    @classmethod
    def an_address(cls, value: str) -> str:
        if value and not is_web_address(value):
            raise ValueError("an address begins with http:// or https:// and names a host")
        return value.rstrip("/")

    @model_validator(mode="after")
    def a_webhook_that_can_work(self) -> Settings:
        url = self.telegram_webhook_url
        if url and not self.telegram_token.get_secret_value():
            raise ValueError("BELAY_TELEGRAM_WEBHOOK_URL is set, BELAY_TELEGRAM_TOKEN is missing")
        if url.startswith("http:") and not self.telegram_api_url:
            raise ValueError("BELAY_TELEGRAM_WEBHOOK_URL: Telegram delivers to https:// only")
        return self

    @model_validator(mode="after")
    def a_way_into_weaviate(self) -> Settings:
        distinct_doors(self.weaviate_url, self.weaviate_grpc)
        tenant_of_weaviate(self.weaviate, self.access.tenant)
        return self

    @model_validator(mode="after")
    def a_way_into_slack(self) -> Settings:
        app, secret = self.slack_app_token, self.slack_signing_secret
        way_in = app.get_secret_value() or secret.get_secret_value()
        if self.slack_bot_token.get_secret_value() and not way_in:
            raise ValueError(
                "BELAY_SLACK_BOT_TOKEN is set; BELAY_SLACK_APP_TOKEN (Socket Mode) or "
                "BELAY_SLACK_SIGNING_SECRET (HTTP) is missing"
            )
        if way_in and not self.slack_bot_token.get_secret_value():
            name = "APP_TOKEN" if app.get_secret_value() else "SIGNING_SECRET"
            raise ValueError(f"BELAY_SLACK_{name} is set, BELAY_SLACK_BOT_TOKEN is missing")
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, Environment(settings_cls), _file_source(settings_cls)

    def policy(self) -> Policy:
        t, r = self.thresholds, self.retrieval
        return Policy(
            **t.model_dump(), **r.model_dump(), web=self.web, web_results=self.web_search.results
        )

    def http_address(self) -> tuple[str, int]:
        return listen_address(self.http)

    def limit_values(self) -> Limits:
        return Limits(**self.limits.model_dump())


def load(**overrides: Any) -> Settings:
    """The settings of this process. Raises SettingsError naming the key and what it should be."""
    try:
        settings = Settings(**overrides)
    except ValidationError as error:
        raise SettingsError(
            explained(error, PREFIX), remedy="docs/settings.md lists them all"
        ) from None
    update: dict[str, Any] = {
        "oncall": settings.oncall.resolved(os.environ),
        "telemetry": settings.telemetry.resolved(os.environ),
        "sources": tuple(item.resolved(os.environ) for item in settings.sources),
    }
    if not settings.model_key.get_secret_value():
        update["model_key"] = SecretStr(unquoted(os.environ.get("OPENAI_API_KEY", "")))
    return settings.model_copy(update=update)


def unknown_variables() -> list[str]:
    """BELAY_ variables that no setting has: most likely misspelt."""
    known = {PREFIX + name.upper() for name in (*Settings.model_fields, "config")}
    return sorted(
        name for name in os.environ if name.startswith(PREFIX) and name.split("__")[0] not in known
    )


def config_path() -> Path | None:
    """The TOML file in use. Raises SettingsError when BELAY_CONFIG names a missing file."""
    named = unquoted(os.environ.get(PREFIX + "CONFIG", ""))
    path = Path(named or "belay.toml")
    with suppress(RuntimeError):
        path = path.expanduser()
    if path.is_file():
        return path
    if named:
        raise SettingsError(f"BELAY_CONFIG: there is no file {named!r}")
    return None


def _file_source(settings_cls: type[BaseSettings]) -> PydanticBaseSettingsSource:
    path = config_path()
    return InitSettingsSource(
        settings_cls, init_kwargs=read_toml(path, Settings.model_fields) if path else {}
    )
