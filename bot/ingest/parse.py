"""From the text of a file to its outline, by the file's suffix.

Formats that need a vendor's parser (HTML, reStructuredText) are converted to Markdown by the
converters that the caller passes in; what cannot be parsed is indexed as plain text, with a note.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Protocol

import yaml

from bot.ingest.dialects import common_markdown
from bot.ingest.footnotes import with_footnotes
from bot.ingest.formats import CONFIG, MARKDOWN, SUFFIXES, WEB, suffix_of
from bot.ingest.frontmatter import Issue
from bot.ingest.html_blocks import plain_blocks
from bot.ingest.markdown import Block, Kind, plain_title, without_comments
from bot.ingest.origins import origins
from bot.ingest.sections import Outline, Section, judge, outline
from graph.text import normalise

_CHECKED = 1_000_000  # characters; a larger file is not checked for being well-formed
_YAML_KEY = re.compile(r"""["']?([^\s"'#:\[{&*!|>%@`-][^"':#]{0,80}?)["']?\s*:(?:\s|$)""")
_JSON_KEY = re.compile(r"""(\s*)"([^"]{1,80})"\s*:""")
_TOML_TABLE = re.compile(r"\s*\[{1,2}\s*([^\]]{1,80}?)\s*\]{1,2}")
_CONTROL = dict.fromkeys((*range(9), 11, 12, *range(14, 32), *range(127, 160))) | {13: " "}


class ConversionFailed(Exception):
    """A converter could not make sense of a file."""


@dataclass(frozen=True, slots=True)
class Converted:
    """A document as Markdown. `title` is what the format itself calls the title; the text begins
    at `first_line` of the file.

    `anchors` are places in the original: the line of the Markdown (from 0) at which each begins,
    and what a link to it ends in, such as `page=3`. `breaks` are the lines at which a new page
    begins; no chunk reaches over them.
    """

    markdown: str
    title: str = ""
    first_line: int = 1
    issues: tuple[Issue, ...] = ()
    anchors: tuple[tuple[int, str], ...] = ()
    breaks: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Entities and escapes of a format can write any character: none is left that moves the
        cursor of a terminal, or hides what is beside it. Lines keep their numbers."""
        for name, text in (("markdown", self.markdown), ("title", self.title)):
            object.__setattr__(self, name, normalise(text.translate(_CONTROL)))


class Converter(Protocol):
    """Turns the text of one format into Markdown."""

    def __call__(self, text: str) -> Converted:
        """Raises ConversionFailed. Never reads another file and never opens an address."""


@dataclass(frozen=True, slots=True)
class Parsed:
    outline: Outline
    issues: tuple[Issue, ...] = ()


def supported(path: str) -> bool:
    """True for known suffixes and for names without any, such as README."""
    return suffix_of(path) in SUFFIXES or not suffix_of(path)


def readable_name(path: str) -> str:
    """A title for a document that has none: its file name as words."""
    stem = PurePosixPath(path).stem
    printable = "".join(ch if ch.isprintable() else " " for ch in stem)
    words = " ".join(re.sub(r"[-_]+", " ", printable).split())
    return words[:1].upper() + words[1:] if words else path


def parse(path: str, text: str, converters: Mapping[str, Converter], first_line: int = 1) -> Parsed:
    """The outline of a document. `text` has normalised line breaks; what stands above
    `first_line` (front matter) is left out, and line numbers still match the file."""
    lines = text.split("\n")
    body = "\n".join([""] * (first_line - 1) + lines[first_line - 1 :])
    suffix = suffix_of(path)
    if suffix in MARKDOWN or (not suffix and PurePosixPath(path).name.upper() == "README"):
        return _markdown(body, converters.get(".html"))
    if suffix in CONFIG:
        return _config(body, CONFIG[suffix])
    if suffix in WEB:
        converter = converters.get(suffix)
        if converter is not None:
            return _converted(body, converter)
    return Parsed(_plain(body))


def parse_converted(converted: Converted, markdown: str, first_line: int = 1) -> Parsed:
    """The outline of a document that was read as a whole; `markdown` is its text with secrets
    masked, line by line the same, and what stands above `first_line` is left out."""
    lines = markdown.split("\n")
    body = "\n".join([""] * (first_line - 1) + lines[first_line - 1 :])
    parsed = outline(body, breaks=converted.breaks)
    top = [section for section in parsed.sections if section.level == 1]
    named = plain_title(converted.title)
    title = parsed.title if len(top) == 1 or not named else named
    return Parsed(replace(parsed, title=title, anchors=converted.anchors), converted.issues)


def _plain(text: str) -> Outline:
    """Plain text: paragraphs, no headings."""
    lines = text.split("\n")
    found: list[Block] = []
    start = 0
    for index, line in enumerate(lines):
        if not line.strip() and index > start and lines[index - 1].strip():
            found.append(Block(Kind.PROSE, start, index + 1))
            start = index + 1
    if start < len(lines):
        found.append(Block(Kind.PROSE, start, len(lines)))
    section = Section((), 0, 0, len(lines), tuple(found))
    return Outline(tuple(lines), judge([section], lines))


def _markdown(text: str, html: Converter | None) -> Parsed:
    """Markdown without the marks of its dialects; blocks of HTML in it by the converter of HTML."""
    plain = with_footnotes(without_comments(common_markdown(text)))
    if html is None:
        return Parsed(outline(plain))
    try:
        return Parsed(outline(*plain_blocks(plain, lambda block: html(block).markdown)))
    except ConversionFailed:
        return Parsed(outline(plain))


def _converted(text: str, converter: Converter) -> Parsed:
    try:
        converted = converter(text)
    except ConversionFailed as error:
        return Parsed(_plain(text), (Issue(0, f"indexed as plain text: {error}"),))
    numbers = origins(converted.markdown.split("\n"), text.split("\n"), converted.first_line - 1)
    parsed = outline(converted.markdown, numbers)
    title = plain_title(converted.title)
    return Parsed(replace(parsed, title=parsed.title or title), converted.issues)


def _config(text: str, language: str) -> Parsed:
    """Structured text as it stands, never loaded: aliases stay aliases, tags stay text."""
    lines = text.split("\n")
    starts = _KEYS[language](lines)
    if not starts or starts[0][0] > 0:
        starts.insert(0, (0, ""))
    sections = []
    for position, (start, name) in enumerate(starts):
        end = starts[position + 1][0] if position + 1 < len(starts) else len(lines)
        block = Block(Kind.OTHER, start, end)
        sections.append(Section((name,) if name else (), 2 if name else 0, start, end, (block,)))
    parsed = Outline(tuple(lines), judge(sections, lines), fence=language)
    return Parsed(parsed, _check(text, language))


def _yaml_keys(lines: Sequence[str]) -> list[tuple[int, str]]:
    return [
        (index, match.group(1))
        for index, line in enumerate(lines)
        if (match := _YAML_KEY.match(line))
    ]


def _toml_keys(lines: Sequence[str]) -> list[tuple[int, str]]:
    return [
        (index, match.group(1))
        for index, line in enumerate(lines)
        if (match := _TOML_TABLE.fullmatch(line.split("#")[0]))
    ]


def _json_keys(lines: Sequence[str]) -> list[tuple[int, str]]:
    """Keys that are indented like the first one."""
    found = [(index, match) for index, line in enumerate(lines) if (match := _JSON_KEY.match(line))]
    indent = found[0][1].group(1) if found else ""
    return [(index, match.group(2)) for index, match in found if match.group(1) == indent]


_KEYS: Mapping[str, Callable[[Sequence[str]], list[tuple[int, str]]]] = {
    "yaml": _yaml_keys,
    "toml": _toml_keys,
    "json": _json_keys,
}


def _check(text: str, language: str) -> tuple[Issue, ...]:
    """A note when the text is not well-formed. YAML is only scanned: events, no objects."""
    if len(text) > _CHECKED or not text.strip():
        return ()
    try:
        if language == "yaml":
            for _ in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
                pass
        elif language == "toml":
            tomllib.loads(text)
        else:
            json.loads(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        return (Issue(line, "not valid YAML, indexed as text"),)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 0)
        return (Issue(line, f"not valid {language.upper()}, indexed as text"),)
    return ()
