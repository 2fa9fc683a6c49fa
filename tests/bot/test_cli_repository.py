"""A repository behind a token, from the command line: the token is shown and kept nowhere."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from cli_kit import Belay, Ended

from tests.servers.git_servers import HttpsGit, bare_repository, https_git

TOKEN = "ghp_0123456789abcdefSECRET"
PASSWORD = "proxySECRETpassword"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bare_repository(
        tmp_path_factory.mktemp("git"), "# Drain\n\nDrain a node with `kubectl drain`.\n"
    )


@pytest.fixture
async def server(root: Path, tmp_path: Path) -> AsyncIterator[HttpsGit]:
    async with https_git(tmp_path, root, TOKEN) as server:
        yield server


def belay(server: HttpsGit, home: Path, token: str = TOKEN, **more: str) -> Belay:
    source = {
        "url": server.url("runbooks.git"), "token_env": "RUNBOOKS_TOKEN",
        "ca_file": str(server.authority), **more,
    }  # fmt: skip
    settings = {"RUNBOOKS_TOKEN": token, "BELAY_SOURCES": json.dumps([source])}
    return Belay(home, settings).with_(LOG_LEVEL="DEBUG")


async def ran(belay: Belay, *words: str) -> Ended:
    return await asyncio.to_thread(belay, *words)


def kept(home: Path, secret: str) -> list[Path]:
    files = [path for path in home.rglob("*") if path.is_file()]
    assert files
    return [path for path in files if secret.encode() in path.read_bytes()]


async def test_sc_09_the_token_is_in_no_output_address_process_list_or_file(
    server: HttpsGit, tmp_path: Path
) -> None:
    team = belay(server, tmp_path / "home")
    outputs = [
        await ran(team, *words)
        for words in (("sync",), ("sync",), ("sources",), ("sources", "--json"), ("doctor",))
    ]
    wrong = belay(replace(server, token="x"), tmp_path / "home", token=TOKEN[::-1])
    outputs += [await ran(wrong, "sync"), await ran(wrong, "sources")]
    assert "1 indexed" in outputs[0].out
    assert "token_env" in outputs[-2].err
    for ended in outputs:
        for secret in (TOKEN, TOKEN[::-1]):
            assert secret not in ended.out + ended.err
        ended.without_frames()
    assert server.asked
    assert not [path for path in server.asked if TOKEN in path]
    assert server.seen
    assert TOKEN.encode() not in server.seen
    assert kept(tmp_path / "home", TOKEN) == []


async def test_a_token_is_not_sent_to_where_a_server_points(
    server: HttpsGit, root: Path, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    async with https_git(tmp_path / "other", root, TOKEN) as other:
        server.moved = f"https://localhost:{other.port}"
        ended = await ran(belay(server, tmp_path / "home"), "sync")
        assert other.asked == []
    ended.failed(3, "moved to another address", "url")


async def test_what_was_read_answers_while_the_server_is_away(
    server: HttpsGit, tmp_path: Path
) -> None:
    team = belay(server, tmp_path / "home")
    await ran(team, "sync")
    server.token = "another"
    assert (await ran(team, "sync")).code != 0
    [row] = (await ran(team, "sources", "--json")).json
    assert row["state"] == "failed"
    assert "does not let us in" in row["message"]
    assert "kubectl" in (await ran(team, "ask", "how do I drain a node", "--no-web")).out


async def test_a_rebuild_fetches_once(server: HttpsGit, tmp_path: Path) -> None:
    team = belay(server, tmp_path / "home")
    await ran(team, "sync")
    before = len(server.asked)
    await ran(team, "sync")
    once = len(server.asked) - before
    assert "1 indexed" in (await ran(team, "sync", "--rebuild")).out
    assert len(server.asked) - before == 2 * once


async def test_a_password_of_a_proxy_is_not_told(server: HttpsGit, tmp_path: Path) -> None:
    proxy = f"http://me:{PASSWORD}@127.0.0.1:9"
    team = belay(server, tmp_path / "home", proxy=proxy)
    ended = await ran(team, "sync")
    assert ended.code != 0
    assert PASSWORD not in ended.out + ended.err
    assert kept(tmp_path / "home", PASSWORD) == []


@pytest.mark.parametrize(
    "url",
    [f"https://me:{TOKEN}@host/r.git", f"https://{TOKEN}@host/r.git", f"https://host/r?t={TOKEN}"],
    ids=["password", "user", "query"],
)
def test_an_address_with_a_token_is_refused_without_showing_it(tmp_path: Path, url: str) -> None:
    team = Belay(tmp_path / "home", {"BELAY_SOURCES": json.dumps([{"url": url}])})
    ended = team("sync")
    assert ended.code == 2
    assert TOKEN not in ended.out + ended.err
    assert "token_env" in ended.err


@pytest.mark.parametrize(
    "wrong",
    [{"branch": "--upload-pack=touch mark"}, {"branch": "a..b"}, {"branch": "-x"},
     {"folder": "../other"}, {"folder": "--x"}, {"url": "--upload-pack=touch mark"},
     {"url": "ext::sh -c touch% mark"}, {"url": "ssh://-oProxyCommand=touch mark/x"},
     {"url": "git@-oProxyCommand=x:y"}, {"url": "file:///etc"}, {"url": "http://host/r"}],
    ids=str,
)  # fmt: skip
def test_settings_that_hide_an_option_are_refused(tmp_path: Path, wrong: dict[str, str]) -> None:
    source = {"url": "https://127.0.0.1:9/runbooks.git", **wrong}
    ended = Belay(tmp_path / "home", {"BELAY_SOURCES": json.dumps([source])})("sync")
    assert ended.code != 0
    ended.without_frames()
    assert not list(tmp_path.rglob("mark"))


def test_names_that_move_the_cursor_are_written_as_escapes(tmp_path: Path) -> None:
    up = tmp_path / "up"
    up.mkdir()
    (up / "esc\x1b[2J\nnew.md").write_text("# Drain\n\nDrain it.\n")
    (up / "esc\x1b[2J\nnew.exe").write_text("MZ")
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "first"]):
        subprocess.run(["git", *who, *words], cwd=up, check=True)
    source = json.dumps([{"url": up.as_uri()}])
    team = Belay(tmp_path / "home", {"BELAY_SOURCES": source}).with_(GIT__PROTOCOLS='["file"]')
    for words in (["sync", "-v"], ["sources"], ["documents"], ["search", "drain"], ["ask", "drain"],
                  ["why"]):  # fmt: skip
        ended = team(*words)
        assert ended.code == 0, ended.err
        assert "\x1b" not in ended.out + ended.err
        assert not [line for line in ended.out.splitlines() if line.startswith("new.")]
