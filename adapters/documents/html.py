"""HTML pages as Markdown: the text people read, without navigation, scripts and hidden parts."""

from __future__ import annotations

import re
from typing import Any

from bs4 import BeautifulSoup
from bs4.element import NavigableString, Tag
from markdownify import MarkdownConverter

from adapters.documents.html_tags import closed
from bot.ingest.frontmatter import Issue
from bot.ingest.parse import Converted

_NOISE = (
    "script", "style", "noscript", "template", "nav", "aside:not(.admonition)", "footer", "iframe",
    "object", "svg", "canvas", "button", "select", "input", "a.headerlink", "a.anchor", "[hidden]",
    "[aria-hidden=true]", "[role=navigation]", "[style*='display:none']",
    "[style*='display: none']", "[style*='visibility:hidden']", ".system-message",
)  # fmt: skip
_MAIN = "main, article, [role=main]"
_LANGUAGE = re.compile(r"(?:language|lang|highlight|code)-([\w+#-]+)")
_WORD, _SPOKEN = re.compile(r"[\w+#]+"), frozenset({"en", "ru", "de", "fr", "es", "uk"})
_KINDS = ("warning", "danger", "caution", "important", "error", "attention", "note", "tip", "hint",
          "info")  # fmt: skip
_BOXES = "aside.admonition, " + ", ".join(
    f"div.{name}" for name in ("admonition", "alert", "admonitionblock", "callout", "notice",
                               "theme-admonition", "custom-block", "confluence-information-macro")
)  # fmt: skip
_DOCTYPE = re.compile(r"<!DOCTYPE\b[^>\[]*(?:\[.*?\])?[^>\[\]]*>", re.IGNORECASE | re.DOTALL)
_MARK = re.compile(r"^([ \t]*)(?=#{1,6}(?:\s|$)|`{3}|~{3})", re.MULTILINE)
_NO_LINK = re.compile(r"^\s*(?!https?:|mailto:|ftp:)[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_BLANK_LINES = re.compile(r"\n{3,}")


def convert(text: str) -> Converted:
    """The main text of a page; without its form when the page is nested too deeply."""
    soup = BeautifulSoup(closed(_DOCTYPE.sub("", text)), "html.parser")
    title = soup.title.get_text(" ", strip=True) if soup.title else ""
    for element in soup.select(", ".join(_NOISE)):
        element.decompose()
    try:
        main = _main(soup)
        arrange(main)
        markdown = markdown_of(main)
    except RecursionError:
        lines = soup.get_text("\n", strip=True)
        return Converted(lines, title, issues=(Issue(0, "nested too deeply: read without form"),))
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
            for inner in table.find_all("table"):
                _as_words(inner)
            for part in table.find_all(["tbody", "tfoot"]):
                part.unwrap()  # the first row of each would be taken for a header
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


def _as_words(table: Tag) -> None:
    """A table in a cell, which Markdown cannot hold: its rows as words between semicolons."""
    if table.parent is None or table.find_parent("table") is None:
        return
    rows = [row.get_text(" ", strip=True) for row in table.find_all("tr")]
    table.replace_with(f" {'; '.join(row for row in rows if row)} ")


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


def _as_text(root: Tag) -> None:
    """What would be a heading or a fence only in Markdown stays text; links lead to pages only."""
    for text in root.find_all(string=_MARK):
        if text.find_parent(["pre", "code"]) is None and isinstance(text, NavigableString):
            inline = text.previous_sibling is not None and _name(text.previous_sibling) != "br"
            start, rest = ("", str(text)) if not inline else str(text).partition("\n")[::2]
            marked = _MARK.sub(r"\1\\", rest)
            text.replace_with(f"{start}\n{marked}" if inline and rest else marked or str(text))
    for link in root.find_all("a", href=_NO_LINK):
        link.unwrap()


def _name(element: object) -> str:
    return element.name if isinstance(element, Tag) else ""


def markdown_of(element: Tag) -> str:
    _as_text(element)
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
    given = str(element.get("lang") or "")  # docutils, GitHub
    return given if _WORD.fullmatch(given) and given not in _SPOKEN else ""
