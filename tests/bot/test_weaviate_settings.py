"""Settings of the Weaviate server: what is understood, and what is said about the rest."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from adapters.weaviate.options import Layout, Waits
from bot.cli.running import secrets
from bot.errors import SettingsError
from bot.settings import load
from bot.weaviate_settings import tenant_of_weaviate


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


def of_team(tenant: str, **section: str) -> None:
    os.environ["BELAY_ACCESS__TENANT"] = tenant
    set_(_MULTI_TENANCY="true", **section)


@pytest.mark.parametrize("tenant", ["acme", "team-7", "Acme_EU", "a", "x" * 50, "acme_1a", "1"])
def test_a_team_has_a_tenant_of_its_name(tenant: str) -> None:
    of_team(tenant)
    settings = load()
    assert tenant_of_weaviate(settings.weaviate, settings.access.tenant) == tenant


def test_without_multi_tenancy_any_name_will_do() -> None:
    os.environ["BELAY_ACCESS__TENANT"] = "acme, inc."
    settings = load()
    assert tenant_of_weaviate(settings.weaviate, settings.access.tenant) == ""


@pytest.mark.parametrize(
    "tenant", ["default", "acme, inc.", "команда", "x" * 51, "acme_1", "a/b", "acme_2026"]
)
def test_a_name_that_cannot_be_a_tenant_is_refused(tenant: str) -> None:
    """Also the one of every team that names none: they would share an index."""
    of_team(tenant)
    with pytest.raises(SettingsError, match=r"\[access\] tenant"):
        load()


def test_a_tenant_has_no_number_of_shards() -> None:
    of_team("acme", _SHARDS="2")
    with pytest.raises(SettingsError, match="shards"):
        load()
