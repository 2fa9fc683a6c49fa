"""A local proxy that plays the search engines: it ends TLS for whatever host is asked for.

The search library runs unchanged, as behind a company's proxy with a certificate of its own.
"""

from __future__ import annotations

import contextlib
import re
import socketserver
import ssl
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import trustme

DUCKDUCKGO = "html.duckduckgo.com"
MOJEEK = "www.mojeek.com"
BRAVE = "search.brave.com"


@dataclass(frozen=True, slots=True)
class Page:
    """What a host answers. With `hangs` it answers nothing until the proxy closes."""

    status: int = 200
    body: str = "<html><body>No pages found.</body></html>"
    hangs: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    host: str
    method: str
    path: str
    fields: Mapping[str, str]  # of the query string and of the form


Entry = tuple[str, str, str]  # title, address, snippet: as HTML


def duckduckgo_page(entries: Sequence[Entry]) -> Page:
    items = "".join(
        f'<div class="links_main result__body"><h2><a href="{url}">{title}</a></h2>'
        f'<a class="result__snippet" href="{url}">{snippet}</a></div>'
        for title, url, snippet in entries
    )
    return Page(body=f"<html><body><div>{items}</div></body></html>")


def mojeek_page(entries: Sequence[Entry]) -> Page:
    items = "".join(
        f'<li><h2><a href="{url}">{title}</a></h2><p class="s">{snippet}</p></li>'
        for title, url, snippet in entries
    )
    return Page(body=f'<html><body><ul class="results-standard">{items}</ul></body></html>')


@dataclass(slots=True)
class WebProxy:
    """`pages` may be changed at any time; a host without a page finds nothing."""

    address: str
    ca_file: str
    pages: dict[str, Page] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)

    @property
    def hosts(self) -> list[str]:
        return [item.host for item in self.asked]


@contextlib.contextmanager
def web_proxy() -> Iterator[WebProxy]:
    authority = trustme.CA()
    with tempfile.TemporaryDirectory() as folder:
        ca_file = Path(folder) / "ca.pem"
        authority.cert_pem.write_to_path(str(ca_file))
        server = _Server(("127.0.0.1", 0), _Tunnel)
        port = server.server_address[1]
        proxy = WebProxy(f"http://127.0.0.1:{port}", str(ca_file))
        server.proxy, server.authority = proxy, authority
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield proxy
        finally:
            server.closing.set()
            server.shutdown()
            thread.join()
            server.server_close()


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = False
    proxy: WebProxy
    authority: trustme.CA

    def __init__(self, *args: Any) -> None:
        self.closing = threading.Event()
        self._contexts: dict[str, ssl.SSLContext] = {}
        self._lock = threading.Lock()
        super().__init__(*args)

    def tls(self, host: str) -> ssl.SSLContext:
        with self._lock:
            if host not in self._contexts:
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                self.authority.issue_cert(host).configure_cert(context)
                self._contexts[host] = context
            return self._contexts[host]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up early is part of the play."""


class _Tunnel(socketserver.StreamRequestHandler):
    server: _Server

    def handle(self) -> None:
        request = self.rfile.readline().decode()
        self._headers()
        target = re.match(r"CONNECT ([^:\s]+):\d+", request)
        if target is None:
            self.server.proxy.asked.append(Asked(request.strip(), "", "", {}))
            return
        host = target[1]
        self.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        with self.server.tls(host).wrap_socket(self.request, server_side=True) as secure:
            self.rfile = secure.makefile("rb")
            with self.rfile:
                self._answer(host, secure)

    def _answer(self, host: str, secure: ssl.SSLSocket) -> None:
        method, target, _ = self.rfile.readline().decode().split(" ", 2)
        length = int(self._headers().get("content-length", 0))
        form = self.rfile.read(length).decode()
        parts = urlsplit(target)
        fields = {
            key: values[-1] for key, values in (parse_qs(parts.query) | parse_qs(form)).items()
        }
        self.server.proxy.asked.append(Asked(host, method, parts.path, fields))
        page = self.server.proxy.pages.get(host, Page())
        if page.hangs:
            self.server.closing.wait()
            return
        body = page.body.encode()
        head = (
            f"HTTP/1.1 {page.status} Scripted\r\nContent-Type: text/html; charset=utf-8\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        secure.sendall(head.encode() + body)

    def _headers(self) -> dict[str, str]:
        found: dict[str, str] = {}
        while line := self.rfile.readline().decode().strip():
            name, _, value = line.partition(":")
            found[name.lower()] = value.strip()
        return found
