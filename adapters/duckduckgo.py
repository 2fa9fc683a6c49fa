"""Web search through ddgs: named backends, bounded in time, threads and rate.

ddgs answers "No results found." both for a page without hits and for one that it could not read:
HTTP 202, 403 and 429 and challenge pages look the same to its caller. When every backend says so,
the search page itself is opened once more through `DDGS.extract`, whose error carries the HTTP
status. A refusal, an empty body or a challenge there makes the search failed instead of empty. What
remains indistinguishable: a backend that changed its page, or one that answers a robot with a page
of its usual looks and no hits.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ParamSpec, TypeVar
from urllib.parse import parse_qs, quote_plus, urlsplit

from adapters.regions import BY_LANGUAGE, normalised_region
from adapters.throttle import Breaker, Clock, TokenBucket
from bot.errors import SettingsError
from graph.errors import WebUnavailable
from graph.model import Language
from graph.ports import WebResult, WebSearch
from graph.web_results import clean

P = ParamSpec("P")
T = TypeVar("T")
log = logging.getLogger(__name__)

BACKENDS = ("duckduckgo", "mojeek", "brave")

_PAGES = {
    "brave": "https://search.brave.com/search?q={}",
    "duckduckgo": "https://html.duckduckgo.com/html/?q={}",
    "mojeek": "https://www.mojeek.com/search?q={}",
    "startpage": "https://www.startpage.com/sp/search?query={}",
    "yahoo": "https://search.yahoo.com/search?p={}",
}
_UNCHECKED = frozenset({"grokipedia", "wikipedia"})  # APIs: their empty answer is a plain one
_CHALLENGES = ("captcha", "anomaly", "unusual traffic", "a robot", "bots use", "are human")
_SCRIPTS = re.compile(r"<(script|style)\b.*?</\1>", re.DOTALL)
_NO_RESULTS = "No results found."
_REFUSED = "Failed to fetch"  # the start of extract's message when the status is not 200


@dataclass(frozen=True, slots=True)
class Pace:
    """Time-outs and pauses in seconds, and counts."""

    request: int = 4  # one request to one backend
    search: float = 10.0  # all backends together
    patience: float = 1.5  # the longest wait for one's turn
    margin: float = 0.5  # so that the caller's own time-out does not come first
    threads: int = 2  # an abandoned request holds its thread until `request` runs out
    burst: int = 5  # searches at once, and then one every `interval`
    interval: float = 2.0
    failures: int = 3  # failed searches in a row, after which none is tried for `pause`
    pause: float = 180.0

    @classmethod
    def within(cls, deadline: float) -> Pace:
        """The usual pace, with waiting and searching done shortly before `deadline`."""
        usual = cls()
        share = deadline / (usual.patience + usual.search + usual.margin)
        return replace(
            usual,
            request=max(1, min(usual.request, int(usual.request * share))),
            search=usual.search * share,
            patience=usual.patience * share,
        )


class DuckDuckGo(WebSearch):
    """Asks `backends` in order, each once, until one has usable results.

    `region` is country-language; empty means by the language of the question. `proxy` and
    `ca_file` (PEM) reach the search engines through a company's proxy. Raises SettingsError for an
    unknown region or backend.
    """

    def __init__(
        self,
        *,
        backends: Sequence[str] = BACKENDS,
        region: str = "",
        proxy: str = "",
        ca_file: str = "",
        pace: Pace | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._backends = _checked_backends(backends)
        self._region = normalised_region(region)
        self._proxy, self._ca_file = proxy, ca_file
        self._pace = pace or Pace()
        clocks = {} if clock is None else {"clock": clock}
        self._bucket = TokenBucket(self._pace.burst, self._pace.interval, **clocks)
        self._breaker = Breaker(self._pace.failures, self._pace.pause, **clocks)
        self._pool = ThreadPoolExecutor(self._pace.threads, thread_name_prefix="web-search")
        self._reported: set[str] = set()

    async def search(self, query: str, *, language: Language, limit: int) -> Sequence[WebResult]:
        if not query.strip() or limit < 1:
            return ()
        if not self._breaker.allows():
            raise WebUnavailable("the web search is paused after repeated failures")
        delay = self._bucket.turn(self._pace.patience)
        if delay is None:
            raise WebUnavailable("too many web searches at once")
        await asyncio.sleep(delay)
        try:
            async with asyncio.timeout(self._pace.search):
                results = await self._ask_in_order(query, language, limit)
        except TimeoutError as error:
            self._breaker.failure()
            raise WebUnavailable("the web search took too long") from error
        except WebUnavailable:
            self._breaker.failure()
            raise
        self._breaker.success()
        return results

    async def close(self) -> None:
        """Stops waiting requests; one on its way ends by its own time-out."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def _ask_in_order(
        self, query: str, language: Language, limit: int
    ) -> tuple[WebResult, ...]:
        silent: list[str] = []  # backends that said "no results"
        for backend in self._backends:
            try:
                found = await self._in_thread(self._ask, backend, query, language, limit)
            except BackendFailed as failed:
                self._report(backend, failed)
                continue
            results = clean(found, limit)
            if results:
                self._reported.discard(backend)
                return results
            silent.append(backend)
        for backend in silent:
            if await self._in_thread(self._has_answered, backend, query):
                return ()
            self._report(backend, BackendFailed("refused"))
        raise WebUnavailable("no search engine answered")

    async def _in_thread(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        call = partial(function, *args, **kwargs)
        try:
            waiting = asyncio.get_running_loop().run_in_executor(self._pool, call)
        except RuntimeError as error:
            raise WebUnavailable("the web search is closed") from error
        return await waiting

    def _ask(self, backend: str, query: str, language: Language, limit: int) -> list[WebResult]:
        """Results as the backend gave them, empty for "no results". Raises BackendFailed."""
        region = self._region or BY_LANGUAGE[language]
        try:
            client = self._client()
            # Twice the need: cleaning drops doubles, and a host counts at most twice.
            entries = client.text(query, backend=backend, region=region, max_results=2 * limit)
        except BaseException as error:  # scrapers may raise anything; a panic is no Exception
            if str(error) == _NO_RESULTS:
                return []
            raise BackendFailed(type(error).__name__) from error
        return [_result(entry) for entry in entries]

    def _has_answered(self, backend: str, query: str) -> bool:
        """False when the search page shows that the backend refused to search.

        A page that cannot be opened for another reason proves nothing: the backend's own "no
        results" stands.
        """
        page = _PAGES.get(backend)
        if page is None:
            return True
        try:
            content = self._client().extract(page.format(quote_plus(query)), fmt="text")["content"]
        except BaseException as error:
            return not str(error).startswith(_REFUSED)
        text = _SCRIPTS.sub("", str(content).lower())
        marks = [mark for mark in _CHALLENGES if mark not in query.lower()]
        return bool(text.strip()) and not any(mark in text for mark in marks)

    def _client(self) -> Any:
        from ddgs import DDGS  # noqa: PLC0415 - 0.1 s that only a question for the web pays

        return DDGS(
            proxy=self._proxy or None, timeout=self._pace.request, verify=self._ca_file or True
        )

    def _report(self, backend: str, failed: Exception) -> None:
        """One warning for each backend until it works again."""
        level = logging.DEBUG if backend in self._reported else logging.WARNING
        self._reported.add(backend)
        log.log(level, "web search backend %s failed: %s", backend, failed)


class BackendFailed(Exception):
    """One backend did not answer; the message is a class name, never the backend's own text."""


def create(
    *,
    backends: Sequence[str] = BACKENDS,
    region: str = "",
    deadline: float = 12.0,
    proxy: str = "",
    ca_file: str = "",
) -> WebSearch:
    """The web search of a running bot; `deadline` is in seconds. Raises SettingsError."""
    return DuckDuckGo(
        backends=backends,
        region=region,
        proxy=proxy,
        ca_file=ca_file,
        pace=Pace.within(deadline),
    )


def _checked_backends(backends: Sequence[str]) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip().lower() for name in backends))
    unknown = [name for name in names if name not in _PAGES.keys() | _UNCHECKED]
    if unknown or not names:
        # ddgs itself would silently ask every engine it knows.
        raise SettingsError(
            f"web_search.backends: {unknown or names!r} cannot be used",
            f"choose from {', '.join(sorted(_PAGES.keys() | _UNCHECKED))}",
        )
    return names


def _result(entry: Mapping[str, Any]) -> WebResult:
    return WebResult(
        str(entry.get("title") or ""),
        _target(str(entry.get("href") or "")),
        str(entry.get("body") or ""),
    )


def _target(href: str) -> str:
    """The page behind DuckDuckGo's redirect, which some of its pages use for every link."""
    url = f"https:{href}" if href.startswith("//") else href
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    if (parts.hostname or "").removeprefix("www.") == "duckduckgo.com" and parts.path == "/l/":
        return parse_qs(parts.query).get("uddg", [""])[0]
    return url
