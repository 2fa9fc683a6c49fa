"""HTML pages as Markdown: the text people read, without navigation, scripts and hidden parts."""

from __future__ import annotations

import re
from typing import Any

from bs4 import BeautifulSoup
from bs4.element import Tag
from markdownify import MarkdownConverter

from bot.ingest.parse import ConversionFailed, Converted

_NOISE = (
    "script", "style", "noscript", "template", "nav", "aside", "footer", "iframe", "object",
    "svg", "canvas", "button", "select", "input", "a.headerlink", "a.anchor", "[hidden]",
    "[aria-hidden=true]", "[role=navigation]", "[style*='display:none']",
    "[style*='display: none']", "[style*='visibility:hidden']", ".system-message",
)  # fmt: skip
_MAIN = "main, article, [role=main]"
_LANGUAGE = re.compile(r"(?:language|lang|highlight|code)-([\w+#-]+)")
_BLANK_LINES = re.compile(r"\n{3,}")


def convert(text: str) -> Converted:
    """The main text of a page. Raises ConversionFailed when the page is nested too deeply."""
    soup = BeautifulSoup(text, "html.parser")
    title = soup.title.get_text(" ", strip=True) if soup.title else ""
    for element in soup.select(", ".join(_NOISE)):
        element.decompose()
    try:
        main = _main(soup)
        markdown = markdown_of(main)
    except RecursionError as error:
        raise ConversionFailed("nested too deeply") from error
    return Converted(markdown, title, main.sourceline or 1)


def _main(soup: BeautifulSoup) -> Tag:
    """The part of the page that says of itself that it is the main one, if it holds any text."""
    main = soup.select_one(_MAIN)
    if main is not None and main.get_text(strip=True):
        return main
    return soup.body or soup


def markdown_of(element: Tag) -> str:
    converter = MarkdownConverter(
        heading_style="ATX",
        bullets="-",
        escape_asterisks=False,
        escape_underscores=False,
        escape_misc=False,
        code_language_callback=_language,
        table_infer_header=True,
        strip=["img"],
    )
    markdown: str = converter.convert_soup(element)
    lines = (line.rstrip() for line in markdown.split("\n"))
    return _BLANK_LINES.sub("\n\n", "\n".join(lines)).strip("\n")


def _language(element: Any) -> str:
    """The language of a code block, from its own class, its child's or its parent's."""
    for candidate in (element, element.find("code"), element.parent):
        if isinstance(candidate, Tag):
            match = _LANGUAGE.search(" ".join(candidate.get("class") or ()))
            if match:
                return match.group(1)
    return ""
