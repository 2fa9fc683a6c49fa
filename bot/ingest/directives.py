"""MyST and Quarto as the plainer dialects that bot/ingest/dialects.py knows.

A directive is a fence with a name in braces: a box, a tab, a code block, or what only a site
generator needs. Line counts stay, and so does whatever stands in code.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

_HINT = re.compile(
    r"^[ \t]*(?:`{3,}|~{3,}|:{3,})[ \t]*\{|\{[a-z][\w:-]*\}`|^\([\w:.-]+\)=[ \t]*$", re.MULTILINE
)
_OPEN = re.compile(
    r"^(?P<indent>[ \t]*)(?P<mark>`{3,}|~{3,}|:{3,})[ \t]*"
    r"(?:\{(?P<inside>[^{}\n]*)\})?[ \t]*(?P<rest>[^`\n]*?)[ \t]*:*[ \t]*$"
)
_END = re.compile(r"^[ \t]*(`{3,}|~{3,}|:{3,})[ \t]*$")
_NAME = re.compile(r"^[.=]?([A-Za-z][\w:+-]*)")
_CLASS = re.compile(r"\.([A-Za-z][\w-]*)")
_TITLE = re.compile(r"""\btitle=(?:"([^"]*)"|'([^']*)')""")
_OPTION = re.compile(r"^[ \t]*:([\w-]+):(?:[ \t]+(.*?))?[ \t]*$")
_HEADING = re.compile(r"^[ \t]*#{1,6}[ \t]+(.+?)[ \t]*#*$")
_TARGET = re.compile(r"^\([\w:.-]+\)=[ \t]*$")
_ROLE = re.compile(
    r"(?P<code>(?<!`)(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`))"
    r"|\{(?P<role>[a-z][\w:-]*)\}(?P<mark>`+)(?P<text>[^`\n]+?)(?P=mark)"
)
_BEHIND = re.compile(r"^(.*?)\s*<[^<>]+>$")

_CODE = frozenset({"code-block", "code", "sourcecode", "code-cell", "prompt", "parsed-literal"})
_BOXES = frozenset(
    {"note", "info", "tip", "hint", "important", "warning", "caution", "danger", "error",
     "attention", "seealso", "todo", "admonition", "dropdown", "details", "deprecated",
     "versionadded", "versionchanged", "success", "question", "example", "bug"}
)  # fmt: skip
_TITLED = frozenset({"tab-item", "tab", "card", "grid-item-card", "topic", "sidebar", "margin"})
_BARE = frozenset(
    {"tab-set", "grid", "grid-item", "figure", "glossary", "list-table", "csv-table", "table",
     "div", "epigraph", "pull-quote", "highlights", "container", "exercise", "solution", "only"}
)  # fmt: skip
_GONE = frozenset(
    {"toctree", "include", "literalinclude", "image", "raw", "contents", "tableofcontents",
     "bibliography", "highlight", "index", "eval-rst", "mermaid-config", "autosummary"}
)  # fmt: skip
_SHOWN = {"dropdown": "details", "versionadded": "new", "versionchanged": "new"}
_LITERAL = frozenset({"code", "kbd", "command", "file", "program", "option", "envvar", "literal"})
_CALLOUT = "callout-"
_DEPTH = 12  # fences inside fences

Kind = Literal["box", "titled", "bare", "gone", "code", "native"]


@dataclass(slots=True)
class _Fence:
    """An open directive. `options` are the lines below it that only its renderer needs."""

    kind: Kind
    line: int
    indent: str
    mark: str
    name: str = ""
    title: str = ""
    options: int = 0

    def fits(self, mark: str) -> bool:
        return mark[0] == self.mark[0] and len(mark) >= len(self.mark)


def plain_directives(text: str) -> str:
    """`text` with its directives as `:::` boxes and fences, line by line."""
    if _HINT.search(text) is None:
        return text
    return "\n".join(_Lines(text.split("\n")).rendered())


class _Lines:
    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._found = list(lines)
        self._open: list[_Fence] = []

    def rendered(self) -> list[str]:
        """A directive that never ends stays as it is written."""
        for at, line in enumerate(self._lines):
            self._take(at, line)
        return self._found

    def _take(self, at: int, line: str) -> None:
        top = self._open[-1] if self._open else None
        inside_code = top is not None and top.kind in ("code", "gone")
        if (end := _END.match(line)) and self._ended(at, end[1], inside_code=inside_code):
            return
        if inside_code or (top is not None and at <= top.line + top.options):
            return
        opening = _OPEN.match(line)
        if opening is not None and not (_END.match(line) and line.lstrip()[0] == ":"):
            self._open.append(self._begun(at, opening))
        elif _TARGET.match(line):
            self._found[at] = ""
        else:
            self._found[at] = _ROLE.sub(_role, line)

    def _begun(self, at: int, opening: re.Match[str]) -> _Fence:
        indent, mark, inside, rest = opening.group("indent", "mark", "inside", "rest")
        fence = _Fence("native" if mark[0] == ":" else "code", at, indent, mark)
        if inside is None:
            return fence
        first = _NAME.match(inside.strip())
        fence.name = first[1].lower() if first else ""
        if mark[0] == ":" and (_CLASS.search(inside) or not first):
            self._div(fence, inside)
        else:
            fence.kind, fence.title = _kind(fence.name, mark), rest
            if fence.kind != "code" or fence.name in _CODE:  # a cell of Quarto begins with its code
                self._read_options(fence)
        return fence

    def _div(self, fence: _Fence, inside: str) -> None:
        """Pandoc and Quarto: `::: {.callout-warning title="Loss"}`, or a heading as the title."""
        names = [name.lower().removeprefix(_CALLOUT) for name in _CLASS.findall(inside)]
        fence.name = next((name for name in names if name in _BOXES), "")
        fence.kind = "box" if fence.name else "bare"
        given = _TITLE.search(inside)
        fence.title = (given[1] or given[2] or "") if given else ""
        below = self._lines[fence.line + 1 : fence.line + 2]
        heading = _HEADING.match(below[0]) if below else None
        if fence.name and not fence.title and heading:
            fence.title, fence.options = heading[1], 1

    def _read_options(self, fence: _Fence) -> None:
        """MyST: lines `:class: warning` below the opening, or a block of YAML."""
        at = fence.line + 1
        if at < len(self._lines) and self._lines[at].strip() == "---":
            ends = (n for n in range(at + 1, len(self._lines)) if self._lines[n].strip() == "---")
            fence.options = next(ends, fence.line) - fence.line
            return
        while at < len(self._lines) and (option := _OPTION.match(self._lines[at])):
            names = [name for name in (option[2] or "").lower().split() if name in _BOXES]
            if option[1] == "class" and fence.name == "admonition" and names:
                fence.name = names[0]
            at += 1
        fence.options = at - fence.line - 1

    def _ended(self, at: int, mark: str, *, inside_code: bool) -> bool:
        """Whether the line ends a fence; what was left open inside ends as well."""
        count = len(self._open)
        near = range(max(count - _DEPTH, 0), count)
        fits = [n for n in near if self._open[n].fits(mark)]
        same = [n for n in fits if len(self._open[n].mark) == len(mark)]
        if not fits or (inside_code and fits[-1] != count - 1):
            return False
        place = fits[-1] if inside_code else (same or fits)[-1]
        fence = self._open[place]
        del self._open[place:]
        self._write(fence, at, mark)
        return True

    def _write(self, fence: _Fence, end: int, mark: str) -> None:
        if fence.kind == "native" or not (fence.name or fence.kind == "bare"):
            return
        for line in range(fence.line + 1, fence.line + 1 + fence.options):
            self._found[line] = ""
        colons = ":" * len(fence.mark)
        indent, last = fence.indent, ""
        if fence.kind == "box":
            title = f"[{fence.title}]" if fence.title else ""
            first, last = f"{colons}{_SHOWN.get(fence.name, fence.name)}{title}", colons
        elif fence.kind == "code":
            character = "~" if fence.mark[0] == ":" else fence.mark[0]
            language = fence.title.split()[0] if fence.title and fence.name in _CODE else ""
            language = language if fence.name in _CODE else fence.name
            first = character * len(fence.mark) + language
            last = character * max(len(fence.mark), len(mark))
        else:
            first = f"**{fence.title}:**" if fence.title and fence.kind == "titled" else ""
        if fence.kind == "gone":
            self._found[fence.line : end] = [""] * (end - fence.line)
        self._found[fence.line] = f"{indent}{first}" if first else ""
        self._found[end] = f"{indent}{last}" if last else ""


def _kind(name: str, mark: str) -> Kind:
    if name in _BOXES:
        return "box"
    if name in _TITLED:
        return "titled"
    if name in _GONE:
        return "gone"
    if name in _BARE or (mark[0] == ":" and name not in _CODE):
        return "bare"
    return "code"


def _role(match: re.Match[str]) -> str:
    """Sphinx roles by the text that a reader sees."""
    if match["code"] is not None:
        return match[0]
    if match["role"].rpartition(":")[2] in _LITERAL:
        return f"`{match['text']}`"
    behind = _BEHIND.match(match["text"])
    return behind[1] if behind and behind[1] else match["text"].lstrip("~!")
