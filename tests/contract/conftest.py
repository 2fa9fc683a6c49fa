"""Fixtures of the contract suites: one test, every implementation."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from contract.index_chunks import open_index

from bot.ports import KnowledgeIndex


@pytest.fixture(params=["memory", "sqlite"])
async def index(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[KnowledgeIndex]:
    index = await open_index(request.param, tmp_path)
    yield index
    await index.close()
