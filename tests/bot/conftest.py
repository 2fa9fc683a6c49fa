"""Fixtures that several tests of the application share."""

from __future__ import annotations

import pytest
from cli_kit import EXAMPLES, Belay
from contract.inbox_events import Clock
from desk_kit import Messenger, Time

from adapters.memory.inbox import MemoryInbox


@pytest.fixture(scope="session")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Belay:
    """One index of the examples for the command line; a test copies it to change it."""
    belay = Belay(tmp_path_factory.mktemp("examples") / "home")
    ended = belay("sync", EXAMPLES)
    assert ended.code == 0, ended.err
    assert "26 indexed" in ended.out
    return belay


@pytest.fixture
def time() -> Time:
    return Time(Clock())


@pytest.fixture
def inbox(time: Time) -> MemoryInbox:
    return MemoryInbox(clock=time.clock)


@pytest.fixture
def messenger() -> Messenger:
    return Messenger()
