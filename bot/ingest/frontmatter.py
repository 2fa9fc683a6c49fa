"""Front matter: what a document says of itself, its readers above all.

A value that cannot be read must not open a document. When the block, or a value in it that
decides who may read, is unreadable, the document goes to the highest audience only; its text is
still indexed and the report names file and line.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time
from typing import Any

import yaml

from graph.model import LEVELS, Access, Status

MAX_BLOCK = 64 * 1024  # characters
_MAX_ALIASES = 32
_MAX_DEPTH = 32
_MAX_VALUE = 500  # characters of one value

_FENCE = {"---": ("---", "..."), "+++": ("+++",)}
_KEY = re.compile(r"[A-Za-z_][\w-]*\s*[:=](?:\s|$)")
_NAMED = re.compile(r"^\W*(?:tenant|audience|labels|effective_(?:from|until))\W*[:=]", re.M | re.I)
_TITLE = re.compile(r"""^title\s*[:=]\s*["']?(.+?)["']?\s*$""", re.MULTILINE)

_STATUS = {
    Status.PUBLISHED: "published active current approved accepted final stable live done "
    "опубликован опубликовано действует утверждён утвержден",
    Status.DRAFT: "draft wip proposed review rejected черновик проект",
    Status.SUPERSEDED: "superseded deprecated obsolete archived retired replaced outdated "
    "устарел устарело архив отменён отменен заменён заменен",
}
_STATUS_OF = {word: status for status, words in _STATUS.items() for word in words.split()}
_ACCESS_KEYS = frozenset({"tenant", "audience", "labels", "effective_from", "effective_until"})


class _Unreadable(Exception):
    """`line` counts from 1 at the first line after the opening fence; 0 when unknown."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True, slots=True)
class Issue:
    line: int  # in the file, from 1
    message: str


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """`first_line` is where the body starts in the file, from 1. `hidden` is set when something
    that decides who may read could not be understood."""

    first_line: int = 1
    title: str = ""
    owner: str = ""
    version: str = ""
    updated_at: datetime | None = None
    supersedes: tuple[str, ...] = ()
    access: Mapping[str, Any] = field(default_factory=dict)
    issues: tuple[Issue, ...] = ()
    hidden: bool = False

    def over(self, default: Access) -> Access:
        """Who may read the document: its own words over the default of its place."""
        return replace(default, **self.access)


def read(text: str, levels: Sequence[str] = LEVELS) -> FrontMatter:
    """The front matter of `text` (normalised line breaks): YAML, TOML or JSON; empty without any.

    `levels` are the audiences there are, lowest first.
    """
    above = len(text) - len(text.lstrip("\n"))
    about = _read(text[above:], levels)
    if above:
        about = _below(about, above)
    if not about.hidden:
        return about
    closed = {"audience": levels[-1], "labels": frozenset()}
    return replace(about, access={**about.access, **closed})


def _read(text: str, levels: Sequence[str]) -> FrontMatter:
    lines = text.split("\n")
    mark = lines[0].rstrip()
    if mark == "{":
        return _of_json(lines, levels)
    if mark not in _FENCE:
        return FrontMatter()
    end = _closing(lines, mark)
    if end is None:
        return _unclosed(lines)
    block = "\n".join(lines[1:end])
    body = end + 2
    try:
        values, places = _load(block, mark)
    except _Unreadable as error:
        issue = Issue(error.line + 1 if error.line else 1, f"front matter: {error}")
        title = _TITLE.search(block[:MAX_BLOCK])
        return FrontMatter(
            body, title.group(1)[:_MAX_VALUE] if title else "", issues=(issue,), hidden=True
        )
    if values is None:  # prose between two rules
        return FrontMatter()
    return _Reader(values, places, levels).front_matter(body)


def _of_json(lines: list[str], levels: Sequence[str]) -> FrontMatter:
    """Hugo's third form: an object above a text. Without a text below it the file is JSON."""
    end = next((n for n, line in enumerate(lines) if line.rstrip() == "}"), None)
    if end is None or not any(line.strip() for line in lines[end + 1 :]):
        return FrontMatter()
    block = "\n".join(lines[: end + 1])
    try:
        values = json.loads(block) if len(block) <= MAX_BLOCK else None
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        issue = Issue(1, "front matter: not valid JSON")
        return FrontMatter(end + 2, issues=(issue,), hidden=True)
    known = {str(key).lower(): value for key, value in values.items()}
    return _Reader(known, {}, levels).front_matter(end + 2)


def _below(about: FrontMatter, above: int) -> FrontMatter:
    """A block under blank lines is none for most programs; one that names readers is heeded."""
    if not (about.access or about.hidden):
        return FrontMatter()
    issues = tuple(replace(issue, line=issue.line + above) for issue in about.issues)
    return replace(about, first_line=about.first_line + above, issues=issues)


def _closing(lines: list[str], mark: str) -> int | None:
    size = 0
    for index, line in enumerate(lines[1:], start=1):
        if line.rstrip() in _FENCE[mark]:
            return index
        size += len(line) + 1
        if size > MAX_BLOCK:
            break
    return None


def _unclosed(lines: list[str]) -> FrontMatter:
    """A rule at the top of a page, unless it looks like a block that somebody forgot to close."""
    following = next((line for line in lines[1:] if line.strip()), "")
    if not _KEY.match(following):
        return FrontMatter()
    issue = Issue(1, "front matter: no closing line, or too long")
    return FrontMatter(2, issues=(issue,), hidden=True)


def _load(block: str, mark: str) -> tuple[dict[str, Any] | None, dict[str, int]]:
    return _load_toml(block) if mark == "+++" else _load_yaml(block)


def _load_toml(block: str) -> tuple[dict[str, Any], dict[str, int]]:
    try:
        values = tomllib.loads(block)
    except (ValueError, RecursionError) as error:  # numbers without end, too
        match = re.search(r"line (\d+)", str(error))
        raise _Unreadable("not valid TOML", int(match.group(1)) if match else 0) from error
    places: dict[str, int] = {}
    for number, line in enumerate(block.split("\n"), start=1):
        if match := re.match(r"""["']?([\w-]+)["']?\s*=""", line):
            places.setdefault(match.group(1).lower(), number)
    return values, places


def _load_yaml(block: str) -> tuple[dict[str, Any] | None, dict[str, int]]:
    """Every scalar stays a string: `2026-02-31` is then one wrong date, not a broken block."""
    try:
        _check_size(block)
        node = yaml.compose(block, Loader=yaml.BaseLoader)
        if node is None:
            return {}, {}
        if not isinstance(node, yaml.MappingNode):
            if isinstance(node, yaml.ScalarNode) and not _NAMED.search(block):
                return None, {}
            raise _Unreadable("not a list of keys and values", 1)
        places = _places(node)
        values = yaml.load(block, Loader=yaml.BaseLoader)  # noqa: S506 - builds strings only
    except yaml.MarkedYAMLError as error:
        place = error.problem_mark or error.context_mark
        raise _Unreadable("not valid YAML", place.line + 1 if place else 0) from error
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError) as error:
        raise _Unreadable("not valid YAML") from error
    return {str(key).lower(): value for key, value in values.items()}, places


def _check_size(block: str) -> None:
    """Refuses what would grow when read: many aliases, or deep nesting."""
    aliases = depth = 0
    for event in yaml.parse(block, Loader=yaml.BaseLoader):
        aliases += isinstance(event, yaml.AliasEvent)
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if aliases > _MAX_ALIASES or depth > _MAX_DEPTH:
            line = event.start_mark.line + 1 if event.start_mark else 0
            raise _Unreadable("too many aliases or too deep", line)


def _places(node: yaml.MappingNode) -> dict[str, int]:
    places: dict[str, int] = {}
    for key, _ in node.value:
        name = str(key.value).lower()
        line = key.start_mark.line + 1
        if name in places and name in _ACCESS_KEYS:
            raise _Unreadable(f"`{name}` stands twice", line)
        places[name] = line
    return places


class _Reader:
    """Takes known keys from a block and keeps a list of those it could not read."""

    def __init__(
        self, values: Mapping[str, Any], places: Mapping[str, int], levels: Sequence[str]
    ) -> None:
        self._values = values
        self._levels = levels
        self._places = places
        self._issues: list[Issue] = []
        self._hidden = False

    def front_matter(self, first_line: int) -> FrontMatter:
        access = {
            name: value
            for name, value in (
                ("tenant", self._access_text("tenant")),
                ("audience", self._audience()),
                ("labels", self._labels()),
                ("status", self._status()),
                ("effective_from", self._moment("effective_from")),
                ("effective_until", self._moment("effective_until")),
            )
            if value is not None
        }
        return FrontMatter(
            first_line,
            title=self._text("title"),
            owner=self._text("owner"),
            version=self._text("version"),
            updated_at=self._moment("updated_at"),
            supersedes=self._names("supersedes") or (),
            access=access,
            issues=tuple(self._issues),
            hidden=self._hidden,
        )

    def _wrong(self, key: str, message: str) -> None:
        self._issues.append(Issue(self._places.get(key, 0) + 1, f"`{key}` {message}"))
        self._hidden = self._hidden or key in _ACCESS_KEYS

    def _text(self, key: str) -> str:
        value = self._values.get(key)
        if value is None:
            return ""
        if isinstance(value, str | int | float | date):
            return " ".join(str(value).split())[:_MAX_VALUE]
        self._wrong(key, "is not a text")
        return ""

    def _access_text(self, key: str) -> str | None:
        if key in self._values and not isinstance(self._values[key], str):
            self._wrong(key, "is not a text")
            return None
        return self._text(key) or None

    def _audience(self) -> str | None:
        if "audience" not in self._values:
            return None
        level = str(self._values["audience"]).strip().lower()
        if level in self._levels:
            return level
        self._wrong("audience", f"is none of {', '.join(self._levels)}")
        return None

    def _names(self, key: str) -> tuple[str, ...] | None:
        value = self._values.get(key)
        if isinstance(value, str):
            value = value.split(",")
        if isinstance(value, list) and all(isinstance(item, str | int) for item in value):
            return tuple(name for item in value if (name := str(item).strip()[:_MAX_VALUE]))
        if key in self._values:
            self._wrong(key, "is not a list of names")
        return None

    def _labels(self) -> frozenset[str] | None:
        names = self._names("labels")
        if names == ():
            self._wrong("labels", "is empty")
            return None
        return frozenset(names) if names else None

    def _status(self) -> Status | None:
        text = self._text("status")
        if not text:
            return None
        status = _STATUS_OF.get(text.split()[0].lower().strip(".,:;"))
        if status is None:
            self._wrong("status", "is not known; the document counts as published")
        return status

    def _moment(self, key: str) -> datetime | None:
        value = self._values.get(key)
        if isinstance(value, str) and value.strip():
            try:
                value = datetime.fromisoformat(value.strip())
            except ValueError:
                self._wrong(key, "is not a date (YYYY-MM-DD)")
                return None
        if isinstance(value, datetime):
            return value if value.tzinfo else value.replace(tzinfo=UTC)
        if isinstance(value, date):
            return datetime.combine(value, time(), UTC)
        if value not in (None, ""):
            self._wrong(key, "is not a date (YYYY-MM-DD)")
        return None
