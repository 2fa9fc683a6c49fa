"""reStructuredText as Markdown, by way of docutils and HTML.

Sphinx directives and roles that docutils does not know are read for their text: a warning block
of a runbook must not vanish because its directive is unknown. Nothing is included from other
files, and raw HTML is off.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import Any, ClassVar, cast

from bs4 import BeautifulSoup
from docutils import nodes
from docutils.core import publish_parts
from docutils.parsers.rst import Directive, directives, roles
from docutils.parsers.rst.languages import en

from adapters.documents.html import arrange, markdown_of
from bot.ingest.frontmatter import Issue
from bot.ingest.parse import ConversionFailed, Converted

_DIRECTIVE = re.compile(r"^[ \t]*\.\.[ \t]+(?:\|[^|\n]+\|[ \t]+)?([\w:.+-]+?)::", re.MULTILINE)
_ROLE = re.compile(r":([a-zA-Z][\w:.+-]*):`")
_CODE = frozenset({"code-block", "sourcecode", "code", "prompt", "console"})
_SILENT = frozenset({"toctree", "index", "highlight", "include", "literalinclude", "raw",
                     "contents", "meta", "sectionauthor", "codeauthor",
                     "tabularcolumns"})  # fmt: skip
_TARGET = re.compile(r"^(.*?)\s*<[^>]*>$", re.DOTALL)
_WARNING = re.compile(r"^[^:]*:(\d+): \((?:WARNING|ERROR|SEVERE)/\d\) (.+)$", re.MULTILINE)
_REPORTED = 5  # warnings named for one file

_SETTINGS = {
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "report_level": 2,
    "halt_level": 5,
    "embed_stylesheet": False,
    "stylesheet_path": "",
    "syntax_highlight": "none",
    "initial_header_level": 1,
    "doctitle_xform": False,
    "smart_quotes": False,
    "_disable_config": True,
    "line_length_limit": 10_000_000,
}


class _AnyOptions(dict[str, Any]):
    """An option table that takes every option, since Sphinx has more than docutils knows."""

    def __len__(self) -> int:
        return 1

    def __missing__(self, key: str) -> Any:
        return str


class _Lenient(Directive):
    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar[Any] = _AnyOptions()


class _Text(_Lenient):
    """An unknown directive: its argument and its content are text."""

    def run(self) -> Sequence[nodes.Node]:
        found: list[nodes.Node] = []
        if self.arguments:
            children, _ = self.state.inline_text(self.arguments[0], self.lineno)
            found.append(nodes.paragraph("", "", *children))
        box = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, box)
        return [*found, *box.children]


class _Code(_Lenient):
    """A listing; its argument is the language."""

    def run(self) -> Sequence[nodes.Node]:
        text = "\n".join(self.content)
        language = [f"language-{self.arguments[0]}"] if self.arguments else []
        return [nodes.literal_block(text, text, classes=["code", *language])]


class _Silent(_Lenient):
    """A directive whose content is no text of the document."""

    def run(self) -> Sequence[nodes.Node]:
        return []


def _role(
    name: str, rawtext: str, text: str, *_rest: Any, **_options: Any
) -> tuple[list[nodes.Node], list[nodes.Node]]:
    """An unknown role: `:ref:`Title <target>`` is its title, anything else is literal."""
    match = _TARGET.match(text)
    if match and match.group(1):
        return [nodes.Text(match.group(1))], []
    if name in ("ref", "doc", "term", "menuselection", "guilabel", "abbr", "numref"):
        return [nodes.Text(text)], []
    return [nodes.literal(rawtext, text)], []


def convert(text: str) -> Converted:
    """The document as Markdown. Raises ConversionFailed when docutils breaks on it."""
    _register(text)
    warnings = io.StringIO()
    try:
        parts = publish_parts(
            text, writer="html5", settings_overrides=_SETTINGS | {"warning_stream": warnings}
        )
        soup = BeautifulSoup(parts["html_body"], "html.parser")
        markdown = markdown_of(_cleaned(soup))
    except Exception as error:  # docutils raises whatever its transforms trip over
        raise ConversionFailed("not readable as reStructuredText") from error
    issues = tuple(
        Issue(int(line), message.strip())
        for line, message in _WARNING.findall(warnings.getvalue())[:_REPORTED]
    )
    return Converted(markdown, issues=issues)


def _cleaned(soup: BeautifulSoup) -> BeautifulSoup:
    """Drops what docutils says about errors, and keeps the source text that it could not read;
    literals become code."""
    for contents in soup.select(".topic.contents"):
        contents.decompose()
    for message in soup.select(".system-message"):
        listing = message.find("pre")
        if listing is None:
            message.decompose()
        else:
            message.replace_with(listing)
    for literal in soup.select("span.literal"):
        literal.name = "code"
    for name in soup.select("p.admonition-title"):
        if name.get_text() == "!DANGER!":  # as docutils writes it
            name.string = "Danger"
    arrange(soup)
    for link in soup.select("a[href^='#system-message'], a.toc-backref"):
        link.unwrap()
    return soup


def _register(text: str) -> None:
    """Makes the names in `text` that docutils does not know readable, for the whole process."""
    for name in {match.lower() for match in _DIRECTIVE.findall(text)}:
        if name in _CODE:
            directives.register_directive(name, _Code)
        elif name in _SILENT:
            directives.register_directive(name, _Silent)
        elif name not in en.directives:
            directives.register_directive(name, _Text)
    for name in {match.lower() for match in _ROLE.findall(text)}:
        if name not in en.roles:
            roles.register_local_role(name, cast(Any, _role))
