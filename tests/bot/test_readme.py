"""The documentation names every setting and every command, and none that does not exist."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
import typer.main
from pydantic import BaseModel

from bot.cli.commands import app
from bot.settings import PREFIX, Settings
from bot.source_settings import SourceSettings
from graph.model import LEVELS, Outcome

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SETTINGS = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
PAGES = {"README.md": README} | {
    path.name: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("*.md"))
}
EVERYTHING = "\n".join(PAGES.values())
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)")
DEFAULTS = Settings.model_construct()


def fields(model: type[BaseModel]) -> Iterator[tuple[str, Any]]:
    """Dotted names and defaults, section by section."""
    for name, field in model.model_fields.items():
        inner = field.annotation
        if name == "sources" and model is Settings:
            inner = SourceSettings
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from ((f"{name}.{own}", default) for own, default in fields(inner))
        else:
            yield name, field.default


@pytest.mark.parametrize("name", [name for name, _ in fields(Settings)])
def test_every_setting_is_explained(name: str) -> None:
    section, dot, own = name.rpartition(".")
    wanted = f"`{own}`" if dot else f"`{PREFIX}{name.upper()}`"
    assert wanted in SETTINGS
    assert not section or f"`{section}`" in SETTINGS


@pytest.mark.parametrize(
    ("name", "default"),
    [(name, value) for name, value in fields(Settings) if type(value) in (int, float)],
)
def test_numbers_are_the_defaults(name: str, default: float) -> None:
    """In the row that explains the setting; thresholds stand where decisions are explained."""
    own = name.rpartition(".")[2]
    rows = [line for line in EVERYTHING.splitlines() if line.startswith("|") and f"`{own}`" in line]
    numbers = {float(number) for row in rows for number in re.findall(r"\d+(?:\.\d+)?", row)}
    assert default in numbers


def test_every_variable_that_is_named_exists() -> None:
    known = {PREFIX + name.upper() for name in (*Settings.model_fields, "config")}
    named = set(re.findall(r"BELAY_[A-Z_]+", EVERYTHING))
    assert {name.partition("__")[0] for name in named} <= known


def test_settings_files_that_are_shown_are_settings_files() -> None:
    shown = re.findall(r"```toml\n(.*?)```", EVERYTHING, re.DOTALL)
    files = [Settings.model_validate(tomllib.loads(text)) for text in shown]
    assert {file.sources[0].name for file in files if file.sources} >= {"runbooks"}


def test_commands_that_are_shown_exist() -> None:
    known = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    shown = set(re.findall(r"^(?:BELAY_\S+ )?belay (\w+)", EVERYTHING, re.MULTILINE))
    assert shown
    assert shown <= set(known)


def test_outcomes_and_levels_are_those_of_the_code() -> None:
    outcomes = re.findall(r"^\| `(\w+)` \|", README.partition("| Outcome |")[2], re.MULTILINE)
    assert outcomes[: len(Outcome)] == [outcome.value for outcome in Outcome]
    assert all(f"`{level}`" in EVERYTHING for level in LEVELS)


def test_choices_are_named() -> None:
    levels = Settings.model_fields["log_level"].annotation
    assert all(f"`{level}`" in SETTINGS for level in get_args(levels))


def anchors(page: str) -> set[str]:
    """The names that a code host gives to the headings of a page."""
    headings = re.findall(
        r"^#+ (.+)$", re.sub(r"```.*?```", "", page, flags=re.DOTALL), re.MULTILINE
    )
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings}


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_to_pages_and_headings_that_exist(name: str) -> None:
    folder = ROOT if name == "README.md" else ROOT / "docs"
    for path, anchor in LINK.findall(re.sub(r"```.*?```", "", PAGES[name], flags=re.DOTALL)):
        target = (folder / path).resolve() if path else folder / name
        assert target.exists(), f"{name}: {path}"
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target.read_text(encoding="utf-8")), f"{name}: #{anchor}"
