"""Where traces go: Belay's own settings, and OpenTelemetry's variables where these are empty."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from pydantic import ValidationError

from bot.cli.running import secrets
from bot.errors import SettingsError
from bot.settings import Settings, load
from bot.telemetry_settings import TelemetrySettings

BASE, WHOLE = "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"


@pytest.mark.parametrize(
    ("own", "environment", "address"),
    [
        ("", {}, ""),
        ("http://c:4318", {}, "http://c:4318/v1/traces"),
        ("http://c:4318/", {BASE: "http://d"}, "http://c:4318/v1/traces"),
        ("", {BASE: "https://c/otlp"}, "https://c/otlp/v1/traces"),
        ("", {BASE: "http://c", WHOLE: "http://d/custom"}, "http://d/custom"),
        ("http://c/v1/traces", {}, "http://c/v1/traces"),
        ("http://c", {"OTEL_SDK_DISABLED": "true"}, ""),
    ],
    ids=["none", "own", "own wins", "base with a path", "traces alone", "whole", "disabled"],
)
def test_the_address(own: str, environment: Mapping[str, str], address: str) -> None:
    assert TelemetrySettings(endpoint=own).resolved(environment).endpoint == address


@pytest.mark.parametrize("name", [BASE, WHOLE])
def test_a_wrong_address_is_named(name: str) -> None:
    with pytest.raises(SettingsError, match=name):
        TelemetrySettings().resolved({name: "collector:4317"})
    with pytest.raises(ValidationError, match="http://"):
        TelemetrySettings(endpoint="collector:4317")


def test_names_and_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a header holds is masked in logs."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer hush")
    settings = load()
    assert settings.telemetry.service == "belay"
    assert "authorization=Bearer hush" in secrets(settings)
    assert "hush" not in repr(settings)
    named = TelemetrySettings(service="mine").resolved({"OTEL_SERVICE_NAME": "theirs"})
    assert named.service == "mine"


def test_logs_are_text_or_json_or_what_fits() -> None:
    assert Settings().log_format == ""
    with pytest.raises(ValidationError, match="log_format"):
        Settings.model_validate({"log_format": "xml"})
