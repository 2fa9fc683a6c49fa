"""A folder as a source: what is read, what is not and why."""

import os
import unicodedata
from pathlib import Path

import pytest

from adapters.folder import Folder, create
from bot.errors import SourceError
from bot.ingest.report import Reason
from bot.ports import Skipped, SourceFile


def write(root: Path, **files: str) -> None:
    for name, text in files.items():
        put(root / name.replace("__", "/").replace("_md", ".md"), text)


def put(path: Path, text: str = "# Text") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


async def read(folder: Folder) -> tuple[dict[str, bytes], dict[str, str]]:
    files: dict[str, bytes] = {}
    skipped: dict[str, str] = {}
    async for item in folder.files():
        if isinstance(item, SourceFile):
            files[item.path] = item.data
        else:
            assert isinstance(item, Skipped)
            skipped[item.path] = item.reason
    return files, skipped


async def test_files_come_sorted_with_relative_paths(tmp_path: Path) -> None:
    write(tmp_path, b_md="b", sub__a_md="a", a_md="a")
    files, _ = await read(Folder(tmp_path, "docs"))
    assert list(files) == ["a.md", "b.md", "sub/a.md"]


async def test_same_names_in_two_folders_are_two_files(tmp_path: Path) -> None:
    """IN-25"""
    write(tmp_path, billing__README_md="port 8081", orders__README_md="port 8082")
    files, _ = await read(Folder(tmp_path, "docs"))
    assert files == {"billing/README.md": b"port 8081", "orders/README.md": b"port 8082"}


async def test_links_out_of_the_root_are_not_followed(tmp_path: Path) -> None:
    """IN-22: files and folders, absolute and relative."""
    put(tmp_path / "private" / "salary.md", "secret words")
    root = tmp_path / "docs"
    put(root / "a.md")
    (root / "hosts").symlink_to("/etc/hosts")
    (root / "shared").symlink_to("../private")
    (root / "one.md").symlink_to(tmp_path / "private" / "salary.md")
    files, skipped = await read(Folder(root, "docs"))
    assert list(files) == ["a.md"]
    assert skipped == dict.fromkeys(("hosts", "one.md", "shared"), Reason.OUTSIDE)


async def test_links_inside_the_root_are_read_once(tmp_path: Path) -> None:
    """IN-22"""
    put(tmp_path / "real" / "a.md")
    (tmp_path / "alias.md").symlink_to("real/a.md")
    (tmp_path / "again").symlink_to("real")
    (tmp_path / "real" / "loop").symlink_to("..")
    (tmp_path / "gone.md").symlink_to("nowhere.md")
    files, skipped = await read(Folder(tmp_path, "docs"))
    assert list(files) == ["real/a.md"]
    assert skipped == {
        "again": Reason.LINK,
        "alias.md": Reason.LINK,
        "gone.md": Reason.UNREADABLE,
        "real/loop": Reason.LINK,
    }


async def test_files_that_are_reached_only_by_a_link_are_read(tmp_path: Path) -> None:
    """IN-22: a mounted config map keeps its files in a hidden folder behind links."""
    put(tmp_path / "..2026" / "a.md")
    (tmp_path / "..data").symlink_to("..2026")
    (tmp_path / "a.md").symlink_to("..data/a.md")
    files, _ = await read(Folder(tmp_path, "docs"))
    assert list(files) == ["a.md"]


async def test_a_link_to_a_secret_file_is_not_read(tmp_path: Path) -> None:
    """SC-11, IN-22"""
    put(tmp_path / ".env", "TOKEN=x")
    put(tmp_path / ".git" / "config", "url")
    (tmp_path / "notes").symlink_to(".env")
    (tmp_path / "config.md").symlink_to(".git/config")
    files, skipped = await read(Folder(tmp_path, "docs"))
    assert files == {}
    assert skipped["notes"] == skipped["config.md"] == Reason.SECRET_FILE


async def test_git_data_hidden_folders_and_packages_are_left_out(tmp_path: Path) -> None:
    """IN-24: `.git` may be a folder or, in submodules and worktrees, a file."""
    put(tmp_path / "a.md")
    put(tmp_path / ".git", "gitdir: ../.git/modules/core")
    put(tmp_path / "libs" / "core" / ".git", "gitdir: ../../.git/modules/core")
    put(tmp_path / "libs" / "core" / "b.md")
    put(tmp_path / ".cache" / "c.md")
    put(tmp_path / "node_modules" / "left-pad" / "README.md")
    files, skipped = await read(Folder(tmp_path, "docs"))
    assert list(files) == ["a.md", "libs/core/b.md"]
    assert skipped[".git"] == skipped["libs/core/.git"] == Reason.GIT_DATA
    assert skipped[".cache"] == Reason.HIDDEN
    assert skipped["node_modules"] == Reason.PACKAGES


async def test_an_empty_submodule_is_reported(tmp_path: Path) -> None:
    """IN-24"""
    put(tmp_path / ".gitmodules", '[submodule "core"]\n\tpath = libs/core\n\turl = x\n')
    (tmp_path / "libs" / "core").mkdir(parents=True)
    _, skipped = await read(Folder(tmp_path, "docs"))
    assert skipped["libs/core"] == Reason.SUBMODULE


async def test_names_are_identified_in_nfc(tmp_path: Path) -> None:
    """IN-26: macOS writes names decomposed."""
    name = "Резервный план й.md"
    put(tmp_path / unicodedata.normalize("NFD", name))
    files, _ = await read(Folder(tmp_path, "docs"))
    assert list(files) == [unicodedata.normalize("NFC", name)]


async def test_two_spellings_of_one_name_are_one_file(tmp_path: Path) -> None:
    """IN-26"""
    for form in ("NFC", "NFD"):
        put(tmp_path / unicodedata.normalize(form, "план й.md"))
    items = [item async for item in Folder(tmp_path, "docs").files()]
    assert [type(item) for item in items] == [SourceFile, Skipped]


async def test_a_name_that_is_no_utf_8_is_read(tmp_path: Path) -> None:
    place = os.fsencode(tmp_path) + b"/\xef\xeb\xe0\xed.md"
    try:
        with open(place, "wb") as file:  # noqa: PTH123 - a name that pathlib cannot spell
            file.write(b"# Text")
    except OSError:
        pytest.skip("this file system allows UTF-8 names only")
    files, _ = await read(Folder(tmp_path, "docs"))
    assert [name.encode() for name in files]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (".env", Reason.SECRET_FILE),
        ("id_rsa", Reason.SECRET_FILE),
        ("logo.png", Reason.UNSUPPORTED),
        ("big.md", Reason.TOO_LARGE),
    ],
)
async def test_reasons_for_not_reading_a_file(tmp_path: Path, name: str, reason: str) -> None:
    put(tmp_path / "a.md")
    put(tmp_path / name, "x" * 2000)
    _, skipped = await read(Folder(tmp_path, "docs", max_bytes=1000))
    assert skipped == {name: reason}


async def test_a_pipe_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    _, skipped = await read(Folder(tmp_path, "docs"))
    assert skipped == {"pipe": Reason.UNSUPPORTED}


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads everything")
async def test_an_unreadable_file_is_named(tmp_path: Path) -> None:
    put(tmp_path / "a.md").chmod(0)
    _, skipped = await read(Folder(tmp_path, "docs"))
    assert skipped == {"a.md": Reason.UNREADABLE}


async def test_include_and_exclude(tmp_path: Path) -> None:
    write(tmp_path, a_md="a", docs__b_md="b", docs__old__c_md="c", docs__draft_md="d")
    files, skipped = await read(
        Folder(tmp_path, "docs", include=["docs/*.md"], exclude=["docs/old", "draft.*"])
    )
    assert list(files) == ["docs/b.md"]
    assert skipped == {}


async def test_a_missing_or_empty_folder_or_a_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    file = put(tmp_path / "file.md")
    for root in (tmp_path / "missing", tmp_path / "empty", file):
        with pytest.raises(SourceError) as error:
            await read(Folder(root, "docs"))
        assert str(root) in str(error.value)
        assert error.value.remedy


def test_links_to_a_line_survive_in_markdown(tmp_path: Path) -> None:
    folder = create(tmp_path, "docs")
    assert folder.uri("ops/db.md", 12) == "ops/db.md#L12"
    assert folder.uri("ops/план (1).md", 3) == "ops/план%20%281%29.md#L3"


def test_a_link_is_one_line_whatever_the_name() -> None:
    assert Folder(Path(), "docs").uri("a\nb\x1b[31m c.md", 3) == "a%0Ab%1B%5B31m%20c.md#L3"
