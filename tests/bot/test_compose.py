"""compose.yaml, checked where no engine runs: against the image, the settings and the commands."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import redis
import yaml
from pydantic import BaseModel
from typer.main import get_command

from adapters.redis.address import parse
from adapters.redis.server import Server
from bot.cli.commands import app
from bot.http import HEALTH
from bot.operations import READY
from bot.settings import PREFIX, Settings
from tests.servers.redis_server import NEEDED, RedisServer, available, free_port, until

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "compose.yaml").read_text(encoding="utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load(TEXT)
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
BOT, REDIS, WEAVIATE = (SERVICES[name] for name in ("bot", "redis", "weaviate"))
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
EXAMPLE = (ROOT / "deploy" / ".env.example").read_text(encoding="utf-8")
GIVEN = {"REDIS_PASSWORD": "s" * 64, "BELAY_WEAVIATE_KEY": "k", "DOCUMENTS": "/srv"}

# https://github.com/compose-spec/compose-spec/blob/main/spec.md: an unknown word is an error there.
OF_FILE = {"name", "services", "volumes", "networks", "configs", "secrets", "include"}
OF_SERVICE = {
    "build", "cap_add", "cap_drop", "command", "configs", "container_name", "cpus", "depends_on",
    "deploy", "dns", "entrypoint", "env_file", "environment", "expose", "extra_hosts",
    "healthcheck", "hostname", "image", "init", "labels", "logging", "mem_limit", "networks",
    "ports", "profiles", "pull_policy", "read_only", "restart", "secrets", "security_opt",
    "shm_size", "stop_grace_period", "stop_signal", "sysctls", "tmpfs", "ulimits", "user",
    "volumes", "working_dir",
}  # fmt: skip
OF_HEALTHCHECK = {"test", "interval", "timeout", "retries", "start_period", "start_interval"}
OF_DEPLOY = {"mode", "replicas", "resources", "restart_policy", "update_config", "placement"}
DURATION = re.compile(r"(\d+h)?(\d+m)?(\d+s)?(\d+ms)?")
SIZE = re.compile(r"\d+(b|k|kb|m|mb|g|gb)")


def filled(text: str) -> str:
    """As compose gives it to a container: variables filled in, `$$` for a dollar sign."""
    text = re.sub(r"(?<!\$)\$\{(\w+)(?::\?)?\}", lambda found: GIVEN[found[1]], text)
    return text.replace("$$", "$")


def sections(model: type[BaseModel], prefix: str) -> Iterator[str]:
    for name, field in model.model_fields.items():
        yield f"{prefix}{name}".upper()
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from sections(field.annotation, f"{prefix}{name}__")


SETTINGS = {*sections(Settings, PREFIX), f"{PREFIX}CONFIG"}


@pytest.mark.parametrize("name", SERVICES)
def test_compose_knows_every_word(name: str) -> None:
    service = SERVICES[name]
    assert set(COMPOSE) <= OF_FILE
    assert set(service) <= OF_SERVICE
    assert set(service["healthcheck"]) <= OF_HEALTHCHECK
    assert set(service["deploy"]) <= OF_DEPLOY
    times = [service["healthcheck"].get(key) for key in ("interval", "timeout", "start_period")]
    for duration in (*filter(None, times), service.get("stop_grace_period", "10s")):
        assert duration
        assert DURATION.fullmatch(duration)
    for bounds in service["deploy"]["resources"].values():
        assert SIZE.fullmatch(bounds["memory"])
        assert float(bounds.get("cpus", "1")) > 0


def test_every_variable_of_the_bot_is_a_setting() -> None:
    named = set(BOT["environment"]) | set(re.findall(r"^#?(BELAY_\w+)=", EXAMPLE, re.MULTILINE))
    assert named
    assert named <= SETTINGS


def test_the_engines_are_where_the_bot_looks_for_them() -> None:
    address = parse(filled(BOT["environment"]["BELAY_REDIS_URL"]))
    assert address.nodes == (("redis", 6379),)
    assert address.password == GIVEN["REDIS_PASSWORD"]
    weaviate = urlsplit(BOT["environment"]["BELAY_WEAVIATE_URL"])
    assert (weaviate.hostname, weaviate.port) == ("weaviate", 8080)
    assert {"redis", "weaviate"} <= set(SERVICES)
    given = {
        name.removeprefix(PREFIX).lower(): filled(value)
        for name, value in BOT["environment"].items()
        if name != "BELAY_SOURCES"
    }
    settings = Settings.model_validate(given)
    assert settings.redis_url
    assert settings.weaviate_url


def test_a_password_as_the_example_makes_it_needs_no_percent_signs() -> None:
    (made,) = re.findall(r"openssl rand -hex (\d+)", EXAMPLE)
    assert len(GIVEN["REDIS_PASSWORD"]) == 2 * int(made)


def test_the_image_runs_a_command_that_exists() -> None:
    commands = set(getattr(get_command(app), "commands", {}))
    (entry,) = re.findall(r'^ENTRYPOINT \["(\w+)"\]', DOCKERFILE, re.MULTILINE)
    (words,) = re.findall(r"^CMD \[(.*)\]", DOCKERFILE, re.MULTILINE)
    chosen = BOT.get("command") or [word.strip('" ') for word in words.split(",")]
    assert entry == "belay"
    assert chosen[0] in commands
    assert "entrypoint" not in BOT


def test_what_is_probed_is_served_there() -> None:
    """Pages of the process, at the port that it listens on and that others may reach."""
    port = urlsplit(f"//{BOT['environment']['BELAY_HTTP']}").port
    assert BOT["expose"] == [str(port)]
    (address,) = re.findall(r"http://[^']+", BOT["healthcheck"]["test"][-1])
    assert (urlsplit(address).port, urlsplit(address).path) == (port, READY)
    (own,) = re.findall(r"HEALTHCHECK(?:.*\\\n)*.*?'(/\w+)'", DOCKERFILE)
    assert own == HEALTH
    assert BOT["healthcheck"]["test"][1] == "python"


def test_volumes_lie_where_the_processes_keep_their_data() -> None:
    (home,) = re.findall(r"BELAY_HOME=(\S+)", DOCKERFILE)
    assert re.search(rf"^VOLUME {home}$", DOCKERFILE, re.MULTILINE)
    assert re.search(rf"useradd .*--uid 10001 .*--home-dir {home} --create-home", DOCKERFILE)
    assert re.search(r"^USER 10001:10001$", DOCKERFILE, re.MULTILINE)
    assert "user" not in BOT
    targets = {
        volume.split(":")[0]: volume.split(":")[1] for volume in BOT["volumes"] if "$" not in volume
    }
    assert targets == {"data": home}
    assert "${DOCUMENTS:?}:/docs:ro" in BOT["volumes"]
    path = WEAVIATE["environment"]["PERSISTENCE_DATA_PATH"]
    assert WEAVIATE["volumes"] == [f"weaviate:{path}"]
    assert REDIS["volumes"] == ["redis:/data"]  # the working folder of that image
    assert "/tmp" in BOT["tmpfs"]


@pytest.fixture
def password(tmp_path: Path) -> Iterator[tuple[RedisServer, str]]:
    """The Redis of the file, started by the file's own command."""
    if not available():
        pytest.skip(NEEDED)
    *shell, line = map(filled, REDIS["command"])
    port = free_port()
    process = subprocess.Popen(
        [*shell, f"{' '.join(line.split())} --port {port} --dir {shlex.quote(str(tmp_path))}"],
        env=os.environ | {"REDIS_PASSWORD": "hush"},
        stdout=subprocess.DEVNULL,
    )
    server = RedisServer(tmp_path, port=port)
    try:
        until(lambda: answers(server))
        yield server, "hush"
    finally:
        process.kill()
        process.wait()


def answers(server: RedisServer) -> bool:
    try:
        server.command("PING")
    except redis.exceptions.AuthenticationError:
        return True
    except redis.exceptions.ConnectionError:
        return False
    pytest.fail("it asks for no password")


async def test_the_doctor_finds_nothing_wrong_with_the_redis_of_the_file(
    password: tuple[RedisServer, str],
) -> None:
    own, secret = password
    server = Server(own.url.replace("://", f"://:{secret}@"))
    try:
        found = await server.check()
    finally:
        await server.close()
    assert [finding.state for finding in found] == ["ok"]
    assert "maxmemory 256.00M noeviction" in found[0].message
    assert "appendonly yes" in found[0].message


def test_the_health_of_redis_is_checked_with_its_password(
    password: tuple[RedisServer, str],
) -> None:
    if shutil.which("redis-cli") is None:
        pytest.skip("needs redis-cli: apt-get install redis-tools")
    own, secret = password
    kind, line = REDIS["healthcheck"]["test"]
    assert kind == "CMD-SHELL"
    line = filled(line).replace("redis-cli", f"redis-cli -p {own.port}")
    for given, code in ((secret, 0), ("wrong", 1)):
        done = subprocess.run(
            ["sh", "-c", line],
            env=os.environ | {"REDIS_PASSWORD": given},
            check=False,
            capture_output=True,
        )
        assert done.returncode == code
