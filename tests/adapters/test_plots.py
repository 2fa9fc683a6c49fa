"""Pictures as a reader would judge them: size, colours, and what happens without matplotlib."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from adapters.plots import create
from bot.errors import SettingsError, StorageError
from bot.plots import Axis, Line, Panel, Plot, Ridge

ORANGE, BLUE = (0.9, 0.63, 0.37), (0.37, 0.56, 0.78)  # as they look on white


def plot(*panels: Panel) -> Plot:
    axis = Axis("relevance", ((0.0, "0"), (0.5, "0.5"), (1.0, "1")))
    return Plot("What this shows", "How to read it", ("left", "right"), panels, axis, axis)


def panel(left: tuple[float, ...], right: tuple[float, ...]) -> Panel:
    ridges = (Ridge("left (2)", left, 0), Ridge("right (2)", right, 1))
    return Panel("Questions in English", ridges, (Line("limit 0.60", 0.6, ("0%", "100%")),))


def places(file: Path, colour: tuple[float, float, float]) -> np.ndarray:
    """(row, column) of pixels of nearly this colour."""
    pixels = imread(file)[:, :, :3]
    return np.argwhere(np.abs(pixels - np.array(colour)).max(axis=2) < 0.06)


def test_a_picture_is_1200_pixels_wide_and_grows_with_its_panels(tmp_path: Path) -> None:
    one, two = tmp_path / "one.png", tmp_path / "two.png"
    create().save(plot(panel((0.1,), (0.9,))), one)
    create().save(plot(panel((0.1,), (0.9,)), panel((), ())), two)
    assert imread(one).shape[1] == imread(two).shape[1] == 1200
    assert imread(two).shape[0] > imread(one).shape[0]


def test_values_stand_where_the_axis_says(tmp_path: Path) -> None:
    file = tmp_path / "plot.png"
    create().save(plot(panel((0.1, 0.12), (0.9, 0.95))), file)
    legend = imread(file).shape[0] - 60
    left = places(file, ORANGE)
    right = places(file, BLUE)
    left, right = left[left[:, 0] < legend], right[right[:, 0] < legend]
    assert len(left) > 500
    assert len(right) > 500
    assert left[:, 1].max() < right[:, 1].min()
    assert left[:, 0].mean() < right[:, 0].mean()  # the first ridge is above the second


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"gone/plot\.png"):
        create().save(plot(panel((0.1,), ())), tmp_path / "gone" / "plot.png")


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # what an import finds without the package
    with pytest.raises(SettingsError) as caught:
        create()
    assert 'pip install ".[plot]"' in caught.value.remedy
