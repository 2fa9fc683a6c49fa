"""Pages of Confluence as Markdown: its storage format, and the pages of its HTML export.

Macros become what a reader sees: code a fence, a warning a quotation, a status its word. Macros
that only list other pages are dropped; the text inside unknown ones stays.
"""

from __future__ import annotations

import html
import re

from bs4 import BeautifulSoup
from bs4.element import AttributeValueList, NavigableString, Tag

from adapters.documents.confluence_export import title_of
from adapters.documents.html import arrange, markdown_of
from bot.ingest.parse import ConversionFailed, Converted

_PLAIN = re.compile(
    r"<ac:plain-text-(body|link-body)>\s*<!\[CDATA\[(.*?)\]\]>\s*</ac:plain-text-\1>", re.DOTALL
)
_UNKNOWN = re.compile(r"<!\[(?!CDATA\[)")  # the parser gives up a page with such declarations
_BOXES = {"info": "Info", "note": "Note", "warning": "Warning", "tip": "Tip", "panel": ""}
_SILENT = frozenset({
    "toc", "children", "pagetree", "attachments", "gallery", "recently-updated", "livesearch",
    "contentbylabel", "anchor", "drawio", "gliffy", "profile", "viewpdf", "view-file", "iframe",
})  # fmt: skip
_NOISE = ("#breadcrumb-section", "#footer", ".page-metadata", "#title-heading", "script", "style",
          ".toc-macro", ".expand-control-icon")  # fmt: skip
_BRUSH = re.compile(r"brush:\s*([\w+#-]+)")


def convert(text: str) -> Converted:
    """The page. Raises ConversionFailed when it is nested too deeply."""
    soup = BeautifulSoup(_UNKNOWN.sub("&lt;![", _PLAIN.sub(_plain, text)), "html.parser")
    for selector in _NOISE:
        for element in soup.select(selector):
            element.decompose()
    for element in soup.find_all(["ac:emoticon", "ac:image", "ac:placeholder"]):
        element.decompose()
    for heading in soup.select("h2#attachments, h2#comments"):
        section = heading.find_parent(class_="pageSection")
        if section is not None:
            section.decompose()
    try:
        main = soup.select_one("#main-content") or soup.body or soup
        _macros(main)
        arrange(main)
        return Converted(markdown_of(main), title_of(text))
    except RecursionError as error:
        raise ConversionFailed("nested too deeply") from error


def _plain(match: re.Match[str]) -> str:
    tag = "pre" if match.group(1) == "body" else "span"
    return f"<{tag}>{html.escape(match.group(2))}</{tag}>"


def _macros(root: Tag) -> None:
    for macro in reversed(root.find_all("ac:structured-macro")):  # the inner ones first
        _macro(macro)
    _links(root)
    _tasks(root)
    for listing in root.find_all("pre"):
        brush = _BRUSH.search(str(listing.get("data-syntaxhighlighter-params") or ""))
        if brush:
            listing["class"] = AttributeValueList([f"language-{brush.group(1)}"])


def _links(root: Tag) -> None:
    """Links by their text or the title of the page, dates by their day."""
    for link in root.find_all("ac:link"):
        page = link.find("ri:page")
        if not link.get_text(strip=True) and page is not None:
            link.append(str(page.get("ri:content-title") or ""))
        link.unwrap()
    for time in root.find_all("time"):
        if not time.get_text(strip=True):
            time.append(str(time.get("datetime") or ""))


def _tasks(root: Tag) -> None:
    for status in root.find_all("ac:task-status"):
        status.replace_with("[x] " if status.get_text(strip=True) == "complete" else "[ ] ")
    for body in root.find_all("ac:task-body"):
        before = body.previous_sibling
        if isinstance(before, NavigableString) and not before.strip():
            before.extract()
        body.unwrap()
    for name, html_name in (("ac:task-list", "ul"), ("ac:task", "li")):
        for element in root.find_all(name):
            element.name = html_name
    for element in root.find_all(["ac:task-id", "ac:task-uuid"]):
        element.decompose()


def _macro(macro: Tag) -> None:
    name = str(macro.get("ac:name") or "").lower()
    values = {
        str(item.get("ac:name") or "title"): item.get_text(strip=True)
        for item in macro.find_all("ac:parameter", recursive=False)
    }
    for item in macro.find_all("ac:parameter", recursive=False):
        item.decompose()
    if name in _SILENT:
        macro.decompose()
    elif name in ("code", "noformat"):
        listing = macro.find("pre")
        if isinstance(listing, Tag):
            listing["class"] = AttributeValueList([f"language-{values.get('language', '')}"])
        _titled(macro, values.get("title", ""), "")
    elif name in _BOXES:
        _titled(macro, values.get("title", ""), _BOXES[name])
        macro.name = "blockquote"
    elif name == "status":
        macro.replace_with(values.get("title", ""))
    elif name == "jira":
        macro.replace_with(values.get("key", ""))
    else:
        _titled(macro, values.get("title", ""), "")


def _titled(macro: Tag, title: str, kind: str) -> None:
    """Puts the name of a box above what it holds."""
    name = ": ".join(part for part in (kind, title) if part)
    macro.name = "div"
    if name:
        head = Tag(name="p")
        strong = Tag(name="strong")
        strong.append(name)
        head.append(strong)
        macro.insert(0, head)
