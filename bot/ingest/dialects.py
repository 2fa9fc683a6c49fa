"""Dialects of Markdown as plain Markdown: what a site generator draws as a box becomes a quote.

A warning has to stay with what it warns of, and to be readable as one. Known are the boxes, tabs,
links, comments and tags of MkDocs, Docusaurus, GitHub, Obsidian, MDX, Hugo and Jekyll; MyST and
Quarto by bot/ingest/directives.py. Code and the number of lines stay: citations name the line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from bot.ingest.directives import plain_directives

_HINT = re.compile(
    r"^[ \t]*(?:!!!|\?\?\?|===|:::|>\s*\[!|\[TOC\])|\[\[|%%|\{%|\{:|\{\{[<%]|^import\s|^export\s"
    r"|</?[A-Z]|\{/\*",
    re.MULTILINE,
)
_FENCE = re.compile(r"^([ \t]*(?:>[ \t]?)*(?:[-*+][ \t]+|\d+[.)][ \t]+)?)(`{3,}|~{3,})([^\n]*)$")
_MKDOCS = re.compile(
    r"""^([ \t]*)(?:!!!|\?\?\?\+?)[ \t]*([\w-]+)((?:[ \t]+[\w-]+)*)(?:[ \t]+["'](.*)["'])?[ \t]*$"""
)
_TAB = re.compile(r"""^([ \t]*)===[!+]?[ \t]+["'](.+)["'][ \t]*$""")
_COLONS = re.compile(r"^([ \t]*)(:{3,})[ \t]*([A-Za-z][\w-]*)(?:\[(.*)\])?[ \t]*(.*?)[ \t]*$")
_COLONS_END = re.compile(r"^[ \t]*(:{3,})[ \t]*$")
_CALLOUT = re.compile(r"^([ \t]*(?:>[ \t]?)+)\[!([\w-]+)(?:\|[^\]]*)?\][-+]?[ \t]*(.*)$")
_IMPORT = re.compile(
    r"""^(?:import\s+(?:[\w{},*\s]+\s+from\s+)?|export\s+[\w{},*\s]+\s+from\s+)['"][^'"]+['"];?\s*$"""
)
_EXPORT = re.compile(r"^export\s+(?:const|let|default|function)\b.*[;})\]]\s*$")
_CONTENTS = re.compile(r"^[ \t]*(?:\[\[_?toc_?\]\]|\[toc\])[ \t]*$", re.IGNORECASE)
_HIGHLIGHT = re.compile(r"^([ \t]*)\{%-?\s*highlight\s+([\w+#-]+)[^%]*-?%\}[ \t]*$")
_END_HIGHLIGHT = re.compile(r"^[ \t]*\{%-?\s*endhighlight\s*-?%\}[ \t]*$")
_COMMENTS = (
    (re.compile(r"^\s*%%\s*$"), re.compile(r"^\s*%%\s*$")),
    (re.compile(r"^\s*\{%-?\s*comment\s*-?%\}\s*$"),
     re.compile(r"^\s*\{%-?\s*endcomment\s*-?%\}\s*$")),
)  # fmt: skip
_KRAMDOWN = re.compile(r"^[ \t]*\{:[ \t]*([^}]*)\}[ \t]*$")
_KRAMDOWN_CLASS = re.compile(r"\.([\w-]+)")
_INLINE = re.compile(
    r"(?P<code>(?<!`)(`+)(?!`).*?(?<!`)\2(?!`))"
    r"|(?P<mdx>\{/\*.*?\*/\})"
    r"|(?P<link>!?\[\[(?P<target>[^\[\]|\n]{1,300})(?:\\?\|(?P<alias>[^\[\]\n]{0,300}))?\]\])"
    r"|(?P<hidden>(?<!\S)%%(?!\s*$).*?%%(?![\w%]))"
    r"|(?P<short>\{\{[<%]\s*(?P<closing>/?)\s*(?P<word>[\w/-]+)(?P<rest>[^{}\n]{0,500}?)/?\s*[>%]\}\})"
    r"|(?P<liquid>\{%-?\s*(?:include(?:_relative|_cached)?|raw|endraw|assign|capture|endcapture"
    r"|comment|endcomment|post_url)\b[^%\n]{0,500}%\})"
    r"|(?P<tag></?(?P<name>[A-Z]\w*(?:\.\w+)*)(?P<attributes>(?:\s[^<>\n]{0,500})?)/?>)"
)  # fmt: skip
_LABEL = re.compile(r"""\b(?:label|title|summary)=["']([^"']{1,200})["']""")
_QUOTED = re.compile(r"""["']([^"']{1,200})["']""")
_TYPE = re.compile(r"""\b(?:type|variant|level)=["'](\w+)["']""")
_DEPTH = 12  # boxes inside boxes; deeper ones stay as they are written

_BOXES = {
    "note": "Note", "info": "Info", "tip": "Tip", "hint": "Hint", "important": "Important",
    "warning": "Warning", "warn": "Warning", "caution": "Caution", "danger": "Danger",
    "error": "Error", "attention": "Attention", "alert": "Warning", "abstract": "Summary",
    "summary": "Summary", "tldr": "Summary", "success": "Success", "check": "Success",
    "done": "Success", "question": "Question", "help": "Question", "faq": "Question",
    "failure": "Failure", "fail": "Failure", "missing": "Missing", "bug": "Bug",
    "example": "Example", "quote": "Quote", "cite": "Quote", "todo": "Todo", "secondary": "Note",
    "notice": "Notice", "callout": "Note", "admonition": "Note", "details": "Details",
    "seealso": "See also", "new": "New", "highlight": "Note",
}  # fmt: skip
_TABS = frozenset({"tab", "tabitem", "tabpane"})


def common_markdown(text: str) -> str:
    """`text` with the marks of dialects replaced, line by line."""
    text = plain_directives(text)
    if _HINT.search(text) is None:
        return text
    return "\n".join(_rendered(text.split("\n"), 0))


class _Part:
    """Lines that are read together: a text, or what is inside a box."""

    def __init__(self, lines: Sequence[str], depth: int) -> None:
        self.lines = lines
        self.depth = depth
        self.colons = _colon_ends(lines)
        self._missing: dict[re.Pattern[str], int] = {}

    def closing(self, index: int, pattern: re.Pattern[str]) -> int | None:
        """The next line below `index` that matches. What was not found is not looked for again:
        a thousand opening tags take no longer than one."""
        if index >= self._missing.get(pattern, len(self.lines)):
            return None
        for position in range(index + 1, len(self.lines)):
            if pattern.match(self.lines[position]):
                return position
        self._missing[pattern] = index
        return None


def _colon_ends(lines: Sequence[str]) -> dict[int, int]:
    """The first and last line of each `:::` box. A longer mark ends the boxes inside, too."""
    ends: dict[int, int] = {}
    opened: list[tuple[int, int]] = []  # length of the mark, line
    for index, line in enumerate(lines):
        if ":::" not in line:
            continue
        if opening := _COLONS.match(line):
            opened.append((len(opening.group(2)), index))
        elif closing := _COLONS_END.match(line):
            length = len(closing.group(1))
            while (
                opened and opened[-1][0] < length and any(o[0] == length for o in opened[-_DEPTH:])
            ):
                opened.pop()
            if opened and opened[-1][0] <= length:
                ends[opened.pop()[1]] = index
    return ends


def _rendered(lines: Sequence[str], depth: int) -> list[str]:
    part = _Part(lines, depth)
    found: list[str] = []
    index = 0
    while index < len(lines):
        block = _block(part, index)
        if block:
            found += block
            index += len(block)
        else:
            found.append(_INLINE.sub(_inline, lines[index]))
            index += 1
    return found


def _block(part: _Part, index: int) -> list[str]:
    """What stands in place of the lines from `index` on, as many lines; empty for none."""
    lines = part.lines
    line = lines[index]
    if fence := _FENCE.match(line):
        return list(lines[index : _fence_end(lines, index, fence)])
    if line.startswith(("    ", "\t")) and (index == 0 or not lines[index - 1].strip()):
        end = _code_end(lines, index)
        if end > index:
            return list(lines[index:end])
    if part.depth >= _DEPTH:
        return []
    for read in _READERS:
        if block := read(part, index):
            return block
    return []


def _fence_end(lines: Sequence[str], index: int, fence: re.Match[str]) -> int:
    mark = fence.group(2)
    end = re.compile(rf"^[ \t>]*{re.escape(mark[0])}{{{len(mark)},}}[ \t]*$")
    for position in range(index + 1, len(lines)):
        if end.match(lines[position]):
            return position + 1
    return len(lines)


def _code_end(lines: Sequence[str], index: int) -> int:
    """Indented code, unless it is a box: those may be indented inside lists."""
    line = lines[index]
    if any(pattern.match(line) for pattern in (_MKDOCS, _TAB, _COLONS, _FENCE)):
        return index
    end = index
    while end < len(lines) and lines[end].startswith(("    ", "\t")):
        end += 1
    return end


def _indented_box(part: _Part, index: int) -> list[str]:
    """MkDocs: `!!! warning "Title"`, what belongs to it indented by four."""
    match = _MKDOCS.match(part.lines[index])
    if match is None:
        return []
    indent, kind, _, title = match.groups()
    body = _indented(part.lines, index + 1, len(indent.expandtabs(4)) + 4)
    return _quoted(indent, _head(kind, title or ""), _rendered(body, part.depth + 1))


def _tab(part: _Part, index: int) -> list[str]:
    """MkDocs: `=== "Linux"`, what belongs to it indented by four."""
    match = _TAB.match(part.lines[index])
    if match is None:
        return []
    indent, title = match.groups()
    body = _indented(part.lines, index + 1, len(indent.expandtabs(4)) + 4)
    return [f"{indent}**{title}:**", *(indent + line for line in _rendered(body, part.depth + 1))]


def _indented(lines: Sequence[str], start: int, width: int) -> list[str]:
    """The lines indented by `width` or blank, without their indentation; no blank ones last."""
    body: list[str] = []
    for index in range(start, len(lines)):
        line = lines[index]
        wide = line.expandtabs(4)
        if line.strip() and len(wide) - len(wide.lstrip()) < width:
            break
        body.append(wide[width:] if line.strip() else "")
    while body and not body[-1]:
        body.pop()
    return body


def _colon_box(part: _Part, index: int) -> list[str]:
    """Docusaurus: `:::warning Title` to `:::`. A box in a box has fewer colons, or its own end."""
    match = _COLONS.match(part.lines[index])
    if match is None:
        return []
    indent, _, kind, label, rest = match.groups()
    end = part.colons.get(index)
    if end is None:
        return []
    body = _rendered(part.lines[index + 1 : end], part.depth + 1)
    title = label or ("" if rest.startswith("{") else rest)
    return [*_quoted(indent, _head(kind, title), body), ""]


def _callout(part: _Part, index: int) -> list[str]:
    """GitHub and Obsidian: `> [!warning] Title`, a quote already."""
    match = _CALLOUT.match(part.lines[index])
    if match is None:
        return []
    marks, kind, title = match.groups()
    return [f"{marks}{_head(kind, title)}  "]


def _liquid_code(part: _Part, index: int) -> list[str]:
    """Jekyll: `{% highlight bash %}` to `{% endhighlight %}`."""
    match = _HIGHLIGHT.match(part.lines[index])
    if match is None:
        return []
    end = part.closing(index, _END_HIGHLIGHT)
    if end is None:
        return []
    indent, language = match.groups()
    return [f"{indent}```{language}", *part.lines[index + 1 : end], f"{indent}```"]


def _hidden(part: _Part, index: int) -> list[str]:
    """Comments over several lines: Obsidian's from a line `%%` to another, and Jekyll's."""
    for opening, closing in _COMMENTS:
        if opening.match(part.lines[index]):
            end = part.closing(index, closing)
            return [""] * (end + 1 - index) if end is not None else []
    return []


def _unread(part: _Part, index: int) -> list[str]:
    """What speaks to the generator: imports and exports of MDX, the place of the contents."""
    unread = (_IMPORT, _EXPORT, _CONTENTS)
    return [""] if any(pattern.match(part.lines[index]) for pattern in unread) else []


def _attributes(part: _Part, index: int) -> list[str]:
    """Jekyll: `{: .warning }` says what the paragraph beside it is."""
    match = _KRAMDOWN.match(part.lines[index])
    if match is None:
        return []
    names = [name.lower() for name in _KRAMDOWN_CLASS.findall(match.group(1))]
    kind = next((name for name in names if name in _BOXES), "")
    return [f"**{_BOXES[kind]}:**"] if kind else [""]


_READERS: tuple[Callable[[_Part, int], list[str]], ...] = (
    _indented_box, _tab, _colon_box, _callout, _liquid_code, _hidden, _unread,
    _attributes,
)  # fmt: skip


def _head(kind: str, title: str) -> str:
    """`**Warning: Before you start**`"""
    name = _BOXES.get(kind.lower(), kind.replace("-", " ").capitalize())
    title = title.strip().strip("*").strip()
    return f"**{name}: {title}**" if title and title.lower() != name.lower() else f"**{name}**"


def _quoted(indent: str, head: str, body: Sequence[str]) -> list[str]:
    return [
        f"{indent}> {head}  ",
        *(f"{indent}> {line}" if line else f"{indent}>" for line in body),
    ]


def _inline(match: re.Match[str]) -> str:
    if match["code"] is not None:
        return match.group()
    if match["link"] is not None:
        return _wiki_link(match)
    if match["short"] is not None:
        return _shortcode(match)
    if match["tag"] is not None:
        return _component(match)
    return ""


def _wiki_link(match: re.Match[str]) -> str:
    """`[[page#part|alias]]` by what a reader sees."""
    alias = (match["alias"] or "").strip()
    if alias and not alias.isdigit():  # a number is the width of an embedded picture
        return alias
    page, _, part = match["target"].partition("#")
    return " › ".join(piece for piece in (page.strip(), part.strip().lstrip("^")) if piece)


def _shortcode(match: re.Match[str]) -> str:
    """Hugo: boxes and tabs by their names; what is left is taken out with the comments."""
    word = match["word"].lower()
    if word not in _BOXES and word not in _TABS:
        return match.group()
    if match["closing"]:
        return ""
    quoted = _QUOTED.search(match["rest"])
    label = _LABEL.search(match["rest"])
    named = label or quoted
    if word in _TABS:
        return f"**{named.group(1)}:**" if named else ""
    kind = match["rest"].split()[0].strip("\"'").lower() if match["rest"].split() else ""
    title = named.group(1) if named else ""
    if kind in _BOXES:
        return _head(kind, "" if title.lower() == kind else title) + " "
    if typed := _TYPE.search(match["rest"]):
        return _head(typed.group(1), label.group(1) if label else "") + " "
    return _head(word, title) + " "


def _component(match: re.Match[str]) -> str:
    """MDX: tabs and boxes by their labels. Others stay: `<HOST>` is what a reader fills in."""
    name = match["name"]
    if name not in _COMPONENTS:
        return match.group()
    label = _LABEL.search(match["attributes"])
    if match.group().startswith("</"):
        return ""
    if name.lower() in _BOXES:
        typed = _TYPE.search(match["attributes"])
        kind = typed.group(1) if typed else name
        return _head(kind, label.group(1) if label else "") + " "
    return f"**{label.group(1)}:**" if label else ""


_COMPONENTS = frozenset({
    "Tabs", "TabItem", "Tab", "TabPane", "Admonition", "Callout", "Alert", "Note", "Tip", "Info",
    "Warning", "Caution", "Danger", "Details", "Steps", "Step", "Card", "CardGroup", "Accordion",
    "AccordionGroup", "CodeGroup", "Frame", "BrowserOnly", "Aside",
})  # fmt: skip
