"""One file becomes one document: decoded, masked, parsed, cut, with everything but its vectors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import PurePosixPath
from uuid import UUID, uuid5

from bot.ingest.chunk import ChunkText, chunks
from bot.ingest.converting import converters_for, masking
from bot.ingest.embed import heading_line, passage_text
from bot.ingest.encoding import decode
from bot.ingest.fingerprint import content
from bot.ingest.folder_rules import by_folder, narrowed
from bot.ingest.formats import (
    ARCHIVES,
    BINARY,
    DATA,
    is_encrypted_office,
    misnamed,
    suffix_of,
)
from bot.ingest.frontmatter import FrontMatter, read
from bot.ingest.options import SyncOptions
from bot.ingest.parse import (
    ConversionFailed,
    Converted,
    parse,
    parse_converted,
    readable_name,
)
from bot.ingest.planted import planted
from bot.ingest.reader import Refused
from bot.ingest.refusal import rejected
from bot.ingest.report import Problem, Reason
from bot.ingest.secrets import Masked, find
from bot.ingest.sections import Outline
from bot.ports import Chunk, Skipped, SourceFile
from graph.model import Access, Passage, Status
from graph.ports import Matrix
from graph.terms import Fields, TermCounts
from graph.text import has_words, normalise, tokens

_IDS = UUID("6f1c6a52-2f0b-5e0e-9d64-3b1d5c3c7a10")  # the namespace of chunk ids
_DETAIL = 300  # characters of a reason kept with a file's record


@dataclass(frozen=True, slots=True)
class Origin:
    """The source that a file is from. `uri` gives the link to a line of a path."""

    name: str
    access: Access
    uri: Callable[[str, int], str]


@dataclass(frozen=True, slots=True)
class Text:
    """A decoded file. `encoding` is empty for UTF-8. For a document that was `converted` as a
    whole, `text` is its Markdown."""

    file: SourceFile
    text: str
    encoding: str
    digest: str
    converted: Converted | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """A file ready to be embedded. `inputs[i]` is what the embedder gets for `passages[i]`."""

    file: SourceFile
    title: str
    access: Access
    passages: tuple[Passage, ...]
    fields: tuple[Fields, ...]
    inputs: tuple[str, ...]
    supersedes: tuple[str, ...]  # paths inside the source
    encoding: str = ""
    problems: tuple[Problem, ...] = ()
    masked: tuple[Problem, ...] = ()

    def chunks(self, vectors: Matrix) -> list[Chunk]:
        """What the index stores; `vectors` has one row a passage."""
        return [
            Chunk(p, self.access, fields, TermCounts.of(fields), vector, content_hash(p))
            for p, fields, vector in zip(self.passages, self.fields, vectors, strict=True)
        ]


def decoded(file: SourceFile, options: SyncOptions) -> Text | Skipped:
    """The text of a file with normalised line breaks, or why there is none."""
    if skipped := rejected(file, options):
        return skipped
    suffix = file.format or suffix_of(file.path)
    if skipped := _contradiction(file, suffix):
        return skipped
    if suffix in BINARY | ARCHIVES:
        return _read(file, suffix, options)
    return _of_text(file, suffix, options)


def _contradiction(file: SourceFile, suffix: str) -> Skipped | None:
    """Why the content of a file cannot be what its suffix says."""
    detail = misnamed(suffix, file.data)
    if is_encrypted_office(file.data):
        return Skipped(file.path, Reason.ENCRYPTED, "save it without a password")
    return Skipped(file.path, Reason.MISNAMED, detail) if detail else None


def _of_text(file: SourceFile, suffix: str, options: SyncOptions) -> Text | Skipped:
    result = decode(file.data, declared=suffix in (".html", ".htm"))
    if result.text is None:
        reason = Reason.BINARY if result.binary else Reason.ENCODING
        return Skipped(file.path, reason, "" if result.binary else "save it as UTF-8")
    text = normalise(result.text)
    if not text.strip():
        return Skipped(file.path, Reason.NO_TEXT, "empty")
    encoding = "" if result.encoding == "utf-8" else result.encoding
    converted = None
    if suffix in DATA and (converter := converters_for(suffix, text, options).get(suffix)):
        try:
            converted = converter(text)
        except ConversionFailed as error:
            return Skipped(file.path, Reason.BROKEN, str(error))
        text = converted.markdown
    return Text(file, text, encoding, content(file, text.encode()), converted)


def _read(file: SourceFile, suffix: str, options: SyncOptions) -> Text | Skipped:
    """A document that is no text, read by the reader. An archive that is met here could not be
    opened before: archives are taken for folders."""
    if options.reader is None or suffix in ARCHIVES:
        return Skipped(file.path, Reason.UNSUPPORTED, suffix)
    try:
        converted = options.reader.read(suffix, file.data)
    except Refused as error:
        return Skipped(file.path, error.reason, error.detail)
    text = normalise(converted.markdown)
    if not has_words(text):
        details = [issue.message for issue in converted.issues]
        return Skipped(file.path, Reason.NO_TEXT, "; ".join(details)[:_DETAIL] or "empty")
    mark = content(file, f"{text}\x1f{converted.title}\x1f{converted.anchors}".encode())
    return Text(file, text, "", mark, converted)


def document(
    source: Text, origin: Origin, options: SyncOptions, *, superseded: bool = False
) -> Document | Skipped:
    """The document of a decoded file, or why it holds nothing to index."""
    file = source.file
    text, hits = find(source.text) if options.mask_secrets else (source.text, ())
    about = read(text, options.levels)
    uncovered: list[Problem] = []
    if source.converted is not None:
        parsed = parse_converted(source.converted, text, about.first_line)
    else:
        converters = converters_for(suffix_of(file.path), text, options)
        if options.mask_secrets:
            converters = masking(converters, file.path, uncovered)
        parsed = parse(file.path, text, converters, about.first_line)
    pieces = chunks(parsed.outline, options.chunking)
    if not pieces:
        detail = "only front matter" if about.first_line > 1 else ""
        return Skipped(file.path, Reason.NO_TEXT, detail)
    title = file.title or about.title or parsed.outline.title or readable_name(file.path)
    access = about.over(by_folder(options.folders, origin.name, file.path, origin.access))
    if file.access is not None:
        access = narrowed(access, file.access, options.levels)
    if superseded:
        access = replace(access, status=Status.SUPERSEDED)
    return Document(
        file=file,
        title=title,
        access=access,
        passages=_passages(
            pieces, source=source, title=title, about=about, access=access, origin=origin
        ),
        fields=tuple(_fields(file.path, title, piece) for piece in pieces),
        inputs=tuple(passage_text(title, piece.head, piece.text) for piece in pieces),
        supersedes=targets(file.path, about.supersedes),
        encoding=source.encoding,
        problems=(
            *(Problem(file.path, i.line, i.message) for i in (*about.issues, *parsed.issues)),
            *planted(file.path, text),
        ),
        masked=(*(_masked(source, parsed.outline, hit) for hit in hits), *uncovered),
    )


def _masked(source: Text, outline: Outline, hit: Masked) -> Problem:
    """Where a secret was: the line of a text, or the place in a document without lines."""
    if source.converted is None:
        return Problem(source.file.path, hit.line, hit.kind)
    anchor = outline.anchor(hit.line - 1)
    return Problem(source.file.path, 0, f"{hit.kind} ({anchor})" if anchor else hit.kind)


def _uri(origin: Origin, source: Text, piece: ChunkText) -> str:
    """The link to a piece: to its line, or to its place in a document that has no lines. A link
    that is the same for each line leads into an archive, or to no line at all."""
    path, line = source.file.path, piece.lines[0]
    uri = origin.uri(path, line)
    if source.converted is None:
        return uri
    place = uri if uri == origin.uri(path, line + 1) else uri.partition("#")[0]
    if not piece.anchor:
        return place
    return f"{place}{'&' if '#' in place else '#'}{piece.anchor}"


def _passages(
    pieces: Sequence[ChunkText],
    *,
    source: Text,
    title: str,
    about: FrontMatter,
    access: Access,
    origin: Origin,
) -> tuple[Passage, ...]:
    file = source.file
    seen: Counter[tuple[str, ...]] = Counter()
    found: list[Passage] = []
    for piece in pieces:
        name = (access.tenant, origin.name, file.path, *piece.heading, str(seen[piece.heading]))
        seen[piece.heading] += 1
        found.append(
            Passage(
                id=str(uuid5(_IDS, "\x1f".join(name))),
                source=origin.name,
                source_type=access.source_type,
                document=file.path,
                title=title,
                heading=piece.heading,
                text=piece.text,
                uri=source.file.uri or _uri(origin, source, piece),
                lines=piece.lines,
                language=piece.language,
                version=about.version or file.version,
                updated_at=about.updated_at or file.updated_at,
                effective_from=access.effective_from,
                effective_until=access.effective_until,
                status=access.status,
                owner=about.owner,
                document_chunks=len(pieces),
                stub=piece.stub,
            )
        )
    return tuple(found)


def _fields(path: str, title: str, piece: ChunkText) -> Fields:
    place = PurePosixPath(path)
    return Fields(
        body=tuple(tokens(piece.text)),
        heading=tuple(tokens(heading_line(title, piece.head))),
        name=tuple(tokens(place.stem)),
        folders=tuple(tokens(" ".join(place.parent.parts))),
    )


def content_hash(passage: Passage) -> str:
    """The same for texts that differ in white space only; headings count."""
    text = "\x1f".join((*passage.heading, " ".join(passage.text.split())))
    return blake2b(text.encode(), digest_size=16).hexdigest()


def targets(path: str, names: Sequence[str]) -> tuple[str, ...]:
    """The paths that a document says it replaces, as they may be meant: beside it, or from the
    root of the source."""
    found: list[str] = []
    for name in names:
        beside = PurePosixPath(path).parent / name
        found += [_folded(beside), _folded(PurePosixPath(name.lstrip("/")))]
    return tuple(dict.fromkeys(target for target in found if target != path))


def _folded(path: PurePosixPath) -> str:
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            parts = parts[:-1]
        elif part != ".":
            parts.append(part)
    return "/".join(parts)
