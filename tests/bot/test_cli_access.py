"""Letting people in from the command line, and what `belay run` says of tokens, as it is typed."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from adapters.sqlite.roll import SqliteRoll
from bot.access import Code
from bot.roll import ROLL_FILE

ROOT = Path(__file__).parents[2]
BELAY = Path(sys.executable).with_name("belay")
CODE = "ABCDEFGH"
SLACK_TOKEN = "xoxb-1234567890-abcdefghijkl"


def belay(home: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    env = {"BELAY_HOME": str(home), "BELAY_WEB": "off", "PYTHONPATH": str(ROOT)}
    env |= {f"BELAY_{name}": value for name, value in variables.items()}
    return subprocess.run(
        [str(BELAY), *words],
        check=False,
        cwd=home.parent,
        env={**os.environ, **env},
        input="",
        text=True,
        capture_output=True,
        timeout=60,
    )


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def asked(home: Path, key: str, *, age: timedelta = timedelta()) -> None:
    """Somebody wrote to the bot and was given the code."""
    home.mkdir(exist_ok=True)
    expires = datetime.now(UTC) + timedelta(hours=1) - age
    asyncio.run(SqliteRoll(home / ROLL_FILE).save_code(Code(CODE, key, expires)))


def listed(home: Path, **variables: str) -> list[dict[str, Any]]:
    shown = belay(home, "access", "--json", **variables)
    assert shown.returncode == 0, shown.stderr
    found: list[dict[str, Any]] = json.loads(shown.stdout)
    return found


def test_a_code_lets_in_who_was_given_it(home: Path) -> None:
    asked(home, "telegram:42")
    done = belay(home, "allow", "abcd-efgh")
    assert done.returncode == 0, done.stderr
    assert "telegram:42" in done.stdout
    (row,) = listed(home)
    assert (row["key"], row["level"], row["admin"], row["by"]) == (
        "telegram:42", "staff", False, "cli",
    )  # fmt: skip
    assert belay(home, "allow", CODE).returncode == 1  # codes work once


def test_a_code_that_has_expired_lets_nobody_in(home: Path) -> None:
    asked(home, "telegram:42", age=timedelta(hours=2))
    done = belay(home, "allow", CODE)
    assert done.returncode == 1
    assert "expired" in done.stderr
    assert listed(home) == []


@pytest.mark.parametrize(
    ("words", "key", "level", "admin"),
    [
        (("telegram:42",), "telegram:42", "staff", False),
        (("telegram:42", "--level", "director"), "telegram:42", "director", False),
        (("telegram:42", "--admin"), "telegram:42", "administrator", True),
        (("telegram:-100:chat",), "telegram:-100:chat", "staff", False),
        (("--", "telegram:-100"), "telegram:-100:chat", "staff", False),
        (("slack:U012AB3CD",), "slack:U012AB3CD", "staff", False),
    ],
)
def test_a_key_lets_in_a_person_or_a_group(
    home: Path, words: tuple[str, ...], key: str, level: str, admin: bool
) -> None:
    assert belay(home, "allow", *words).returncode == 0
    (row,) = listed(home)
    assert (row["key"], row["level"], row["admin"]) == (key, level, admin)


@pytest.mark.parametrize(
    "words",
    [("telegram:@ann",), ("telegram:",), ("irc:ann",), ("telegram:42", "--level", "king")],
)
def test_what_names_nobody_is_refused_with_a_reason(home: Path, words: tuple[str, ...]) -> None:
    done = belay(home, "allow", *words)
    assert done.returncode == 2
    assert "Error: Invalid value" in done.stderr
    assert words[-1] in done.stderr
    assert "does not expect" not in done.stderr
    assert listed(home) == []


def test_access_can_be_taken_away(home: Path) -> None:
    belay(home, "allow", "telegram:42")
    assert belay(home, "revoke", "telegram:42").returncode == 0
    assert listed(home) == []
    again = belay(home, "revoke", "telegram:42")
    assert again.returncode == 1
    assert "telegram:42" in again.stderr


def test_admins_of_the_settings_are_listed_and_cannot_be_revoked_here(home: Path) -> None:
    admins = "telegram:42, slack:U1"
    assert {row["key"] for row in listed(home, ADMINS=admins)} == {"telegram:42", "slack:U1"}
    done = belay(home, "revoke", "telegram:42", ADMINS=admins)
    assert done.returncode == 1
    assert "BELAY_ADMINS" in done.stderr


def test_without_an_admin_it_is_said_how_to_become_one(home: Path) -> None:
    first = belay(home, "access")
    assert "/pair " in first.stderr
    assert "/pair" not in belay(home, "access", ADMINS="telegram:42").stderr


@pytest.mark.parametrize("command", ["run", "doctor"])
def test_op_05_a_wrong_token_is_named_and_never_shown(home: Path, command: str) -> None:
    done = belay(home, command, TELEGRAM_TOKEN=SLACK_TOKEN)
    assert done.returncode == 2
    assert "BELAY_TELEGRAM_TOKEN" in done.stderr
    assert "Slack bot token" in done.stderr
    assert SLACK_TOKEN not in done.stderr + done.stdout


def test_op_05_a_webhook_without_a_token_is_no_silent_terminal(home: Path) -> None:
    done = belay(home, "run", TELEGRAM_WEBHOOK_URL="https://bot.example.org/telegram/webhook")
    assert done.returncode == 2
    assert "BELAY_TELEGRAM_TOKEN is missing" in done.stderr


def test_op_05_without_any_token_the_terminal_answers(home: Path) -> None:
    """An empty variable is no token."""
    done = belay(home, "run", TELEGRAM_TOKEN=" ")
    assert done.returncode == 0, done.stderr
    assert "answering on" not in done.stderr
