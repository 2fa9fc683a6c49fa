"""The [oncall] section: what is understood, and what is said about the rest."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bot.chat import Person, Place
from bot.cli.running import secrets
from bot.errors import SettingsError
from bot.oncall import make_watch
from bot.settings import Settings, load

SECRET = "https://schedules.example.com/private/8f2e-very-secret/rota.ics"
FULL = f"""
[oncall]
zone = "Europe/Berlin"

[[oncall.schedules]]
name = "payments"
url = "{SECRET}"
aliases = "платежи, checkout"
services = ["billing-api"]
channels = ["slack:C012AB3CD", "telegram:-100123456789"]
zone = "Europe/Moscow"

[[oncall.schedules]]
name = "search"
file = "search.ics"
channels = "slack:C012AB3CD"

[[oncall.people]]
name = "Ann Lee"
emails = "Ann@Example.com"
slack = "slack:U012AB3CD"
telegram = 42
zone = "Asia/Tokyo"
"""


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def loaded(toml: str) -> Settings:
    Path("belay.toml").write_text(toml, encoding="utf-8")
    return load()


def refused(toml: str) -> str:
    with pytest.raises(SettingsError) as caught:
        loaded(toml)
    assert "very-secret" not in f"{caught.value} {caught.value.remedy}"
    return str(caught.value)


def schedule(*lines: str, name: str = "payments") -> str:
    return "\n".join(["[[oncall.schedules]]", f'name = "{name}"', *lines, ""])


def person(*lines: str, name: str = "Ann") -> str:
    return "\n".join(["[[oncall.people]]", f'name = "{name}"', *lines, ""])


def test_everything_is_understood(tmp_path: Path) -> None:
    watch = make_watch(loaded(FULL).oncall, tmp_path)
    assert watch is not None
    payments, search = watch.roster.schedules()
    assert (payments.zone, search.zone) == ("Europe/Moscow", "Europe/Berlin")
    for name in ("payments", "Платежи", "checkout", "billing-api"):
        assert watch.named(name) == payments
    assert watch.of_place(Place("slack", "C012AB3CD", "channel")) == (payments, search)
    assert watch.of_place(Place("telegram", "-100123456789", "group")) == (payments,)
    ann = watch.people[0]
    assert ann.on("telegram") == Person("telegram", "42", "Ann Lee")
    assert ann.on("slack") == Person("slack", "U012AB3CD", "Ann Lee")
    assert str(watch.zone_of(Person("telegram", "42"), Place("telegram", "42"))) == "Asia/Tokyo"
    assert str(watch.zone_of(Person("telegram", "7"), Place("telegram", "7"))) == "Europe/Berlin"


def test_without_schedules_there_is_no_watch(tmp_path: Path) -> None:
    assert make_watch(load().oncall, tmp_path) is None


def test_the_address_may_stand_in_a_variable_of_its_own() -> None:
    os.environ["PAYMENTS_ICAL"] = SECRET.replace("https", "webcal") + "\n"
    (feed,) = loaded(schedule('url_env = "PAYMENTS_ICAL"')).oncall.feeds()
    assert feed.url == SECRET


def test_addresses_are_secrets() -> None:
    settings = loaded(FULL)
    assert SECRET in secrets(settings)
    assert "very-secret" not in repr(settings) + repr(settings.oncall.feeds())


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        (schedule(), "'payments' needs one of: url, url_env, file"),
        (schedule(f'url = "{SECRET}"', 'file = "x.ics"'), "needs one of"),
        (
            schedule('url_env = "NOT_SET_ANYWHERE"'),
            "NOT_SET_ANYWHERE cannot be used: it is not set",
        ),
        (schedule('url_env = "BELAY_PAYMENTS"'), "without BELAY_"),
        (schedule('url = "http://schedules.example.com/very-secret"'), "write https://"),
        (schedule('url = "very-secret/rota.ics"'), "begins with https:// and names a host"),
        (schedule('url = "https://[very-secret/"'), "names a host"),
        (schedule('file = "x.ics"', 'zone = "Berlin"'), "'Berlin' is no time zone"),
        ('[oncall]\nzone = "../../etc/passwd"', "is no time zone"),
        (schedule('file = "x.ics"', 'channels = ["#payments"]'), "does not say where"),
        (schedule('file = "x.ics"', 'channels = ["slack:payments"]'), "a channel id"),
        (schedule('file = "x.ics"', 'channels = ["telegram:@ops"]'), "a chat's number"),
        (schedule('file = "x.ics"', 'chanels = ["slack:C1"]'), "there is no such setting"),
        (schedule('file = "a"') + schedule('file = "b"', name="Payments"), "stands in two entries"),
        (
            schedule('file = "a"', 'aliases = "x"') + schedule('file = "b"', name="X"),
            "stands in two entries",
        ),
        (person('slack = "@ann"'), "a member id"),
        (person('telegram = "@ann"'), "a number"),
        (person('telegram = "slack:U012AB3CD"'), "no id on telegram"),
        (person('emails = "ann"'), "'ann' is no mail address"),
        (person("telegram = 42") + person("telegram = 42", name="Boris"), "two entries"),
        ("[oncall]\nrefresh = 1", "oncall.refresh"),
    ],
)
def test_a_mistake_is_named(toml: str, words: str) -> None:
    assert words in refused(toml)
