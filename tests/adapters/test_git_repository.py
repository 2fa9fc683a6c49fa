"""A git repository as a source, with real git: what is read, what is not, and why."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from adapters.git import create
from bot.errors import SourceError
from bot.ports import Skipped, SourceFile
from bot.source_settings import GitLimits, Remote, SourceSettings
from bot.versioned import Unchanged, Versioned

LIMITS = GitLimits(protocols=("https", "ssh", "file"))


def git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def upstream(tmp_path: Path) -> Path:
    folder = tmp_path / "up"
    (folder / "docs").mkdir(parents=True)
    git(folder, "init", "-b", "main")
    (folder / "docs/a.md").write_text("# A\n")
    (folder / "docs/b.md").write_text("# B\n")
    (folder / "docs/out.md").symlink_to("/etc/hosts")
    git(folder, "add", ".")
    git(folder, "commit", "-m", "first")
    return folder


async def read(
    remote: Remote, home: Path, versions: dict[str, str], limits: GitLimits = LIMITS
) -> dict[str, SourceFile | Skipped | Unchanged]:
    source = create("docs", remote, home / "copy", limits=limits)
    assert isinstance(source, Versioned)
    return {item.path: item async for item in source.files_since(versions)}


async def test_only_changed_files_are_read_again(upstream: Path, tmp_path: Path) -> None:
    remote = Remote(upstream.as_uri(), folder="docs")
    first = await read(remote, tmp_path, {})
    versions = {p: i.revision for p, i in first.items() if isinstance(i, SourceFile)}
    assert sorted(versions) == ["a.md", "b.md"]
    assert isinstance(first["out.md"], Skipped)  # IN-22
    (upstream / "docs/b.md").write_text("# Other\n")
    git(upstream, "commit", "-am", "second")
    second = await read(remote, tmp_path, versions)
    assert second["a.md"] == Unchanged("a.md")
    changed = second["b.md"]
    assert isinstance(changed, SourceFile)
    assert changed.data == b"# Other\n"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param({"branch": "nowhere"}, "no branch 'nowhere'", id="branch"),
        pytest.param({"folder": "nowhere"}, "no folder 'nowhere'", id="folder"),
        pytest.param({"key": Path("/nowhere/key")}, "/nowhere/key", id="key"),
    ],
)
async def test_what_is_not_there_is_named(
    upstream: Path, tmp_path: Path, change: dict[str, object], words: str
) -> None:
    with pytest.raises(SourceError, match=words) as raised:
        await read(Remote(upstream.as_uri(), **change), tmp_path, {})  # type: ignore[arg-type]
    assert raised.value.remedy


async def test_local_paths_need_a_setting(upstream: Path, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="protocol file is not allowed"):
        await read(Remote(upstream.as_uri()), tmp_path, {}, GitLimits())


@pytest.mark.parametrize(
    "url", ["--upload-pack=x", "https://u:secret@host/r", "ext::sh -c x", "-oProxyCommand=x:y"]
)
def test_addresses_that_hold_secrets_or_options_are_refused(url: str) -> None:
    with pytest.raises(ValueError, match="address") as raised:
        SourceSettings(url=url)
    assert "secret" not in str(raised.value.errors()[0]["msg"])  # type: ignore[attr-defined]
