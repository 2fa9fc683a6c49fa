"""A scheduling product's server on the loopback interface: it sends calendars over https.

async with calendar_server() as server:
    server.pages["/secret/rota.ics"] = Page(calendar(...))
    server.url("/secret/rota.ics")
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import trustme
from aiohttp import web


@dataclass(frozen=True, slots=True)
class Page:
    """What a path answers; with `hangs` nothing, until the server closes."""

    body: str | bytes = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    hangs: bool = False


@dataclass
class CalendarServer:
    base: str = ""
    ca_file: str = ""
    pages: dict[str, Page] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    closing: asyncio.Event = field(default_factory=asyncio.Event)

    def url(self, path: str) -> str:
        return self.base + path

    async def answer(self, request: web.Request) -> web.Response:
        self.asked.append(request.path)
        page = self.pages.get(request.path, Page("not here", 404))
        if page.hangs:
            await self.closing.wait()
        body = page.body if isinstance(page.body, bytes) else page.body.encode()
        return web.Response(body=body, status=page.status, headers=page.headers)


@asynccontextmanager
async def calendar_server(folder: Path) -> AsyncIterator[CalendarServer]:
    """Its certificate is signed by an authority that `ca_file` holds."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(folder / "authority.pem")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    server = CalendarServer(ca_file=str(folder / "authority.pem"))
    app = web.Application()
    app.router.add_get("/{path:.*}", server.answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
    await site.start()
    host, port = runner.addresses[0][:2]
    server.base = f"https://{host}:{port}"
    try:
        yield server
    finally:
        server.closing.set()
        await runner.cleanup()


def calendar(*events: Sequence[str] | str, head: str = "", tail: str = "") -> str:
    """An iCalendar text; each event is its lines, without UID when it needs none of its own."""
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//tests//EN", *head.split("\n")]
    for number, event in enumerate(events):
        own = event.split("\n") if isinstance(event, str) else list(event)
        uid = [] if any(line.startswith("UID") for line in own) else [f"UID:{number}"]
        lines += ["BEGIN:VEVENT", *uid, "DTSTAMP:20260101T000000Z", *own, "END:VEVENT"]
    lines += [*tail.split("\n"), "END:VCALENDAR", ""]
    return "\r\n".join(line for line in lines if line.strip()) + "\r\n"


def event(summary: str, start: datetime, end: datetime, *more: str) -> str:
    """A single event, in UTC."""
    return "\n".join(
        [f"DTSTART:{stamp(start)}", f"DTEND:{stamp(end)}", f"SUMMARY:{summary}", *more]
    )


def stamp(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y%m%dT%H%M%SZ}"
