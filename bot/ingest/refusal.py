"""Which files are not read: by their name, by their size, or because their content is elsewhere."""

from __future__ import annotations

import re
from functools import lru_cache

from bot.ingest.formats import ARCHIVES, BINARY, BINARY_SHARE, REMEDIES, suffix_of
from bot.ingest.options import SyncOptions
from bot.ingest.parse import supported
from bot.ingest.report import Reason
from bot.ingest.secrets import is_secret_file
from bot.ports import Skipped, SourceFile

_LFS = re.compile(rb"version https://git-lfs\.github\.com/spec/v\d+\r?\n(?:[a-z].*\r?\n?){1,8}\Z")
_IN_A_FOLDER = "run `git lfs pull`"
_IN_A_REPOSITORY = "keep documents out of LFS, or read a checkout as a folder"
POINTER_BYTES = 1024  # a larger file is no LFS pointer
_NAMES = 4096  # names whose judgement is kept: a source asks, and then the sync


def refusal(path: str, size: int, options: SyncOptions, form: str = "") -> Skipped | None:
    """Why a file of `size` bytes is not even read, by its name or its size. `form` is the suffix
    that holds in place of its own."""
    suffix, skipped = _by_name(path, form)
    if skipped is not None:
        return skipped
    limit = options.max_file_bytes
    if suffix in BINARY | ARCHIVES:
        limit *= BINARY_SHARE
    if size > limit:
        return Skipped(path, Reason.TOO_LARGE, f"{size} bytes, limit {limit}")
    return None


@lru_cache(maxsize=_NAMES)
def _by_name(path: str, form: str) -> tuple[str, Skipped | None]:
    """The suffix that holds, and why no file of that name is read."""
    suffix = form or suffix_of(path)
    if not form and is_secret_file(path):
        return suffix, Skipped(path, Reason.SECRET_FILE)
    if not (form or supported(path)):
        detail = f"{suffix}, {REMEDIES[suffix]}" if suffix in REMEDIES else suffix
        return suffix, Skipped(path, Reason.UNSUPPORTED, detail)
    return suffix, None


def is_pointer(data: bytes) -> bool:
    """True for what Git LFS leaves in place of a file whose content was not fetched."""
    return len(data) < POINTER_BYTES and _LFS.match(data) is not None


def rejected(file: SourceFile, options: SyncOptions) -> Skipped | None:
    """Why a file is not decoded: its name, its size, or a content that was not fetched."""
    skipped = refusal(file.path, len(file.data), options, file.format)
    if is_pointer(file.data) and (skipped is None or skipped.reason == Reason.UNSUPPORTED):
        remedy = _IN_A_REPOSITORY if file.revision else _IN_A_FOLDER
        return Skipped(file.path, Reason.LFS_POINTER, remedy)
    return skipped
