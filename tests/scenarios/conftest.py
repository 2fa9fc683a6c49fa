"""One embedder for all scenarios: it takes longer to load than to use."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from adapters.use import UseEmbedder
from graph.ports import Embedder
from tests.scenarios.kit import Files, Indexed, Remembering, Team, open_team
from tests.servers.openai_model import Serve, serving

OpenTeam = Callable[..., Awaitable[Team]]


@pytest.fixture(scope="session")
def embedder() -> Embedder:
    return Remembering(UseEmbedder())


@pytest.fixture(scope="session")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Indexed:
    """Folders whose documents are indexed already, by what is in them."""
    return Indexed(tmp_path_factory.mktemp("indexed"))


@pytest.fixture
async def a_team(tmp_path: Path, embedder: Embedder, indexed: Indexed) -> AsyncIterator[OpenTeam]:
    """Opens teams, each with documents of its own; closes their indexes at the end."""
    async with AsyncExitStack() as stack:
        opened = 0

        async def start(files: Files) -> Team:
            nonlocal opened
            opened += 1
            folder = tmp_path / f"team-{opened}"
            if files:
                await indexed.copy(files, folder, embedder)
            team = await open_team(folder, embedder)
            stack.push_async_callback(team.app.index.close)
            return team

        yield start


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """Starts OpenAI-compatible servers on loopback, each with a model that asks it."""
    async with serving() as start:
        yield start
