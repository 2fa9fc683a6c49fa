"""The prompts as text files, and their loader.

A prompt file is a `string.Template`: `$name` is filled in, `$$` is a dollar sign.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from string import Template


@lru_cache
def load(name: str) -> str:
    """The text of the prompt `name`. Raises FileNotFoundError for an unknown name."""
    return files(__name__).joinpath(f"{name}.txt").read_text(encoding="utf-8").strip()


def fill(name: str, **values: object) -> str:
    """The prompt `name` with every placeholder filled. Raises KeyError when one is missing."""
    return Template(load(name)).substitute(values)
