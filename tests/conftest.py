"""What every test gets: an environment without this machine's settings and proxies."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests.processes import SPAWN

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

    from tests.servers.redis_server import RedisServer

# No deadline: the machine may be busy. In CI the same examples each time: no release by luck.
settings.register_profile("here", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")

_KEPT_OUT = ("BELAY_", "OPENAI_", "DDGS_", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "LANGSMITH_")


@pytest.fixture(autouse=True)
def clean_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Settings of the machine are out of the way; what the builtin model unpacks is shared."""
    saved = dict(os.environ)
    for name in saved:
        if name.upper().startswith(_KEPT_OUT):
            del os.environ[name]
    os.environ["BELAY_CACHE"] = str(tmp_path_factory.getbasetemp() / "belay-cache")
    yield
    os.environ.clear()
    os.environ.update(saved)


@pytest.fixture
def start() -> Iterator[Callable[..., BaseProcess]]:
    """Starts a process that is gone when the test is."""
    started: list[BaseProcess] = []

    def start(work: Callable[..., None], *arguments: object) -> BaseProcess:
        process = SPAWN.Process(target=work, args=arguments)
        process.start()
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.join()
        process.close()


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """One server for all tests; each takes a prefix of its own."""
    from tests.servers.redis_server import NEEDED, RedisServer, available

    if not available():
        pytest.skip(NEEDED)
    with RedisServer(tmp_path_factory.mktemp("redis")) as server:
        yield server
