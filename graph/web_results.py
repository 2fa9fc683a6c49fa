"""What may be cited of a web search: working public addresses, one entry a page, short texts.

Nothing is ever fetched from a result. Addresses that could only lead inside somebody's network
are dropped all the same, so that an answer never offers them as a source.
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from html import unescape
from urllib.parse import SplitResult, parse_qsl, quote, urlencode, urlsplit, urlunsplit

from graph.ports import WebResult

TITLE_CHARACTERS = 200
SNIPPET_CHARACTERS = 500
URL_CHARACTERS = 2000
RESULTS_PER_HOST = 2

_TRACKING = re.compile(r"(?:utm_|mc_|_hs).*|(?:fb|g|y|ms|tw|dc)clid|wbraid|gbraid|igshid", re.I)
_PUBLIC_HOST = re.compile(
    r"(?=.{4,253}\Z)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}"
)
_SPELT_IPV4 = re.compile(r"(?<!\d)(\d{1,3})[.-](\d{1,3})[.-](\d{1,3})[.-](\d{1,3})(?!\d)")
_STRAY_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_NUMERIC_LABEL = re.compile(r"\d+|0x[0-9a-f]*")
# Special-use names (RFC 6761, 6762, 8375, ICANN's .internal) and those that networks use unasked.
_INTERNAL = re.compile(
    r"(?:.*\.)?(?:local|localhost|localdomain|internal|intranet|private|corp|home|lan|arpa|onion"
    r"|test|invalid|svc|consul)"
)
_KEPT_IN_URLS = "/%:@!$&'()*+,;=~-._?"
_CONTROL = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})


def clean(results: Sequence[WebResult], limit: int) -> tuple[WebResult, ...]:
    """The first `limit` usable results, in order. Cleaning twice changes nothing.

    A result needs a title or a snippet and a public http(s) address. Tracking parameters and
    fragments go, a page counts once, a host at most RESULTS_PER_HOST times.
    """
    kept: list[WebResult] = []
    pages: set[tuple[str, ...]] = set()
    hosts: Counter[str] = Counter()
    for result in results:
        url = public_url(result.url)
        title = plain(result.title, TITLE_CHARACTERS)
        snippet = plain(result.snippet, SNIPPET_CHARACTERS)
        if not url or not (title or snippet):
            continue
        page = _page(url)
        if page in pages or hosts[page[0]] == RESULTS_PER_HOST:
            continue
        pages.add(page)
        hosts[page[0]] += 1
        kept.append(WebResult(title or page[0], url, snippet))
        if len(kept) == limit:
            break
    return tuple(kept)


def plain(text: str, limit: int) -> str:
    """`text` on one line: entities resolved, control characters gone, cut at a word at `limit`."""
    # A page may be far longer than what is kept of it; entities only ever shorten a text.
    text = unescape(unescape(text[: 20 * limit]))
    text = "".join(" " if unicodedata.category(ch) in _CONTROL else ch for ch in text)
    text = " ".join(unicodedata.normalize("NFC", text).split())
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    return (head.rsplit(" ", 1)[0] if " " in head else head) + "…"


def public_url(url: str) -> str:
    """The address without tracking, or "" when it is not a public http(s) page."""
    try:
        parts = urlsplit(url.strip())
        host = _public_host(parts.hostname or "")
        port = parts.port
    except ValueError:
        return ""
    if parts.scheme not in {"http", "https"} or not host or "@" in parts.netloc:
        return ""
    default = {"http": 80, "https": 443}[parts.scheme]
    netloc = host if port in {None, default} else f"{host}:{port}"
    path = quote(_STRAY_PERCENT.sub("%25", parts.path), safe=_KEPT_IN_URLS) or "/"
    cleaned = urlunsplit(SplitResult(parts.scheme, netloc, path, _query(parts.query), ""))
    return cleaned if len(cleaned) <= URL_CHARACTERS else ""


def _public_host(host: str) -> str:
    """The host in its ASCII form; "" for addresses, bare names and internal zones."""
    host = unicodedata.normalize("NFKC", host).replace("\u3002", ".").rstrip(".").lower()
    if not host.isascii():
        host = host.encode("idna").decode()  # UnicodeError is a ValueError
    internal = (
        not _PUBLIC_HOST.fullmatch(host)
        or _NUMERIC_LABEL.fullmatch(host.rsplit(".", 1)[-1])  # any spelling of an IPv4 address
        or _INTERNAL.fullmatch(host)
        or _names_private_address(host)
    )
    return "" if internal else host


def _names_private_address(host: str) -> bool:
    """True for wildcard DNS such as 10-0-0-5.example.io that resolves to the address it spells."""
    for match in _SPELT_IPV4.finditer(host):
        try:
            if not ipaddress.ip_address(".".join(match.groups())).is_global:
                return True
        except ValueError:
            continue
    return False


def _query(query: str) -> str:
    kept = [
        (key, value)
        for key, value in parse_qsl(query, keep_blank_values=True)
        if not _TRACKING.fullmatch(key)
    ]
    return urlencode(kept, quote_via=quote, safe="/:@!$'()*,;~")


def _page(url: str) -> tuple[str, ...]:
    """What makes two addresses the same page: host without www, path, sorted query."""
    parts = urlsplit(url)
    query = sorted(parse_qsl(parts.query, keep_blank_values=True))
    return parts.netloc.removeprefix("www."), parts.path.rstrip("/"), urlencode(query)
