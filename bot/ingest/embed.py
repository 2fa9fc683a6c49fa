"""Vectors for chunks: the text that is embedded, and how many calls run at once.

What a model cannot read (see adapters/embedding_text.py) is each embedder's own business.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from graph.ports import Embedder, Matrix

_FENCE = re.compile(r"^[ \t>]*(?:`{3,}|~{3,})[^\n]*$", re.MULTILINE)
_IMAGE_OR_LINK = re.compile(r"!?\[([^\]\n]{0,500})\]\([^)\n]{0,2000}\)")
_RULE = re.compile(r"^[ \t>|:+=-]*$", re.MULTILINE)  # rules, underlines, table borders
_LEAD = re.compile(r"^[ \t]*(?:[>*+-][ \t]+|#{1,6}[ \t]+|\d{1,9}[.)][ \t]+)+", re.MULTILINE)
_MARKS = re.compile(r"\*{1,3}|`+|~~|(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w)|\|")
_TAG = re.compile(r"</?[a-zA-Z][\w-]*(?:\s[^<>\n]{0,500})?/?>")


def plain(markdown: str) -> str:
    """The words of a Markdown text, code included, without its markup."""
    text = _FENCE.sub("", markdown)
    text = _IMAGE_OR_LINK.sub(r"\1", text)
    text = _LEAD.sub("", _RULE.sub("", text))
    text = _MARKS.sub(" ", _TAG.sub(" ", text))
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return "\n".join(line for line in lines if line)


def heading_line(title: str, head: Sequence[str]) -> str:
    """Title and heading path, each name once: what the chunk is about."""
    names: dict[str, str] = {}
    for name in (title, *head):
        if name:
            names.setdefault(name.casefold(), name)
    return " > ".join(names.values())


def passage_text(title: str, head: Sequence[str], markdown: str) -> str:
    """What is embedded for a chunk: its heading line and its words."""
    return f"{heading_line(title, head)}\n{plain(markdown)}".strip()


async def embed(embedder: Embedder, texts: Sequence[str], *, batch: int, parallel: int) -> Matrix:
    """One row a text, in order; at most `parallel` calls of `batch` texts at once.

    Raises EmbedderError of the first call that failed; the others are cancelled.
    """
    if not texts:
        return np.zeros((0, embedder.dimension), dtype=np.float32)
    free = asyncio.Semaphore(parallel)

    async def rows(part: Sequence[str]) -> Matrix:
        async with free:
            return await embedder.embed_passages(part)

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(rows(texts[start : start + batch]))
                for start in range(0, len(texts), batch)
            ]
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from errors
    return np.concatenate([task.result() for task in tasks])


async def embed_groups(
    embedder: Embedder, groups: Sequence[Sequence[str]], *, batch: int, parallel: int
) -> list[Matrix]:
    """The rows of each group, in order; batches go over the borders of groups. Raises like
    `embed`."""
    texts = [text for group in groups for text in group]
    rows = await embed(embedder, texts, batch=batch, parallel=parallel)
    ends = list(accumulate(len(group) for group in groups))
    return [rows[start:end] for start, end in zip([0, *ends], ends, strict=False)]
