"""Fixtures that several tests of the application share."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from uuid import uuid4

import pytest
from cli_kit import EXAMPLES, Belay
from contract.inbox_events import Clock
from contract.index_chunks import WEAVIATE_GRPC, WEAVIATE_KEY, WEAVIATE_URL
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
def weaviate() -> Iterator[dict[str, str]]:
    """Settings of collections that are gone when the test is; ask for it with NEEDS_WEAVIATE."""
    prefix = f"BelayTests{uuid4().hex}"
    yield {
        "WEAVIATE_URL": WEAVIATE_URL,
        "WEAVIATE_GRPC": WEAVIATE_GRPC,
        "WEAVIATE_KEY": WEAVIATE_KEY,
        "WEAVIATE__PREFIX": prefix,
    }

    async def drop() -> None:
        from adapters.weaviate import create  # two seconds, for the few who have a server

        index = await create(WEAVIATE_URL, grpc=WEAVIATE_GRPC, key=WEAVIATE_KEY, shelf=prefix)
        schema = index.collections.client.collections
        await schema.delete([name for name in await schema.list_all() if prefix in name])
        await index.close()

    asyncio.run(drop())


@pytest.fixture
def time() -> Time:
    return Time(Clock())


@pytest.fixture
def inbox(time: Time) -> MemoryInbox:
    return MemoryInbox(clock=time.clock)


@pytest.fixture
def messenger() -> Messenger:
    return Messenger()
