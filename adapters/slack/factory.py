"""Builds the platform from plain values, as settings hold them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from aiohttp import ClientSession, ClientTimeout
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.backlog import Backlogs
from adapters.slack.downloads import Downloads, Hosted
from adapters.slack.files import Files
from adapters.slack.lookups import Lookups, everybody
from adapters.slack.options import Options
from adapters.slack.outage import Outage
from adapters.slack.people import People
from adapters.slack.platform import Hook, Parts, Slack
from adapters.slack.reading import Reading
from adapters.slack.socket import Socket
from bot.chat import Incoming
from bot.errors import SettingsError
from bot.home import Pages
from bot.http import Mount
from bot.threads import FollowedThreads


def open_client(token: str, api_url: str = "", *, session: ClientSession) -> AsyncWebClient:
    """A client of the Web API at `api_url`, Slack's own without one. It repeats nothing: what may
    be repeated, and when, is decided in reading.py, requests.py and outage.py."""
    return AsyncWebClient(
        token.strip(),
        api_url.strip() or AsyncWebClient.BASE_URL,
        session=session,
        retry_handlers=[],
    )


def create(
    token: str,
    *,
    app_token: str = "",
    signing_secret: str = "",
    api_url: str = "",
    http: Mount | None = None,
    threads: FollowedThreads | None = None,
    pages: Pages | None = None,
    reads: Callable[[Incoming], Awaitable[bool]] = everybody,
    options: Options | None = None,
    clock: Callable[[], float] = time.monotonic,
    now: Callable[[], float] = time.time,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> Slack:
    """The platform: by Socket Mode when `app_token` is given, else by signed requests on `http`.

    `threads` remembers in which threads no mention is needed any more; without it one always is.
    `reads` tells whether text files that come with a question are read for it.
    Call it in a running event loop. Raises SettingsError.
    """
    options = options or Options()
    if not app_token.strip() and not signing_secret.strip():
        raise SettingsError(
            "Slack needs a way in",
            "Set BELAY_SLACK_APP_TOKEN (Socket Mode) or BELAY_SLACK_SIGNING_SECRET (HTTP).",
        )
    if not app_token.strip() and http is None:
        raise SettingsError("signed requests need the HTTP server", "Set BELAY_HTTP.")
    session = ClientSession(timeout=ClientTimeout(total=options.call_timeout))
    client = open_client(token, api_url, session=session)
    outage = Outage(options, sleep)
    door: Socket | Hook
    if app_token.strip():
        door = Socket(client, session, app_token.strip(), options, outage)
    else:
        assert http is not None
        door = Hook(signing_secret.strip(), http)
    reading = Reading(client, options, sleep)
    people = People(reading, options, clock)
    hosted = Hosted(session, token.strip(), own_host=_host(api_url), proxy=client.proxy or "")
    backlogs = Backlogs(reading, people, options)
    lookups = Lookups(people, backlogs, Files(hosted, options), reads)
    downloads = Downloads(hosted, reading, options)
    parts = Parts(session, client, outage, people, lookups, downloads, door)
    return Slack(
        parts, threads=threads, pages=pages, options=options, clock=clock, now=now, sleep=sleep
    )


def _host(api_url: str) -> str:
    """Host and port of a Web API of one's own; "" for Slack's."""
    host = urlsplit(api_url.strip()).netloc
    return "" if host.endswith("slack.com") else host
