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
_KINDS = ("warning", "danger", "caution", "important", "error", "attention", "note", "tip", "hint",
          "info")  # fmt: skip
_BOXES = ", ".join(
    f"div.{name}" for name in ("admonition", "alert", "admonitionblock", "callout", "notice",
                               "theme-admonition", "custom-block", "confluence-information-macro")
)  # fmt: skip
_BLANK_LINES = re.compile(r"\n{3,}")


def convert(text: str) -> Converted:
    """The main text of a page. Raises ConversionFailed when the page is nested too deeply."""
    soup = BeautifulSoup(text, "html.parser")
    title = soup.title.get_text(" ", strip=True) if soup.title else ""
    for element in soup.select(", ".join(_NOISE)):
        element.decompose()
    try:
        main = _main(soup)
        arrange(main)
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


def arrange(root: Tag) -> None:
    """Brings a page into a form that Markdown can hold: boxes as quotes with their name, tables
    that only lay out as their content, merged cells as one filled cell and empty ones."""
    for box in root.select(_BOXES):
        _as_quote(box)
    for table in root.find_all("table"):
        cells = table.find_all(["td", "th"])
        if len(cells) <= 1:
            table.name = "div"
            for part in table.find_all(["thead", "tbody", "tr", "td", "th"]):
                part.unwrap()
        elif table.find_parent(["td", "th"]) is None:
            _square(table)
            _hold_together(table)
    for term in root.find_all("dt"):
        _as_term(term)


def _as_quote(box: Tag) -> None:
    """A box that a site generator draws: its kind becomes the first line of a quotation."""
    classes = {str(name).lower() for name in box.get("class") or ()}
    kind = next((name for name in _KINDS if any(name in other for other in classes)), "")
    if not kind or box.find_parent(["blockquote", "table", "pre"]) is not None:
        return
    if kind not in box.get_text(" ", strip=True)[:40].lower():
        head = Tag(name="p")
        head.append(f"{kind.capitalize()}:")
        box.insert(0, head)
    box.name = "blockquote"


def _as_term(term: Tag) -> None:
    """A defined term in bold, what it means below it as a list item."""
    term.name = "p"
    strong = Tag(name="strong")
    for child in list(term.children):
        strong.append(child.extract())
    term.append(strong)
    following = term.find_next_sibling()
    while isinstance(following, Tag) and following.name == "dd":
        following.name = "div"
        following = following.find_next_sibling()


def _square(table: Tag) -> None:
    """Fills the places that merged cells cover with empty cells: each text stays once, and every
    cell stays in its column."""
    covered: dict[int, int] = {}  # column -> rows still covered from above
    for row in table.find_all("tr"):
        if row.find_parent("table") is not table:
            continue
        column = 0
        cells = row.find_all(["td", "th"], recursive=False)
        for cell in cells:
            while covered.get(column, 0):
                covered[column] -= 1
                cell.insert_before(Tag(name="td"))
                column += 1
            across, down = _span(cell, "colspan"), _span(cell, "rowspan")
            for _ in range(across):
                covered[column] = down - 1
                column += 1
        while covered.get(column, 0):
            covered[column] -= 1
            row.append(Tag(name="td"))
            column += 1


def _hold_together(table: Tag) -> None:
    """No bar and no listing inside a cell ends its row."""
    for listing in table.find_all("pre"):
        listing.name = "code"
    for text in table.find_all(string=re.compile(r"[|\n]")):
        if text.find_parent(["td", "th"]) is not None:
            text.replace_with(" ".join(text.replace("|", "\\|").split("\n")))


def _span(cell: Tag, name: str) -> int:
    """[HTML] 4.9.11: spans end at 1000 columns and 65534 rows."""
    value = str(cell.get(name) or "1")
    return max(1, min(1000, int(value))) if value.isascii() and value.isdigit() else 1


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
