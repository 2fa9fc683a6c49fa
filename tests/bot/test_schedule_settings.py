"""`schedule` and `jitter` of a source, and `[schedules]`: what is read, and what is refused."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest

from bot.errors import SettingsError
from bot.library import listed_shelves
from bot.schedule_settings import duration
from bot.settings import Settings, load
from bot.sync_schedule import SyncSchedule
from graph.model import SourceType

URL = "https://git.example.org/ops/runbooks.git"


def read(tmp_path: Path, text: str) -> Settings:
    (tmp_path / "belay.toml").write_text(text, encoding="utf-8")
    os.environ["BELAY_CONFIG"] = str(tmp_path / "belay.toml")
    return load()


def schedules(settings: Settings) -> dict[str, SyncSchedule | None]:
    return {shelf.name: shelf.schedule for shelf in listed_shelves(settings)}


def test_sources_with_and_without_a_schedule(tmp_path: Path) -> None:
    found = schedules(
        read(
            tmp_path,
            f"""
            [schedules]
            zone = "Europe/Berlin"
            jitter = "90s"
            vault = "12h"
            [[sources]]
            path = "/srv/handbook"
            schedule = "30 6 * * MON-FRI"
            jitter = "2m30s"
            [[sources]]
            url = "{URL}"
            schedule = "@hourly"
            [[sources]]
            kind = "vault"
            name = "vault"
            url = "{URL}"
            [[sources]]
            name = "by hand"
            url = "{URL}"
            """,
        )
    )
    zone, jitter = "Europe/Berlin", timedelta(seconds=90)
    assert found == {
        "handbook": SyncSchedule("30 6 * * MON-FRI", zone=zone, jitter=timedelta(seconds=150)),
        "runbooks": SyncSchedule("0 * * * *", zone=zone, jitter=jitter),
        "vault": SyncSchedule(every=timedelta(hours=12), jitter=jitter),
        "by hand": None,
    }


def test_a_vault_is_due_every_24_hours_and_a_repository_of_its_address_never() -> None:
    """What makes a vault is its kind, not where it lies."""
    sources = [{"url": URL, "kind": "vault"}, {"url": URL, "name": "copy"}]
    first, second = listed_shelves(Settings.model_validate({"sources": sources}))
    assert (first.kind, second.kind) == (SourceType.VAULT, SourceType.REPO)
    assert first.schedule == SyncSchedule(every=timedelta(hours=24), jitter=timedelta(minutes=1))
    assert second.schedule is None
    assert first.path != second.path


def test_a_vault_may_have_a_cron_expression() -> None:
    sources = [{"url": URL, "kind": "vault", "schedule": "0 3 * * *", "jitter": 0}]
    (shelf,) = listed_shelves(Settings.model_validate({"sources": sources}))
    assert shelf.schedule == SyncSchedule("0 3 * * *")


@pytest.mark.parametrize(
    "expression", ["* * * *", "61 * * * *", "0 0 30 2 *", "nightly", "@reboot"]
)
def test_a_bad_expression_is_refused_with_source_input_and_remedy(
    tmp_path: Path, expression: str
) -> None:
    with pytest.raises(SettingsError) as refused:
        read(tmp_path, f'[[sources]]\nurl = "{URL}"\nschedule = "{expression}"\n')
    message = str(refused.value)
    assert "sources.0" in message
    assert "source 'runbooks'" in message
    assert repr(expression) in message
    assert "*/15 * * * *" in message


WRONG = {
    '[schedules]\nzone = "Berlin"': ("schedules.zone", "'Berlin'", "Europe/Berlin"),
    '[schedules]\nvault = "daily"': ("schedules.vault", "'daily'", "90s, 5m, 2h"),
    "[schedules]\nvault = 0": ("schedules.vault", "greater than"),
    '[schedules]\nretry = "-5m"': ("schedules.retry", "'-5m'"),
    '[schedules]\nlook = "2 years"': ("schedules.look", "'2 years'"),
    '[schedules]\nlongest = "9000h"': ("schedules.longest", "longer than a year"),
    "[schedules]\nlease = true": ("schedules.lease", "True"),
    '[schedules]\nevery = "5m"': ("schedules.every", "no such setting"),
    '[[sources]]\npath = "docs"\njitter = "soon"': ("sources.0.jitter", "'soon'"),
    '[[sources]]\npath = "docs"\njitter = -5': ("sources.0.jitter", "-5"),
}


@pytest.mark.parametrize("text", WRONG)
def test_wrong_settings_are_named(tmp_path: Path, text: str) -> None:
    with pytest.raises(SettingsError) as refused:
        read(tmp_path, text)
    missing = [words for words in WRONG[text] if words not in str(refused.value)]
    assert not missing, str(refused.value)


def test_the_environment_counts(tmp_path: Path) -> None:
    os.environ["BELAY_SCHEDULES__VAULT"] = "36h"
    os.environ["BELAY_SCHEDULES__RETRY"] = "10"
    settings = read(tmp_path, "")
    assert settings.schedules.vault == timedelta(hours=36)
    assert settings.schedules.pacing().retry == timedelta(seconds=10)


def test_the_longest_pause_is_never_shorter_than_the_first() -> None:
    """And however often a sync has failed."""
    settings = Settings.model_validate({"schedules": {"retry": "2h", "retry_most": "1h"}})
    pacing = settings.schedules.pacing()
    assert pacing.pause(1) == pacing.pause(100_000) == timedelta(hours=2)


DURATIONS = {
    "90s": 90,
    "5m": 300,
    "5 min": 300,
    "1h30m": 5400,
    "1.5h": 5400,
    "2D": 172_800,
    "1w": 604_800,
    "45": 45,
    "0": 0,
}


@pytest.mark.parametrize("text", DURATIONS)
def test_durations(text: str) -> None:
    assert duration(text).total_seconds() == DURATIONS[text]


@pytest.mark.parametrize("text", ["", " ", "s", "5x", "5m!", "-5m", "1e9", "inf", "٥m", "m5"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="no duration"):
        duration(text)
