"""What git repositories are really like, and what a sync says of it. Real git, no network."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from ingest_kit import CountingEmbedder

from adapters.documents import create as converters
from adapters.git import create
from adapters.memory.index import MemoryIndex
from bot.errors import SourceError
from bot.ingest.options import SyncOptions
from bot.ingest.report import SyncReport
from bot.ingest.sync import sync
from bot.ports import FileState
from bot.source_settings import GitLimits, Remote
from graph.model import Access, Passage

LIMITS = GitLimits(protocols=("file",))
POINTER = (
    "version https://git-lfs.github.com/spec/v1\n"
    "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 90405\n"
)
SECRET = "ghp_TheTokenOfTheTests0123456789"


@dataclass
class Upstream:
    """A repository as its team works with it."""

    folder: Path
    branch: str = "main"

    def __post_init__(self) -> None:
        self.folder.mkdir()
        self.git("init", "-q", "-b", self.branch)

    @property
    def url(self) -> str:
        return self.folder.as_uri()

    def git(self, *words: str, stdin: bytes = b"") -> str:
        who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        allow = ["-c", "protocol.file.allow=always"]
        done = subprocess.run(
            ["git", *who, *allow, *words], cwd=self.folder, check=True, capture_output=True,
            input=stdin,
        )  # fmt: skip
        return done.stdout.decode().strip()

    def commit(self, files: dict[str, str | bytes] | None = None) -> None:
        for name, text in (files or {}).items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "change")

    def commit_raw(self, *entries: tuple[str, bytes, bytes]) -> None:
        """Adds (mode, path, content) that no file system here would hold."""
        for mode, path, content in entries:
            blob = self.git("hash-object", "-w", "--stdin", stdin=content)
            line = f"{mode} {blob}\t".encode() + path + b"\0"
            self.git("update-index", "-z", "--index-info", stdin=line)
        self.git("commit", "-q", "-m", "raw")


@dataclass
class Team:
    """An index that is synced with one repository."""

    home: Path
    index: MemoryIndex = field(default_factory=MemoryIndex)
    embedder: CountingEmbedder = field(default_factory=CountingEmbedder)

    async def sync(
        self, remote: Remote | str, limits: GitLimits = LIMITS, **options: object
    ) -> SyncReport:
        self.home.mkdir(exist_ok=True)
        remote = Remote(remote) if isinstance(remote, str) else remote
        source = create("runbooks", remote, self.home / "copy", limits=limits)
        return await sync(
            source, self.index, self.embedder, lock=self.home / "lock",
            options=SyncOptions(converters=converters(), **options),  # type: ignore[arg-type]
        )  # fmt: skip

    async def refused(self, remote: Remote | str, limits: GitLimits = LIMITS) -> str:
        """The error with its remedy; what the index held, it holds."""
        before = await self.texts()
        with pytest.raises(SourceError) as raised:
            await self.sync(remote, limits)
        assert raised.value.remedy
        assert await self.texts() == before
        return f"{raised.value} {raised.value.remedy}"

    async def passages(self) -> list[Passage]:
        return [passage async for passage, _, _ in self.index.chunks()]

    async def texts(self) -> set[tuple[str, str]]:
        return {(item.document, item.text) for item in await self.passages()}

    async def indexed(self) -> set[str]:
        records = await self.index.records("runbooks")
        return {path for path, item in records.items() if item.state is FileState.INDEXED}


@pytest.fixture
def upstream(tmp_path: Path) -> Upstream:
    upstream = Upstream(tmp_path / "up")
    upstream.commit({"drain.md": "# Drain\n\nRun `kubectl drain`.\n"})
    return upstream


@pytest.fixture
def team(tmp_path: Path) -> Team:
    return Team(tmp_path / "home")


def told(report: SyncReport) -> str:
    return "\n".join(report.lines(0))


async def test_in_21_lfs_pointers_are_skipped_with_the_remedy(
    upstream: Upstream, team: Team
) -> None:
    upstream.commit({"guide.pdf": POINTER, "big.md": POINTER, "scan.png": POINTER})
    report = await team.sync(upstream.url)
    assert "skipped, LFS content not fetched: 3" in told(report)
    assert await team.indexed() == {"drain.md"}
    upstream.commit({"big.md": "# Big\n\nNow it is text.\n"})
    await team.sync(upstream.url)
    assert await team.indexed() == {"drain.md", "big.md"}


async def test_in_24_submodules_are_told_and_not_entered(
    upstream: Upstream, team: Team, tmp_path: Path
) -> None:
    other = Upstream(tmp_path / "other")
    other.commit({"secret.md": "# Other\n\nOf another team.\n"})
    upstream.git("submodule", "--quiet", "add", other.url, "libs/core")
    upstream.commit()
    report = await team.sync(upstream.url)
    assert "submodule not fetched: 1\n    libs/core (list its repository" in told(report)
    assert await team.indexed() == {"drain.md"}


@pytest.mark.parametrize(
    "url",
    ["--upload-pack=touch {mark}", "ext::sh -c 'touch {mark}'", "-u./x",
     "ssh://-oProxyCommand=touch {mark}/x"],
)  # fmt: skip
async def test_a_submodule_with_a_hostile_address_does_nothing(
    upstream: Upstream, team: Team, tmp_path: Path, url: str
) -> None:
    mark = tmp_path / "mark"
    upstream.commit(
        {".gitmodules": f'[submodule "x"]\n\tpath = x\n\turl = {url.format(mark=mark)}\n'}
    )
    commit = upstream.git("rev-parse", "HEAD")
    upstream.git("update-index", "--add", "--cacheinfo", f"160000,{commit},x")
    upstream.git("commit", "-q", "-m", "submodule")
    assert "submodule" in told(await team.sync(upstream.url))
    assert not mark.exists()


async def test_a_rewritten_history_ends_in_the_new_state(upstream: Upstream, team: Team) -> None:
    upstream.commit({"old.md": "# Old\n\nGone soon.\n", "kept.md": "# Kept\n\nStays.\n"})
    await team.sync(upstream.url)
    upstream.git("checkout", "-q", "--orphan", "other")
    upstream.git("rm", "-q", "-f", "old.md")
    upstream.commit({"new.md": "# New\n\nAfter the push.\n"})
    upstream.git("branch", "-q", "-M", "main")
    upstream.git("reflog", "expire", "--expire=now", "--all")
    upstream.git("gc", "-q", "--prune=now")
    report = await team.sync(upstream.url)
    assert (report.indexed, report.unchanged, report.removed) == (1, 2, 1)
    assert await team.indexed() == {"drain.md", "kept.md", "new.md"}


async def test_a_branch_that_is_gone_leaves_what_was_read(upstream: Upstream, team: Team) -> None:
    upstream.git("checkout", "-q", "-b", "docs")
    named = Remote(upstream.url, branch="docs")
    await team.sync(named)
    upstream.git("branch", "-q", "-M", "documents")
    words = await team.refused(named)
    assert "has no branch 'docs'" in words
    assert "`branch`" in words
    upstream.commit({"later.md": "# Later\n\nText.\n"})
    await team.sync(Remote(upstream.url, branch="documents"))
    assert await team.indexed() == {"drain.md", "later.md"}


async def test_another_default_branch_is_followed(upstream: Upstream, team: Team) -> None:
    await team.sync(upstream.url)
    upstream.git("checkout", "-q", "-b", "trunk")
    upstream.commit({"trunk.md": "# Trunk\n\nThe new default.\n"})
    upstream.git("branch", "-q", "-D", "main")
    await team.sync(upstream.url)
    assert await team.indexed() == {"drain.md", "trunk.md"}


async def test_a_rename_moves_a_document(upstream: Upstream, team: Team) -> None:
    await team.sync(upstream.url)
    (upstream.folder / "ops").mkdir()
    upstream.git("mv", "drain.md", "ops/drain.md")
    upstream.commit()
    report = await team.sync(upstream.url)
    assert (report.indexed, report.removed) == (1, 1)
    assert await team.indexed() == {"ops/drain.md"}
    assert {item.document for item in await team.passages()} == {"ops/drain.md"}


async def test_a_change_of_nothing_but_line_breaks_is_read_once(
    upstream: Upstream, team: Team
) -> None:
    """IN-08: not embedded, and the sync after it has nothing to read."""
    await team.sync(upstream.url)
    upstream.commit({"drain.md": "# Drain\r\n\r\nRun `kubectl drain`.\r\n"})
    report = await team.sync(upstream.url)
    assert (report.unchanged, report.embedded) == (1, 0)
    blob = upstream.git("rev-parse", "HEAD:drain.md")
    records = await team.index.records("runbooks")
    assert records["drain.md"].fingerprint.endswith(blob)


async def test_a_repository_that_became_empty_leaves_what_was_read(
    upstream: Upstream, team: Team
) -> None:
    await team.sync(upstream.url)
    upstream.git("rm", "-q", "drain.md")
    upstream.commit()
    assert "holds no files to read" in await team.refused(upstream.url)


async def test_most_files_gone_is_a_question(upstream: Upstream, team: Team) -> None:
    """IN-29: the same bound as for a folder."""
    upstream.commit({f"{n}.md": f"# Page {n}\n\nText {n}.\n" for n in range(40)})
    await team.sync(upstream.url)
    for n in range(40):
        upstream.git("rm", "-q", f"{n}.md")
    upstream.commit()
    assert "--allow-loss" in await team.refused(upstream.url)
    assert (await team.sync(upstream.url, allow_loss=True)).removed == 40


async def test_a_repository_without_commits_is_told(team: Team, tmp_path: Path) -> None:
    empty = Upstream(tmp_path / "empty")
    assert "no commits" in await team.refused(empty.url)


async def test_a_repository_with_too_many_bytes_is_told(upstream: Upstream, team: Team) -> None:
    await team.sync(upstream.url)
    upstream.commit({"noise.bin": os.urandom(3_000_000)})
    small = GitLimits(protocols=("file",), bytes=1_000_000)
    words = await team.refused(upstream.url, small)
    assert "larger than 1 MB" in words
    assert "megabytes" in words
    await team.sync(upstream.url)
    assert await team.indexed() == {"drain.md"}


async def test_a_repository_with_too_many_files_is_told(upstream: Upstream, team: Team) -> None:
    await team.sync(upstream.url)
    upstream.commit({f"{n}.md": f"# {n}\n" for n in range(20)})
    few = GitLimits(protocols=("file",), files=10)
    words = await team.refused(upstream.url, few)
    assert "more than 10" in words
    assert "folder" in words


async def test_a_tree_that_repeats_itself_is_not_unrolled(upstream: Upstream, team: Team) -> None:
    """Ten folders in ten folders, ten times over: 10^10 paths of a few objects."""
    tree = upstream.git("mktree", stdin=b"")
    blob = upstream.git("rev-parse", "HEAD:drain.md")
    tree = upstream.git("mktree", stdin=f"100644 blob {blob}\ta.md\n".encode())
    for _ in range(10):
        lines = "".join(f"040000 tree {tree}\td{n}\n" for n in range(10))
        tree = upstream.git("mktree", stdin=lines.encode())
    commit = upstream.git("commit-tree", tree, "-m", "bomb")
    upstream.git("update-ref", "refs/heads/main", commit)
    few = GitLimits(protocols=("file",), files=1000)
    assert "more than 1000" in await team.refused(upstream.url, few)


async def test_in_22_symbolic_links_are_not_followed(upstream: Upstream, team: Team) -> None:
    (upstream.folder / "hosts.md").symlink_to("/etc/hosts")
    (upstream.folder / "up").symlink_to("../..")
    (upstream.folder / "again.md").symlink_to("drain.md")
    upstream.commit()
    report = await team.sync(upstream.url)
    assert await team.indexed() == {"drain.md"}
    assert told(report).count("symbolic link") == 3


@pytest.mark.parametrize(
    "name",
    ["line\nbreak.md", 'quo"te.md', "tab\there.md", "back\\slash.md", "esc\x1b[31m.md",
     "🚒 план.md", " lead.md", "a#b?c%20.md", "--help.md", "sub dir/ж.md"],
)  # fmt: skip
async def test_any_name_is_indexed_linked_and_told_apart(
    upstream: Upstream, team: Team, name: str
) -> None:
    upstream.commit_raw(("100644", name.encode(), b"# Odd\n\nAn odd name.\n"))
    upstream.commit_raw(("100644", f"{name}.exe".encode(), b"MZ"))
    report = await team.sync(upstream.url)
    assert await team.indexed() == {"drain.md", name}
    [odd] = [item for item in await team.passages() if item.document == name]
    assert "\n" not in odd.uri
    assert "\x1b" not in odd.uri
    lines = list(report.lines(0))
    assert all("\n" not in line and "\x1b" not in line for line in lines)
    assert (await team.sync(upstream.url)).unchanged == 2


async def test_names_that_are_no_utf_8_keep_their_bytes(upstream: Upstream, team: Team) -> None:
    upstream.commit_raw(
        ("100644", "план.md".encode("cp1251"), b"# One\n\nFirst.\n"),
        ("100644", b"\xff.md", b"# Two\n\nSecond.\n"),
    )
    await team.sync(upstream.url)
    assert len(await team.indexed()) == 3
    assert (await team.sync(upstream.url)).unchanged == 3


async def test_in_26_names_that_differ_in_unicode_form_are_one_document(
    upstream: Upstream, team: Team
) -> None:
    upstream.commit_raw(
        ("100644", "й.md".encode(), b"# NFC\n\nComposed.\n"),
        ("100644", "\u0438\u0306.md".encode(), b"# NFD\n\nDecomposed.\n"),
    )
    report = await team.sync(upstream.url)
    assert await team.indexed() == {"drain.md", "й.md"}
    assert "another file has the same name" in told(report)


async def test_names_that_differ_in_case_are_two_documents(upstream: Upstream, team: Team) -> None:
    upstream.commit_raw(
        ("100644", b"Readme.md", b"# One\n\nFirst.\n"),
        ("100644", b"README.md", b"# Two\n\nSecond.\n"),
    )
    await team.sync(upstream.url)
    assert await team.indexed() == {"drain.md", "Readme.md", "README.md"}


async def test_a_hostile_repository_runs_nothing(
    upstream: Upstream, team: Team, tmp_path: Path
) -> None:
    """Filters, hooks and settings that its files ask for."""
    mark = tmp_path / "mark"
    touch = f"touch {mark}"
    upstream.commit(
        {
            ".gitattributes": "* filter=evil diff=evil merge=evil\n*.md ident export-subst\n",
            ".gitconfig": f'[core]\n\tfsmonitor = "{touch}"\n[filter "evil"]\n\tsmudge = {touch}\n',
            "hooks/post-checkout": f"#!/bin/sh\n{touch}\n",
            "config": f"[core]\n\thooksPath = hooks\n\tsshCommand = {touch}\n",
            "HEAD": "ref: refs/heads/main\n",
            "objects/x": "x",
            "refs/x": "x",
        }
    )
    (upstream.folder / "hooks/post-checkout").chmod(0o755)
    upstream.commit()
    await team.sync(upstream.url)
    await team.sync(upstream.url)
    assert "drain.md" in await team.indexed()
    assert not mark.exists()


async def test_paths_that_lead_out_of_a_tree_are_not_read(upstream: Upstream, team: Team) -> None:
    """A tree that git itself would refuse to check out."""
    blob = upstream.git("rev-parse", "HEAD:drain.md")
    inner = upstream.git("mktree", stdin=f"100644 blob {blob}\ta.md\n".encode())
    raw = b"".join(
        f"{mode} {name}\0".encode() + bytes.fromhex(sha)
        for mode, name, sha in (("40000", "..", inner), ("40000", ".git", inner),
                                ("100644", "a.md", blob))
    )  # fmt: skip
    words = ("hash-object", "-t", "tree", "-w", "--stdin", "--literally")
    tree = upstream.git(*words, stdin=raw)
    commit = upstream.git("commit-tree", tree, "-m", "out")
    upstream.git("update-ref", "refs/heads/main", commit)
    await team.sync(upstream.url)
    assert await team.indexed() == {"a.md"}


async def test_a_repository_of_sha_256_objects_is_read(team: Team, tmp_path: Path) -> None:
    folder = tmp_path / "modern"
    folder.mkdir()
    subprocess.run(
        ["git", "init", "-q", "-b", "main", "--object-format=sha256", str(folder)], check=True
    )
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    (folder / "a.md").write_text("# A\n\nText.\n")
    for words in (["add", "."], ["commit", "-q", "-m", "first"]):
        subprocess.run(["git", *who, *words], cwd=folder, check=True)
    await team.sync(folder.as_uri())
    assert await team.indexed() == {"a.md"}
    assert (await team.sync(folder.as_uri())).unchanged == 1


async def test_a_copy_that_was_damaged_is_made_again(upstream: Upstream, team: Team) -> None:
    await team.sync(upstream.url)
    copy = team.home / "copy"
    for file in [*copy.rglob("objects/??/*"), *copy.rglob("*.pack"), *copy.rglob("*.idx")]:
        file.chmod(0o600)
        file.write_bytes(b"rubbish")
    upstream.commit({"b.md": "# B\n\nText.\n"})
    await team.sync(upstream.url)
    assert await team.indexed() == {"drain.md", "b.md"}


async def test_the_address_may_move_and_the_index_stays(
    upstream: Upstream, team: Team, tmp_path: Path
) -> None:
    await team.sync(upstream.url)
    upstream.folder.rename(tmp_path / "moved")
    assert "no such repository" in await team.refused(upstream.url)
    report = await team.sync((tmp_path / "moved").as_uri())
    assert (report.unchanged, report.embedded) == (1, 0)


async def test_who_may_read_a_repository_is_not_its_matter(upstream: Upstream, team: Team) -> None:
    upstream.commit({"a.md": "---\naudience: staff\n---\n# A\n\nText.\n"})
    await team.sync(upstream.url, access=Access(tenant="acme"))
    for path in await team.indexed():
        for stored in await team.index.stored("runbooks", path):
            assert stored.chunk.access.tenant == "acme"
