"""Lua that Redis runs in one step."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Script:
    """It gets one key, under which all others lie."""

    text: str

    @property
    def digest(self) -> str:
        return hashlib.sha1(self.text.encode(), usedforsecurity=False).hexdigest()


def script(*names: str, when_full: bool = False) -> Script:
    """One script from files of this folder. `when_full`: it also runs when the memory is full."""
    body = "".join(files(__package__).joinpath(name).read_text(encoding="utf-8") for name in names)
    return Script(f"#!lua{' flags=allow-oom' if when_full else ''}\n{body}")
