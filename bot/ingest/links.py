"""Paths and names inside of links."""

from __future__ import annotations

_CONTROL = "".join(map(chr, (*range(32), 127)))
_ENDING = str.maketrans({ch: f"%{ord(ch):02X}" for ch in f' %#?()<>[]"`{_CONTROL}'})


def in_a_link(path: str) -> str:
    """With the characters escaped that end a link in Markdown, or mean something in an address."""
    return path.translate(_ENDING)
