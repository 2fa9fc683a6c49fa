"""Repositories over https with a token and over ssh with a key: real servers, real failures."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.git import create
from bot.errors import SourceError
from bot.ports import SourceFile
from bot.source_settings import GitLimits, Remote
from tests.servers.git_servers import (
    NEEDED,
    SSHD,
    HttpsGit,
    SshGit,
    bare_repository,
    https_git,
    make_key,
    ssh_git,
)
from tests.servers.redis_server import free_port

TOKEN = "ghp_0123456789abcdefSECRET"
LIMITS = GitLimits(silence=5, fetch_seconds=30)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one bare repository, `runbooks.git`."""
    return bare_repository(tmp_path_factory.mktemp("git"), "# Drain\n\nRun `kubectl drain`.\n")


@pytest.fixture
async def https(root: Path, tmp_path: Path) -> AsyncIterator[HttpsGit]:
    async with https_git(tmp_path, root, TOKEN) as server:
        yield server


@pytest.fixture(scope="module")
def ssh(root: Path) -> Iterator[SshGit]:
    if SSHD is None:
        pytest.skip(NEEDED)
    with ssh_git(root / "sshd") as server:
        yield server


async def read(remote: Remote, home: Path) -> dict[str, bytes]:
    source = create("runbooks", remote, home / "copy", limits=LIMITS)
    return {item.path: item.data async for item in source.files() if isinstance(item, SourceFile)}


async def refused(remote: Remote, home: Path) -> str:
    with pytest.raises(SourceError) as raised:
        await read(remote, home)
    assert raised.value.remedy
    assert TOKEN not in f"{raised.value} {raised.value.remedy}"
    return f"{raised.value} {raised.value.remedy}"


def over_https(server: HttpsGit, token: str = TOKEN) -> Remote:
    return Remote(server.url("runbooks.git"), token=token, ca_file=str(server.authority))


def over_ssh(server: SshGit, root: Path) -> Remote:
    url = server.url(root / "runbooks.git")
    return Remote(url, key=server.key, known_hosts=server.known_hosts)


async def test_sc_09_a_token_opens_a_repository_and_is_written_nowhere(
    https: HttpsGit, tmp_path: Path
) -> None:
    found = await read(over_https(https), tmp_path)
    assert found == {"drain.md": b"# Drain\n\nRun `kubectl drain`.\n"}
    files = [path for path in (tmp_path / "copy").rglob("*") if path.is_file()]
    assert files
    assert not any(TOKEN.encode() in path.read_bytes() for path in files)


async def test_a_wrong_token_is_told(https: HttpsGit, tmp_path: Path) -> None:
    assert "token_env" in await refused(over_https(https, "wrong"), tmp_path)
    assert "token_env" in await refused(over_https(https, ""), tmp_path)


async def test_a_certificate_of_an_unknown_authority_is_told(
    https: HttpsGit, tmp_path: Path
) -> None:
    assert "ca_file" in await refused(replace(over_https(https), ca_file=""), tmp_path)


async def test_a_repository_that_is_not_there_is_told(https: HttpsGit, tmp_path: Path) -> None:
    other = replace(over_https(https), url=https.url("other.git"))
    assert "`url`" in await refused(other, tmp_path)


async def test_a_failed_fetch_leaves_the_copy_for_the_next_run(
    https: HttpsGit, tmp_path: Path
) -> None:
    await read(over_https(https), tmp_path)
    away = replace(over_https(https), url=f"https://localhost:{free_port()}/runbooks.git")
    assert "network" in await refused(away, tmp_path)
    assert list(await read(over_https(https), tmp_path)) == ["drain.md"]


async def test_a_key_opens_a_repository(ssh: SshGit, root: Path, tmp_path: Path) -> None:
    assert list(await read(over_ssh(ssh, root), tmp_path)) == ["drain.md"]


async def test_a_key_that_is_not_accepted_is_told(ssh: SshGit, root: Path, tmp_path: Path) -> None:
    other = replace(over_ssh(ssh, root), key=make_key(tmp_path / "other"))
    assert "deploy key" in await refused(other, tmp_path)


async def test_a_key_that_others_can_read_is_refused(
    ssh: SshGit, root: Path, tmp_path: Path
) -> None:
    key = make_key(tmp_path / "open")
    key.chmod(0o644)
    assert "chmod 600" in await refused(replace(over_ssh(ssh, root), key=key), tmp_path)


async def test_a_host_that_is_not_known_is_told(ssh: SshGit, root: Path, tmp_path: Path) -> None:
    nobody = tmp_path / "known_hosts"
    nobody.write_text("")
    strange = replace(over_ssh(ssh, root), known_hosts=nobody)
    assert "ssh-keyscan" in await refused(strange, tmp_path)


async def test_a_host_with_another_key_is_told(ssh: SshGit, root: Path, tmp_path: Path) -> None:
    other = make_key(tmp_path / "host").with_suffix(".pub").read_text()
    changed = tmp_path / "known_hosts"
    changed.write_text(f"[127.0.0.1]:{ssh.port} {' '.join(other.split()[:2])}\n")
    strange = replace(over_ssh(ssh, root), known_hosts=changed)
    assert "another host key" in await refused(strange, tmp_path)
