"""Fixtures of the contract suites: one test, every implementation."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from contract.inbox_events import Clock, open_inbox
from contract.index_chunks import KINDS, close_index, open_index

from bot.delivery import Mailbox
from bot.ports import KnowledgeIndex


@pytest.fixture(params=KINDS)
async def index(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[KnowledgeIndex]:
    index = await open_index(request.param, tmp_path)
    yield index
    await close_index(index)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["memory", "sqlite", "redis"])
def kind(request: pytest.FixtureRequest) -> str:
    if request.param == "redis":
        return str(request.getfixturevalue("redis_server").url)
    return str(request.param)


@pytest.fixture
async def inbox(kind: str, tmp_path: Path, clock: Clock) -> AsyncIterator[Mailbox]:
    inbox = await open_inbox(kind, tmp_path, clock)
    yield inbox
    await inbox.close()
