"""What every test gets: an environment without this machine's settings and proxies."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

_KEPT_OUT = ("BELAY_", "OPENAI_", "DDGS_", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "LANGSMITH_")


@pytest.fixture(autouse=True)
def clean_environment(tmp_path: object) -> Iterator[None]:
    saved = dict(os.environ)
    for name in saved:
        if name.upper().startswith(_KEPT_OUT):
            del os.environ[name]
    yield
    os.environ.clear()
    os.environ.update(saved)
