"""One index of the examples for all tests of the command line; a test copies it to change it."""

import pytest
from cli_kit import EXAMPLES, Belay


@pytest.fixture(scope="session")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Belay:
    belay = Belay(tmp_path_factory.mktemp("examples") / "home")
    ended = belay("sync", EXAMPLES)
    assert ended.code == 0, ended.err
    assert "26 indexed" in ended.out
    return belay
