"""How a source is read: limits, defaults and what a sync may do. Values, no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.ingest.chunk import ChunkLimits
from bot.ingest.folder_rules import FolderRule
from bot.ingest.parse import Converter
from bot.ingest.reader import Reader, ReadingLimits
from graph.model import LEVELS, Access

MAX_FILE_BYTES = 10 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class SyncOptions:
    """`access` is what holds for documents that say nothing of their readers, unless one of
    `folders` fits them; `levels` are the audiences that they may name.

    A sync that would take `loss_files` or more files, and more than `loss_share` of those that are
    indexed, out of the index is refused unless `allow_loss` is set: an unmounted folder looks
    like a folder whose files were deleted.
    """

    access: Access = field(default_factory=Access)
    folders: tuple[FolderRule, ...] = ()
    levels: tuple[str, ...] = LEVELS
    location: str = ""  # of the source, for people
    links: str = ""  # what the source's links are made by, when that can change
    max_file_bytes: int = MAX_FILE_BYTES
    mask_secrets: bool = True
    converters: Mapping[str, Converter] = field(default_factory=dict)
    reader: Reader | None = None  # of PDF, Office and archives; without it they are skipped
    reading: ReadingLimits = field(default_factory=ReadingLimits)  # those of the reader
    in_process: int = 500_000  # characters; larger texts that need a converter go to the reader
    chunking: ChunkLimits = field(default_factory=ChunkLimits)
    loss_share: float = 0.5
    loss_files: int = 10
    allow_loss: bool = False
    batch: int = 32  # texts in one call of the embedder
    parallel: int = 4  # calls of the embedder at once
    gather: int = 128  # chunks collected from several files before they are embedded and stored
