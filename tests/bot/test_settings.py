"""Settings: environment over one file over defaults, and errors that name the key."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import SecretStr

from bot.errors import SettingsError
from bot.settings import Settings, load, unknown_variables
from graph.policy import Limits, Policy

File = Callable[[str], None]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working directory without a belay.toml."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def config(tmp_path: Path) -> File:
    """Writes the file that BELAY_CONFIG names."""

    def write(text: str) -> None:
        path = tmp_path / "conf" / "my.toml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        os.environ["BELAY_CONFIG"] = str(path)

    return write


def set_(**variables: str) -> None:
    os.environ.update({f"BELAY_{name}": value for name, value in variables.items()})


def refused(**overrides: object) -> str:
    with pytest.raises(SettingsError) as caught:
        load(**overrides)
    assert caught.value.exit_code == 2
    return str(caught.value)


def test_defaults_are_those_of_the_policy_and_the_limits() -> None:
    settings = load()
    assert settings.policy() == Policy()
    assert settings.limit_values() == Limits()
    assert settings.embedder == "builtin"
    assert settings.model == ""
    assert settings.web


def test_a_file_in_the_working_directory_is_read() -> None:
    Path("belay.toml").write_text('model = "llama"\n[thresholds]\nfactual = 0.8\n')
    assert load().model == "llama"
    assert load().policy().factual == 0.8


def test_the_environment_wins_over_the_file_and_an_argument_over_both(config: File) -> None:
    config('model = "file"\nembedder = "e5"\n[thresholds]\nfactual = 0.9\nanalytical = 0.8\n')
    set_(MODEL="env", THRESHOLDS__FACTUAL="0.7")
    settings = load()
    assert (settings.model, settings.embedder) == ("env", "e5")
    assert (settings.thresholds.factual, settings.thresholds.analytical) == (0.7, 0.8)
    assert load(model="argument").model == "argument"


def test_every_section_can_be_set_from_the_environment() -> None:
    set_(
        RETRIEVAL__FUSION="rrf",
        RETRIEVAL__RRF_K="10",
        LIMITS__DEADLINE="5.5",
        WEB_SEARCH__RESULTS="3",
        INGEST__MASK_SECRETS="false",
        THRESHOLDS__NOISE_K="7",
    )
    settings = load()
    assert (settings.policy().fusion, settings.policy().rrf_k) == ("rrf", 10)
    assert (settings.policy().noise_k, settings.policy().web_results) == (7, 3)
    assert settings.limit_values().deadline == 5.5
    assert not settings.ingest.mask_secrets


@pytest.mark.parametrize(
    "written", ["duckduckgo,brave", " duckduckgo , brave\n", '["duckduckgo", "brave"]']
)
def test_a_list_is_written_with_commas_or_as_json(written: str) -> None:
    set_(WEB_SEARCH__BACKENDS=written)
    assert load().web_search.backends == ("duckduckgo", "brave")


def test_sources_are_listed_in_the_file(config: File) -> None:
    config('[[sources]]\npath = "docs"\naudience = "manager"\n[[sources]]\npath = "more"\n')
    first, second = load().sources
    assert (first.path, first.audience) == (Path("docs"), "manager")
    assert second.labels == ("all",)


@pytest.mark.parametrize(
    ("name", "value", "read", "meant"),
    [
        ("MODEL", " gpt-x \n", "model", "gpt-x"),
        ("MODEL_URL", " http://host/v1/\n", "model_url", "http://host/v1"),
        ("EMBEDDER", "builtin\n", "embedder", "builtin"),
        ("WEB", "off\n", "web", False),
        ("WEB", " ON", "web", True),
        ("LEVEL", "staff\r\n", "level", "staff"),
        ("LOG_LEVEL", "info\n", "log_level", "INFO"),
        ("HOME", " /srv/belay \n", "home", Path("/srv/belay")),
    ],
)
def test_white_space_around_a_value_means_nothing(
    name: str, value: str, read: str, meant: object
) -> None:
    """OP-05: a secret from a file ends in a line break."""
    set_(**{name: value})
    assert getattr(load(), read) == meant


@pytest.mark.parametrize(
    ("name", "value", "read", "meant"),
    [
        ("MODEL", '"gpt-x"', "model", "gpt-x"),
        ("MODEL", "'gpt-x'\n", "model", "gpt-x"),
        ("MODEL", '"a" or "b"', "model", '"a" or "b"'),
        ("MODEL", '"', "model", '"'),
        ("WEB", '"off"', "web", False),
        ("LOG_LEVEL", "'info'", "log_level", "INFO"),
        ("HOME", '"/srv/belay"', "home", Path("/srv/belay")),
        ("ADMINS", '"telegram:1,slack:U2"', "admins", ("telegram:1", "slack:U2")),
        ("ADMINS", '["telegram:1"]', "admins", ("telegram:1",)),
    ],
)
def test_quotes_around_a_value_are_not_meant(
    name: str, value: str, read: str, meant: object
) -> None:
    """`docker run --env-file` hands on the quotes that a shell would take off."""
    set_(**{name: value})
    assert getattr(load(), read) == meant


def test_quotes_around_a_key_are_not_meant() -> None:
    os.environ["OPENAI_API_KEY"] = '"sk-quoted"'
    assert load().model_key.get_secret_value() == "sk-quoted"


def test_an_empty_variable_is_as_good_as_none(config: File) -> None:
    """Compose files hand on variables that nobody has set."""
    config('log_level = "info"\n[thresholds]\nfactual = 0.8\n')
    set_(EMBEDDER="", WEB="", LOG_LEVEL=" ", HTTP='""', THRESHOLDS__FACTUAL="", SOURCES="")
    set_(LIMITS="", CACHE="", SESSIONS__STORED="", ACCESS__LEVELS="")
    settings = load()
    assert (settings.embedder, settings.web, settings.http) == ("builtin", True, "127.0.0.1:8080")
    assert (settings.log_level, settings.thresholds.factual) == ("INFO", 0.8)
    assert settings.sources == ()


def test_an_empty_variable_empties_what_may_be_empty(config: File) -> None:
    config('model = "llama"\nadmins = ["telegram:1"]\n[web_search]\nproxy = "http://proxy:3128"\n')
    set_(MODEL="", ADMINS="", WEB_SEARCH__PROXY="")
    settings = load()
    assert (settings.model, settings.admins, settings.web_search.proxy) == ("", (), "")


def test_a_tilde_is_the_folder_of_the_user(config: File, tmp_path: Path) -> None:
    """No shell replaces it in belay.toml, in a unit file of systemd or in `environment:`."""
    os.environ["HOME"] = str(tmp_path)
    config('cache = "~/cache"\n')
    del os.environ["BELAY_CACHE"]
    set_(HOME="~/belay data", CONFIG="~/conf/my.toml")
    assert (load().home, load().cache) == (tmp_path / "belay data", tmp_path / "cache")


def test_a_tilde_of_somebody_unknown_is_refused() -> None:
    set_(HOME="~nobody-of-that-name/belay")
    assert "BELAY_HOME" in refused()


@pytest.mark.parametrize("variable", ["BELAY_MODEL_KEY", "OPENAI_API_KEY"])
def test_a_key_is_stripped_and_never_shown(variable: str) -> None:
    os.environ[variable] = " sk-very-secret-123\n"
    settings = load()
    assert settings.model_key.get_secret_value() == "sk-very-secret-123"
    for shown in (repr(settings), str(settings), f"{settings.model_dump()}"):
        assert "very-secret" not in shown


def test_the_own_key_wins_over_the_one_of_openai() -> None:
    os.environ["OPENAI_API_KEY"] = "sk-other"
    set_(MODEL_KEY="sk-own")
    assert load().model_key.get_secret_value() == "sk-own"


def test_addresses_that_may_hold_a_password_are_not_shown() -> None:
    set_(MODEL_URL="https://user:hunter2@host/v1", WEB_SEARCH__PROXY="http://u:hunter3@proxy")
    assert "hunter" not in repr(load())


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("THRESHOLDS__FACTUAL", "2", "thresholds.factual"),
        ("THRESHOLDS__FACTUAL", "-0.1", "thresholds.factual"),
        ("THRESHOLDS__FACTUAL", "nan", "thresholds.factual"),
        ("THRESHOLDS__FACTUAL", "high", "number"),
        ("THRESHOLDS__FLOOR", "0.9", "floor 0.9 is above the lowest threshold"),
        ("THRESHOLDS__FACTULA", "0.5", "thresholds.factula"),
        ("THRESHOLDS__NOISE_K", "1", "thresholds.noise_k"),
        ("THRESHOLDS", "0.5", "thresholds"),
        ("THRESHOLDS", "high", "thresholds"),
        ("SOURCES", "/srv/docs", "sources"),
        ("RETRIEVAL__FUSION", "magic", "retrieval.fusion"),
        ("LIMITS__DEADLINE", "0", "limits.deadline"),
        ("EMBEDDER", "bert", "builtin, e5, openai:MODEL"),
        ("EMBEDDER", "openai:", "embedder"),
        ("MODEL_URL", "localhost:8080", "http://"),
        ("MODEL_URL", "http://", "names a host"),
        ("MODEL_URL", "http://a b/", "names a host"),
        ("MODEL_URL", "http://[::1", "names a host"),
        ("LEVEL", "boss", "staff, manager"),
        ("LOG_LEVEL", "loud", "log_level"),
        ("WEB", "maybe", "web"),
    ],
)
def test_a_wrong_value_is_named_by_its_key(name: str, value: str, says: str) -> None:
    """OP-05: the start-up check names the variable and what is wrong."""
    set_(**{name: value})
    message = refused()
    assert f"BELAY_{name.split('__', maxsplit=1)[0]}" in message
    assert says in message


def test_several_wrong_values_are_all_named() -> None:
    set_(LEVEL="boss", EMBEDDER="bert", THRESHOLDS__FACTUAL="9")
    message = refused()
    assert all(key in message for key in ("BELAY_LEVEL", "BELAY_EMBEDDER", "BELAY_THRESHOLDS__"))


def test_a_wrong_secret_is_not_repeated(config: File) -> None:
    config("model_key = 12345678\n")
    message = refused()
    assert "BELAY_MODEL_KEY" in message
    assert "12345678" not in message
    set_(MODEL_URL="ftp://user:hunter2@host")
    assert "hunter2" not in refused()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("colour = 1\n", "unknown key 'colour'"),
        ("[thresholds]\nfactul = 0.5\n", "thresholds.factul"),
        ("[[sources]]\nname = 'x'\n", "sources.0"),
        ("[[sources]]\npath = 'x'\naudience = 'boss'\n", "unknown level 'boss'"),
        ("model = \n", "line 1"),
        ("model = 'a'\nmodel = 'b'\n", "line 2"),
    ],
)
def test_a_wrong_file_is_explained(config: File, text: str, says: str) -> None:
    config(text)
    assert says in refused()


def test_a_file_with_a_byte_order_mark_is_read(config: File) -> None:
    config('\ufeffmodel = "x"\n')
    assert load().model == "x"


def test_a_file_in_another_encoding_is_named(tmp_path: Path) -> None:
    (tmp_path / "b.toml").write_bytes("model = 'модель'".encode("cp1251"))
    set_(CONFIG=str(tmp_path / "b.toml"))
    assert "b.toml" in refused()


@pytest.mark.parametrize("path", ["/nowhere/belay.toml", "."])
def test_a_configured_file_must_exist(path: str) -> None:
    set_(CONFIG=path)
    message = refused()
    assert "BELAY_CONFIG" in message
    assert path in message


def test_a_blank_config_variable_is_none() -> None:
    set_(CONFIG=" \n")
    assert load().model == ""


def test_misspelt_variables_are_found() -> None:
    set_(MODLE="x", MODEL="y", THRESHOLDS__FACTUAL="0.8", CONFIG="")
    os.environ["BELAY_TELEGRAM"] = "x"
    assert unknown_variables() == ["BELAY_MODLE", "BELAY_TELEGRAM"]


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        load().model = "other"  # type: ignore[misc]


def test_a_secret_argument_is_taken_as_it_is() -> None:
    settings = Settings(model_key=SecretStr("sk-1"))
    assert settings.model_key.get_secret_value() == "sk-1"
