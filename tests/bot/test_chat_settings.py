"""Settings of the messengers: what is understood, and what is said about the rest."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bot.cli.running import secrets
from bot.desk_options import DeskOptions
from bot.errors import SettingsError
from bot.limits import Rates
from bot.platforms import configured
from bot.settings import load

TOKEN = "123456789:AAexample-token-of-no-real-bot-at-all"
SECRET = "a-secret-of-the-webhook"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working directory without a belay.toml."""
    monkeypatch.chdir(tmp_path)


def set_(**variables: str) -> None:
    os.environ.update({f"BELAY_{name}": value for name, value in variables.items()})


def refused() -> str:
    with pytest.raises(SettingsError) as caught:
        load()
    assert caught.value.exit_code == 2
    return str(caught.value)


def test_defaults_are_those_of_the_desk_and_the_limiter() -> None:
    settings = load()
    assert settings.desk.options() == DeskOptions()
    assert settings.rates.rates() == Rates()
    assert settings.admins == ()
    assert settings.leave_strangers
    assert settings.http_address() == ("127.0.0.1", 8080)


def test_desk_and_rates_can_be_set() -> None:
    Path("belay.toml").write_text("[desk]\nworkers = 2\nlate_after = 60\n")
    set_(RATES__PERSON_BURST="3", DESK__GRACE="1.5")
    settings = load()
    assert settings.desk.options() == DeskOptions(workers=2, late_after=60)
    assert settings.desk.grace == 1.5
    assert settings.rates.rates().person.burst == 3


@pytest.mark.parametrize(
    "value", [TOKEN, f"{TOKEN}\n", f"  {TOKEN}\r\n", f"\t{TOKEN}", f"'{TOKEN}'"]
)
def test_op_05_blanks_and_quotes_around_a_token_do_not_count(value: str) -> None:
    set_(TELEGRAM_TOKEN=value)
    assert load().telegram_token.get_secret_value() == TOKEN


@pytest.mark.parametrize(
    ("value", "named"),
    [
        ("xoxb-1234567890-abcdefghijkl", "Slack bot token"),
        ("xapp-1-A1234567-abcdefghijkl", "Slack app token"),
        ("xoxp-1234567890-abcdefghijkl", "Slack token"),
        ("sk-abcdefghijklmnopqrstuvwxyz", "model provider"),
        ("https://t.me/our_bot?start=abcdefgh", "address"),
        (TOKEN.replace(":", " "), "no Telegram token"),
        (f"bot{TOKEN}", "no Telegram token"),
        (f"'{TOKEN}", "no Telegram token"),
        (TOKEN[:14], "no Telegram token"),
        (f"{TOKEN} {TOKEN}", "no Telegram token"),
    ],
)
def test_op_05_a_wrong_token_is_named_and_never_shown(value: str, named: str) -> None:
    set_(TELEGRAM_TOKEN=value)
    message = refused()
    assert "BELAY_TELEGRAM_TOKEN" in message
    assert named in message
    assert value not in message


def test_secrets_are_known_to_the_logs() -> None:
    set_(
        TELEGRAM_TOKEN=TOKEN,
        TELEGRAM_WEBHOOK_SECRET=SECRET,
        TELEGRAM_API_URL="https://me:hunter22@bots.example.org",
    )
    settings = load()
    assert {TOKEN, SECRET, "hunter22"} <= set(secrets(settings))
    shown = repr(settings)
    assert not [secret for secret in (TOKEN, SECRET, "hunter22") if secret in shown]


@pytest.mark.parametrize(
    ("value", "admins"),
    [
        ("telegram:42, slack:U1", ("telegram:42", "slack:U1")),
        ("telegram:42", ("telegram:42",)),
        ('["telegram:42"]', ("telegram:42",)),
        ("telegram:42,\n", ("telegram:42",)),
        ("", ()),
    ],
)
def test_admins_are_written_with_commas(value: str, admins: tuple[str, ...]) -> None:
    set_(ADMINS=value)
    assert load().admins == admins


@pytest.mark.parametrize(
    "value", ["42", "telegram:@ann", "telegram:-100", "irc:7", "telegram:42, ann", "slack:ann"]
)
def test_op_05_admins_that_are_nobody_are_named(value: str) -> None:
    set_(ADMINS=value)
    assert "BELAY_ADMINS" in refused()


@pytest.mark.parametrize(
    ("value", "address"),
    [
        (":9000", ("127.0.0.1", 9000)),
        ("0.0.0.0:8080", ("0.0.0.0", 8080)),
        ("[::1]:8080", ("::1", 8080)),
        ("bot.internal:80", ("bot.internal", 80)),
    ],
)
def test_addresses_to_listen_on(value: str, address: tuple[str, int]) -> None:
    set_(HTTP=value)
    assert load().http_address() == address


@pytest.mark.parametrize("value", ["8080x", "host:", "host:-1", "host:70000", "a:b:80"])
def test_an_address_that_nobody_can_listen_on_is_named(value: str) -> None:
    set_(HTTP=value)
    assert "BELAY_HTTP" in refused()


@pytest.mark.parametrize(
    ("variables", "named"),
    [
        ({"TELEGRAM_WEBHOOK_URL": "https://bot.example.org/x"}, "BELAY_TELEGRAM_TOKEN is missing"),
        (
            {"TELEGRAM_WEBHOOK_URL": "http://bot.example.org/x", "TELEGRAM_TOKEN": TOKEN},
            "https://",
        ),
        ({"TELEGRAM_WEBHOOK_URL": "bot.example.org"}, "BELAY_TELEGRAM_WEBHOOK_URL"),
        ({"TELEGRAM_WEBHOOK_SECRET": "a secret"}, "BELAY_TELEGRAM_WEBHOOK_SECRET"),
        ({"TELEGRAM_WEBHOOK_SECRET": "short"}, "BELAY_TELEGRAM_WEBHOOK_SECRET"),
    ],
)
def test_op_05_a_webhook_that_cannot_work_is_refused(variables: dict[str, str], named: str) -> None:
    set_(**variables)
    message = refused()
    assert named in message
    assert not message.startswith("BELAY_ ")


BOT, APP, SIGNING = "xoxb-1234567890-abcdefghijkl", "xapp-1-A0BELAY-1234567890", "0f" * 16


@pytest.mark.parametrize(
    ("name", "value", "named"),
    [
        ("BOT_TOKEN", APP, "a Slack app token"),
        ("BOT_TOKEN", "xoxp-1234567890-abcdefghijkl", "a Slack token of a person"),
        ("BOT_TOKEN", TOKEN, "a Telegram token"),
        ("BOT_TOKEN", "xoxb-short", "begins with xoxb-"),
        ("BOT_TOKEN", "xoxb-1234567890-abc def ghi", "begins with xoxb-"),
        ("APP_TOKEN", BOT, "a Slack bot token"),
        ("APP_TOKEN", SIGNING, "begins with xapp-"),
        ("SIGNING_SECRET", BOT, "a Slack bot token"),
        ("SIGNING_SECRET", "not a secret", "32 digits and letters"),
        ("API_URL", "slack.com/api", "begins with http"),
    ],
)
def test_op_05_a_slack_value_in_the_wrong_place_is_named_and_never_shown(
    name: str, value: str, named: str
) -> None:
    given = {"BOT_TOKEN": BOT, "APP_TOKEN": APP, name: value}
    set_(**{f"SLACK_{key}": item for key, item in given.items()})
    message = refused()
    assert f"BELAY_SLACK_{name}" in message
    assert named in message
    assert name == "API_URL" or value not in message


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"SLACK_BOT_TOKEN": BOT}, "BELAY_SLACK_APP_TOKEN (Socket Mode)"),
        ({"SLACK_APP_TOKEN": APP}, "BELAY_SLACK_BOT_TOKEN is missing"),
        ({"SLACK_SIGNING_SECRET": SIGNING}, "BELAY_SLACK_BOT_TOKEN is missing"),
    ],
)
def test_op_05_half_a_slack_app_is_refused(given: dict[str, str], named: str) -> None:
    set_(**given)
    assert named in refused()


def test_op_05_one_platform_may_run_alone_or_both() -> None:
    set_(SLACK_BOT_TOKEN=f" {BOT}\n", SLACK_SIGNING_SECRET=SIGNING)
    assert configured(load()) == ("slack",)
    set_(TELEGRAM_TOKEN=TOKEN)
    assert configured(load()) == ("telegram", "slack")
    assert {BOT, SIGNING} <= set(secrets(load()))


@pytest.mark.parametrize(("value", "command"), [("kb", "/kb"), ("/belay-dev", "/belay-dev")])
def test_the_slash_command_has_a_name_of_ones_own(value: str, command: str) -> None:
    set_(SLACK__COMMAND=value)
    assert load().slack.command == command
    set_(SLACK__COMMAND="/two words")
    assert "no slash command" in refused()
