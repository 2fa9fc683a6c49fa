"""Paths and names inside of links."""

from __future__ import annotations

_ENDING = str.maketrans({ch: f"%{ord(ch):02X}" for ch in ' %#?()<>[]"`'})


def in_a_link(path: str) -> str:
    """With the characters escaped that end a link in Markdown, or mean something in an address."""
    return path.translate(_ENDING)
