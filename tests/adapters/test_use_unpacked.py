"""The builtin model unpacked on disk: the same vectors, and no harm when the folder is bad."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from adapters.use import UseEmbedder
from graph.ports import Matrix

TEXTS = [
    "kubectl drain NODE --ignore-daemonsets",
    "Очередь переполнена: что делать дежурному?",
    "½ ﬁ Ⅳ … 漢字 😀 \u00a0 tabs\tand\nlines",
    "x" * 400,
    "",
]
Damage = Callable[[Path], object]


async def vectors(cache: Path | None = None) -> Matrix:
    return await UseEmbedder(cache=cache).embed_passages(TEXTS)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:1000])


async def test_vectors_from_the_cache_are_the_same_to_the_bit(tmp_path: Path) -> None:
    unpacked, cached, plain = await vectors(tmp_path), await vectors(tmp_path), await vectors()
    np.testing.assert_array_equal(unpacked, plain)
    np.testing.assert_array_equal(cached, plain)


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: cut(folder / "table.npy"),
        lambda folder: cut(folder / "arrays.npz"),
        lambda folder: cut(folder / "vocabulary.txt"),
        lambda folder: (folder / "table.npy").unlink(),
        lambda folder: (folder / "vocabulary.txt").write_bytes(b"\xff\xfe"),
    ],
)
async def test_a_damaged_cache_is_made_anew(tmp_path: Path, damage: Damage) -> None:
    plain = await vectors(tmp_path)
    (folder,) = tmp_path.iterdir()
    whole = {path.name: path.stat().st_size for path in folder.iterdir()}
    damage(folder)
    np.testing.assert_array_equal(await vectors(tmp_path), plain)
    assert {path.name: path.stat().st_size for path in folder.iterdir()} == whole


async def test_a_place_that_cannot_be_written_costs_only_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    np.testing.assert_array_equal(await vectors(tmp_path / "file" / "cache"), await vectors())


async def test_nothing_is_left_beside_the_unpacked_model(tmp_path: Path) -> None:
    await vectors(tmp_path)
    assert len(list(tmp_path.iterdir())) == 1
