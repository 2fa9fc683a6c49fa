"""Which pages an export of Confluence holds, by their titles and the pages above them."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from xml.etree.ElementTree import Element, iterparse

from bs4 import BeautifulSoup
from bs4.filter import SoupStrainer

from adapters.documents.package import refuse_entities
from bot.ingest.reader import Member

_FORMAT = ".confluence"
_CONTROLS = dict.fromkeys([*range(9), 11, 12, *range(14, 32)])
_MARKS = (b'id="main-content"', b'id="breadcrumbs"')
_PARENTS = 50  # levels above a page; a loop of parents ends there


def is_page(data: bytes) -> bool:
    """True for a page of an HTML export."""
    return all(mark in data for mark in _MARKS)


def page(data: bytes) -> str | None:
    """The path of a page of an HTML export: space, the pages above it, its title."""
    if not is_page(data):
        return None
    text = data.decode("utf-8", "replace")
    crumbs = BeautifulSoup(text, "html.parser", parse_only=SoupStrainer(id="breadcrumbs"))
    above = [" ".join(crumb.get_text(" ").split()) for crumb in crumbs.find_all("li")]
    return _path([*above, title_of(text)])


def title_of(text: str) -> str:
    """The title of an exported page, without the space in front of it."""
    match = re.search(r"<title>(.*?)</title>", text, re.DOTALL | re.IGNORECASE)
    title = " ".join(html.unescape(match.group(1)).split()) if match else ""
    return title.partition(" : ")[2] or title


def _path(names: list[str]) -> str:
    return "/".join(name.replace("/", "∕").strip(". ") for name in names if name.strip(". "))


@dataclass(frozen=True, slots=True)
class _Page:
    title: str
    parent: str
    space: str
    updated_at: datetime | None


def pages(entities: bytes) -> Iterator[Member]:
    """The current pages of an XML export. Raises Refused for XML that is broken or unsafe."""
    text = entities.decode("utf-8", "replace").translate(_CONTROLS)
    xml = text.encode()
    refuse_entities(xml, "entities.xml")
    found: dict[str, _Page] = {}
    bodies: dict[str, str] = {}
    spaces: dict[str, str] = {}
    for _, element in iterparse(io.BytesIO(xml)):  # noqa: S314 - no document type, no entities
        if element.tag != "object":
            continue
        kind, key = element.get("class"), _id(element)
        if kind in ("Page", "BlogPost") and _is_current(element):
            found[key] = _Page(
                title=_text(element, "title"),
                parent=_reference(element, "parent"),
                space=_reference(element, "space"),
                updated_at=_date(_text(element, "lastModificationDate")),
            )
        elif kind == "BodyContent":
            bodies[_reference(element, "content")] = _text(element, "body")
        elif kind == "Space":
            spaces[key] = _text(element, "name") or _text(element, "key")
        element.clear()
    for key, item in found.items():
        body = bodies.get(key, "").replace("]] >", "]]>")
        content = f"<title>{html.escape(item.title)}</title>\n<body>{body}</body>"
        yield Member(_place(key, found, spaces), content.encode(), _FORMAT, item.updated_at)


def _is_current(element: Element) -> bool:
    status = _text(element, "contentStatus")
    return status in ("", "current") and not _reference(element, "originalVersion")


def _place(key: str, found: Mapping[str, _Page], spaces: Mapping[str, str]) -> str:
    names: list[str] = []
    item = found[key]
    space = spaces.get(item.space, "")
    for _ in range(_PARENTS):
        names.insert(0, item.title)
        if item.parent not in found:
            break
        item = found[item.parent]
    return _path([space, *names] if space else names)


def _id(element: Element) -> str:
    child = element.find("id")
    return (child.text or "").strip() if child is not None else ""


def _property(element: Element, name: str) -> Element | None:
    return next((child for child in element.iter("property") if child.get("name") == name), None)


def _text(element: Element, name: str) -> str:
    child = _property(element, name)
    return (child.text or "").strip() if child is not None else ""


def _reference(element: Element, name: str) -> str:
    child = _property(element, name)
    return _id(child) if child is not None else ""


def _date(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text[:19]).replace(tzinfo=UTC)
    except ValueError:
        return None
