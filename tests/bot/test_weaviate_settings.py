"""Settings of the Weaviate server: what is understood, and what is said about the rest."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from adapters.weaviate.options import Layout, Waits
from bot.cli.running import secrets
from bot.errors import SettingsError
from bot.settings import load


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working directory without a belay.toml."""
    monkeypatch.chdir(tmp_path)


def set_(**variables: str) -> None:
    os.environ.update({f"BELAY_WEAVIATE_{name}": value for name, value in variables.items()})


def test_without_an_address_the_index_is_a_file() -> None:
    assert load().weaviate_url == ""


def test_defaults_are_those_of_the_adapter() -> None:
    chosen, layout, waits = load().weaviate, Layout(), Waits()
    assert (chosen.prefix, chosen.replicas, chosen.shards, chosen.consistency) == (
        layout.prefix,
        layout.replicas,
        layout.shards,
        layout.consistency,
    )
    assert (chosen.start_timeout, chosen.query_timeout, chosen.write_timeout) == (
        waits.start,
        waits.query,
        waits.write,
    )


def test_the_section_is_read_from_the_environment() -> None:
    set_(URL="https://db.example/", GRPC="grpc.db.example:443", KEY="s3cret")
    set_(_PREFIX="TeamA", _REPLICAS="3", _SHARDS="2", _CONSISTENCY="all")
    settings = load()
    assert settings.weaviate_url == "https://db.example"
    assert settings.weaviate.model_dump(
        include={"prefix", "replicas", "shards", "consistency"}
    ) == {
        "prefix": "TeamA",
        "replicas": 3,
        "shards": 2,
        "consistency": "all",
    }
    assert "s3cret" in secrets(settings)
    assert "s3cret" not in repr(settings)


@pytest.mark.parametrize(
    ("name", "value", "named"),
    [
        ("URL", "weaviate:8080", "WEAVIATE_URL"),
        ("GRPC", "weaviate", "WEAVIATE_GRPC"),
        ("GRPC", "http://weaviate:50051", "WEAVIATE_GRPC"),
        ("GRPC", "weaviate:0", "WEAVIATE_GRPC"),
        ("GRPC", "weaviate:70000", "WEAVIATE_GRPC"),
        ("_PREFIX", "belay", "PREFIX"),
        ("_PREFIX", "Belay-1", "PREFIX"),
        ("_REPLICAS", "0", "REPLICAS"),
        ("_CONSISTENCY", "most", "CONSISTENCY"),
    ],
)
def test_what_cannot_work_is_refused_by_name(name: str, value: str, named: str) -> None:
    set_(**{name: value})
    with pytest.raises(SettingsError, match=named):
        load()


@pytest.mark.parametrize(
    ("url", "grpc"),
    [("http://db:50051", ""), ("http://db:8080", "db:8080"), ("http://[::1]:80", "[::1]:80")],
)
def test_one_port_for_both_doors_is_refused(url: str, grpc: str) -> None:
    set_(URL=url, GRPC=grpc)
    with pytest.raises(SettingsError, match="the same port"):
        load()
