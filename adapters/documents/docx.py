"""Word documents as Markdown, by way of mammoth and HTML.

Tracked insertions are read as accepted and deletions as made; comments, headers and footers are
no text of the document. Macros are never looked at.
"""

from __future__ import annotations

import io
import re
import zipfile
from typing import Any
from xml.etree import ElementTree

import mammoth
from bs4 import BeautifulSoup

from adapters.documents.html import arrange, markdown_of
from adapters.documents.package import office_parts
from bot.ingest.frontmatter import Issue
from bot.ingest.parse import Converted
from bot.ingest.reader import ReadingLimits

_STYLES = """
p[style-name='Title'] => h1:fresh
p[style-name='Code'] => pre:separator('\\n')
p[style-name='Source Code'] => pre:separator('\\n')
p[style-name='HTML Preformatted'] => pre:separator('\\n')
p[style-name='Preformatted Text'] => pre:separator('\\n')
p[style-name='macro'] => pre:separator('\\n')
p[style-name='No Spacing'] => p:fresh
p[style-name='Quote'] => blockquote:fresh
p[style-name='Intense Quote'] => blockquote:fresh
r[style-name='HTML Code'] => code
r[style-name='Verbatim Char'] => code
"""
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_OFF = frozenset({"0", "false", "off"})
_TITLE = re.compile(rb"<(?:\w+:)?title\b[^>]*>([^<]*)</")
_COMMENT = re.compile(rb"<w:comment[ >]")
_CHANGED = re.compile(rb"<w:(?:ins|del|moveTo|moveFrom)[ >]")
_PICTURE = re.compile(rb"<(?:pic:pic|v:imagedata)[ >]")


def convert(data: bytes, limits: ReadingLimits) -> Converted:
    """The text of the document. Raises Refused, and whatever mammoth trips over."""
    parts = office_parts(data, limits)
    data, hidden = _without_hidden(data, parts)
    html = mammoth.convert_to_html(
        io.BytesIO(data), style_map=_STYLES, convert_image=mammoth.images.img_element(_no_picture)
    ).value
    soup = BeautifulSoup(html, "html.parser")
    arrange(soup)
    return Converted(markdown_of(soup), _title(parts), issues=(*hidden, *_issues(parts)))


def _without_hidden(data: bytes, parts: dict[str, bytes]) -> tuple[bytes, list[Issue]]:
    """The package without runs that Word does not show ([ECMA-376] 17.3.2.41)."""
    changed: dict[str, bytes] = {}
    count = 0
    for name, part in parts.items():
        if name.startswith("word/") and b"vanish" in part:
            root = ElementTree.fromstring(part)  # noqa: S314 - it declares no entities, see above
            gone = _drop_hidden(root)
            if gone:
                count += gone
                changed[name] = ElementTree.tostring(root, encoding="utf-8")
    if not changed:
        return data, []
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(stream, "w") as new:
        for member in old.infolist():
            new.writestr(member.filename, changed.get(member.filename) or old.read(member))
    return stream.getvalue(), [Issue(0, f"hidden texts left out: {count}")]


def _drop_hidden(root: ElementTree.Element) -> int:
    count = 0
    for parent in root.iter():
        for run in [child for child in parent if child.tag == f"{_W}r"]:
            mark = run.find(f"{_W}rPr/{_W}vanish")
            if mark is not None and mark.get(f"{_W}val", "true") not in _OFF:
                parent.remove(run)
                count += 1
    return count


def _no_picture(_image: Any) -> dict[str, str]:
    return {}


def _title(parts: dict[str, bytes]) -> str:
    match = _TITLE.search(parts.get("docProps/core.xml", b""))
    text = BeautifulSoup(match.group(1), "html.parser").get_text() if match else ""
    return " ".join(text.split())


def _issues(parts: dict[str, bytes]) -> list[Issue]:
    """What a reader of the document sees and a reader of the index does not."""
    body = parts.get("word/document.xml", b"")
    found = []
    if comments := len(_COMMENT.findall(parts.get("word/comments.xml", b""))):
        found.append(Issue(0, f"comments left out: {comments}"))
    if _CHANGED.search(body):
        found.append(Issue(0, "tracked changes read as accepted"))
    if pictures := len(_PICTURE.findall(body)):
        found.append(Issue(0, f"pictures left out: {pictures}"))
    return found
