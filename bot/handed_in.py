"""Handing in documents: what was understood of one, before anything is kept or published."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from bot.app import Library
from bot.errors import SourceError
from bot.ingest.document import Origin, Text, decoded, document
from bot.ingest.options import SyncOptions
from bot.ingest.refusal import refusal
from bot.ingest.report import Reason
from bot.ingest.secrets import mask
from bot.kept import NAMES
from bot.library import reading
from bot.ports import Skipped, SourceFile
from bot.settings import Settings
from bot.twins import Probe, probes
from graph.model import Access, SourceType

_REMEDIES: dict[str, str] = {
    Reason.NO_TEXT: "Hand in a file with text in it; a scan needs a text layer.",
    Reason.BINARY: "Save it as Markdown, text or another format that Belay reads.",
    Reason.ENCODING: "Save it as UTF-8.",
    Reason.TOO_LARGE: "Split it, or raise [ingest] max_file_bytes.",
    Reason.UNSUPPORTED: "Save it as Markdown, text or another format that Belay reads.",
    Reason.SECRET_FILE: "Files of keys and passwords are never indexed.",
}


class NotTaken(SourceError):
    """There is nothing to index in a file. `skipped` says why, as a sync would."""

    def __init__(self, skipped: Skipped) -> None:
        detail = f" ({skipped.detail})" if skipped.detail else ""
        remedy = _REMEDIES.get(skipped.reason, "Hand in another file.")
        super().__init__(f"{skipped.path!r} was not taken: {skipped.reason}{detail}.", remedy)
        self.skipped = skipped


@dataclass(frozen=True, slots=True)
class Understood:
    """What a document would be: its sections in order, what was masked or could not be read, who
    may read it. `probes` are what to look for elsewhere."""

    title: str
    sections: tuple[str, ...]
    passages: int
    problems: tuple[str, ...] = ()
    masked: int = 0
    access: Access = field(default_factory=Access)
    probes: tuple[Probe, ...] = ()

    def lines(self) -> list[str]:
        found = [f"title: {self.title}", f"sections: {len(self.sections)}"]
        found += [f"  {name}" for name in self.sections]
        found += [f"problem: {problem}" for problem in self.problems]
        if self.masked:
            found.append(f"secrets masked: {self.masked}")
        return found


async def understand(library: Library, kind: SourceType, file: SourceFile) -> Understood:
    """Reads `file` as a sync would. Raises NotTaken when there is nothing to index in it."""
    return await asyncio.to_thread(_understand, library, kind, file)


def _understand(library: Library, kind: SourceType, file: SourceFile) -> Understood:
    with reading(library.settings) as options:
        text = _decoded(file, options)
        found = document(text, Origin(NAMES[kind], options.access, _nowhere), options)
    if isinstance(found, Skipped):
        raise NotTaken(found)
    headings = (" › ".join(item.heading) for item in found.passages if item.heading)
    return Understood(
        title=found.title,
        sections=tuple(dict.fromkeys(headings)),
        passages=len(found.passages),
        problems=tuple(
            f"line {item.line}: {item.message}" if item.line else item.message
            for item in found.problems
        ),
        masked=len(found.masked),
        access=found.access,
        probes=probes(found),
    )


def check_name(settings: Settings, name: str, size: int) -> None:
    """What a name and a size in bytes tell before a file is fetched. Raises NotTaken."""
    skipped = refusal(name, size, SyncOptions(max_file_bytes=settings.ingest.max_file_bytes))
    if skipped is not None:
        raise NotTaken(skipped)


async def text_of(settings: Settings, file: SourceFile) -> str:
    """The text of a document, whatever its format; secrets are masked. Raises NotTaken."""

    def read() -> str:
        with reading(settings) as options:
            return mask(_decoded(file, options).text)

    return await asyncio.to_thread(read)


def _decoded(file: SourceFile, options: SyncOptions) -> Text:
    text = decoded(file, options)
    if isinstance(text, Skipped):
        raise NotTaken(text)
    return text


def _nowhere(path: str, line: int) -> str:
    return f"{path}#L{line}"
