"""The `[telemetry]` section of belay.toml: what those who run the bot may look at."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field, SecretStr, field_validator

from bot.chat_settings import Section, is_web_address
from bot.errors import SettingsError
from bot.readiness import Pace

_PACE = Pace()
_TRACES = "/v1/traces"  # https://opentelemetry.io/docs/specs/otel/protocol/exporter/


class TelemetrySettings(Section):
    """`endpoint`, `headers` and `service` are what OTEL_EXPORTER_OTLP_ENDPOINT,
    OTEL_EXPORTER_OTLP_HEADERS and OTEL_SERVICE_NAME are, which count where these are empty."""

    metrics: bool = True  # at /metrics
    endpoint: str = Field(default="", repr=False)  # of an OTLP/HTTP collector; empty: no traces
    headers: SecretStr = SecretStr("")  # name=value,name=value
    service: str = ""
    content: bool = False  # whether traces hold questions and answers
    timeout: float = Field(default=10.0, gt=0)  # seconds for one export
    check_timeout: float = Field(default=_PACE.timeout, gt=0)
    check_every: float = Field(default=_PACE.every, gt=0)

    @field_validator("endpoint")
    @classmethod
    def an_address(cls, value: str) -> str:
        if value and not is_web_address(value):
            raise ValueError("an address begins with http:// or https:// and names a host")
        return value

    def resolved(self, environment: Mapping[str, str]) -> TelemetrySettings:
        """With OpenTelemetry's own variables, and the whole address in `endpoint`. Raises
        SettingsError."""
        told = {name: value.strip() for name, value in environment.items()}
        base = self.endpoint or told.get("OTEL_EXPORTER_OTLP_ENDPOINT", "")
        whole = "" if self.endpoint else told.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "")
        address = whole or _with_path(base)
        if told.get("OTEL_SDK_DISABLED", "").lower() == "true":
            address = ""
        if address and not is_web_address(address):
            name = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" if whole else "OTEL_EXPORTER_OTLP_ENDPOINT"
            raise SettingsError(
                f"{name}: an address begins with http:// or https:// and names a host",
                "Belay speaks OTLP over HTTP, as in http://127.0.0.1:4318.",
            )
        headers = self.headers.get_secret_value() or told.get("OTEL_EXPORTER_OTLP_HEADERS", "")
        return self.model_copy(
            update={
                "endpoint": address,
                "headers": SecretStr(headers),
                "service": self.service or told.get("OTEL_SERVICE_NAME", "") or "belay",
            }
        )

    def pace(self) -> Pace:
        return Pace(self.check_timeout, self.check_every)


def _with_path(base: str) -> str:
    base = base.rstrip("/")
    return base if not base or base.endswith(_TRACES) else base + _TRACES
