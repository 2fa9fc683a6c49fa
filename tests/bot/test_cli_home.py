"""A data folder or a settings file that Belay cannot work with."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_kit import BELAY, CUT_OFF, Belay

ROOM = 6 * 1024 * 1024  # bytes: the index of the examples fits, that of a large folder does not


def mounted(place: Path) -> bool:
    """Makes a small file system of its own; only root can, and not everywhere."""
    if os.geteuid() != 0 or not shutil.which("mount"):
        return False
    place.mkdir()
    options = ("-t", "tmpfs", "-o", f"size={ROOM}", "tmpfs")
    return subprocess.run(["mount", *options, place], check=False).returncode == 0


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    if not mounted(tmp_path / "disk"):
        pytest.skip("no file system can be mounted here")
    yield tmp_path / "disk"
    subprocess.run(["umount", tmp_path / "disk"], check=True)


def large(folder: Path) -> Path:
    folder.mkdir()
    for page in range(3):
        words = " ".join(f"term{page}x{number}" for number in range(4_000))
        (folder / f"page{page}.md").write_text(f"# Page {page}\n\n{words}\n")
    return folder


def test_a_full_disk_keeps_what_was_indexed(indexed: Belay, disk: Path, tmp_path: Path) -> None:
    belay = indexed.copy(disk / "home")
    filler = disk / "filler"
    free = shutil.disk_usage(disk).free
    filler.write_bytes(bytes(free - 300_000))
    refused = belay("sync", large(tmp_path / "large"))
    assert refused.code == 6
    assert "disk that holds the index is full" in refused.err
    assert "what was indexed before is kept" in refused.err
    refused.without_frames()

    filler.write_bytes(filler.read_bytes() + bytes(shutil.disk_usage(disk).free))
    assert "06:15" in belay("ask", CUT_OFF).out
    checked = belay("doctor")
    assert checked.code == 1
    assert "No space left" in checked.out
    filler.unlink()
    assert "26 unchanged" in belay("sync").out


def test_a_file_system_without_room_for_a_large_file(indexed: Belay, tmp_path: Path) -> None:
    """The same where nothing can be mounted: the size of a file is limited."""
    if mounted(tmp_path / "disk"):
        subprocess.run(["umount", tmp_path / "disk"], check=True)
        pytest.skip("a full disk is tested as one")
    belay = indexed.copy(tmp_path / "home")
    large(tmp_path / "large")
    limit = (belay.home / "index.db").stat().st_size // 1024 + 200
    process = subprocess.run(
        ["bash", "-c", f'ulimit -f {limit}; exec "$@"', "-", BELAY, "sync", tmp_path / "large"],
        check=False,
        env=belay.environment(),
        capture_output=True,
        text=True,
    )
    assert process.returncode == 6
    assert "what was indexed before is kept" in process.stderr
    assert "Traceback" not in process.stderr
    assert "06:15" in belay("ask", CUT_OFF).out


def test_a_read_only_home_still_answers(indexed: Belay, disk: Path) -> None:
    belay = indexed.copy(disk / "home")
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    assert "06:15" in belay("ask", CUT_OFF).out
    belay("sync").failed(6, str(belay.home))
    subprocess.run(["mount", "-o", "remount,rw", disk], check=True)
    assert "26 unchanged" in belay("sync").out


def test_a_damaged_index_is_said_to_be_one(indexed: Belay, tmp_path: Path) -> None:
    belay = indexed.copy(tmp_path / "home")
    file = belay.home / "index.db"
    data = bytearray(file.read_bytes())
    data[8192:] = os.urandom(len(data) - 8192)
    file.write_bytes(data)
    belay("ask", CUT_OFF).failed(6, "damaged", str(file), "belay sync")
    file.write_text("not a database at all\n" * 100)
    belay("sources").failed(6, "not an index of Belay", str(file))


def test_a_home_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("mine")
    belay = Belay(tmp_path / "home")
    belay("ask", CUT_OFF).failed(6, str(tmp_path / "home"), "BELAY_HOME")
    assert (tmp_path / "home").read_text() == "mine"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("home = [", ("belay.toml", "TOML")),
        ('hom = "x"', ("belay.toml", "'hom'", "known keys")),
        ("[thresholds]\nfactul = 0.4", ("thresholds.factul", "no such setting")),
        ("[thresholds]\nfloor = 0.9", ("floor 0.9", "thresholds")),
        ("[[sources]]\nname = 'x'", ("sources.0", "path", "url")),
    ],
)
def test_a_settings_file_with_a_mistake(tmp_path: Path, text: str, words: tuple[str, ...]) -> None:
    (tmp_path / "belay.toml").write_text(text)
    Belay(tmp_path / "home")("sources").failed(2, *words)
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("CONFIG", "nowhere.toml", ("BELAY_CONFIG", "nowhere.toml")),
        ("THRESHOLDS", "{", ("BELAY_THRESHOLDS",)),
        ("WEB", "perhaps", ("BELAY_WEB",)),
        ("EMBEDDER", "word2vec", ("BELAY_EMBEDDER", "'word2vec'", "openai:MODEL")),
        ("MODEL_URL", "localhost:11434", ("BELAY_MODEL_URL", "http://")),
        ("LEVEL", "king", ("BELAY_LEVEL", "'king'", "administrator")),
    ],
)
def test_a_variable_with_a_mistake(
    tmp_path: Path, name: str, value: str, words: tuple[str, ...]
) -> None:
    Belay(tmp_path / "home").with_(**{name: value})("sources").failed(2, *words)


def test_a_variable_that_no_setting_has_is_pointed_out(tmp_path: Path) -> None:
    checked = Belay(tmp_path / "home").with_(MODLE="m")("doctor")
    assert checked.code == 1
    assert "BELAY_MODLE" in checked.out
    assert "belay sync" in checked.out, "nothing is indexed"


def test_folders_of_the_settings_file_are_synced(tmp_path: Path) -> None:
    docs = tmp_path / "pages"
    (docs / "old").mkdir(parents=True)
    (docs / "a.md").write_text("# Zebra\n\nThe zebra service listens on 4711.\n")
    (docs / "old" / "b.md").write_text("# Lion\n\nThe lion service listens on 4712.\n")
    (tmp_path / "belay.toml").write_text(
        f'[[sources]]\npath = "{docs}"\nname = "team"\nexclude = ["old/**"]\n'
    )
    belay = Belay(tmp_path / "home")
    ended = belay("sync")
    assert ended.code == 0, ended.err
    assert ended.out.startswith("team: 1 indexed")
    assert not list(tmp_path.glob("*.db"))
