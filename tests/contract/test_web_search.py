"""What every web search does, whatever it is made of."""

import asyncio
from collections.abc import Iterator, Sequence

import pytest

from adapters.duckduckgo import DuckDuckGo, Pace
from adapters.memory.web import MemoryWeb
from graph.errors import WebUnavailable
from graph.ports import WebResult, WebSearch
from tests.servers.web_proxy import BRAVE, DUCKDUCKGO, MOJEEK, Page, duckduckgo_page, web_proxy

EVERY_ENGINE = (DUCKDUCKGO, MOJEEK, BRAVE)
REDIS = WebResult("Redis memory", "https://redis.io/docs/memory", "How eviction works.")
FORUM = WebResult("Forum", "https://forum.example/t/1", "OOM command not allowed.")


class Web:
    """Makes a search that behaves in one way."""

    def finding(self, *results: WebResult) -> WebSearch:
        return MemoryWeb(results)

    def failing(self) -> WebSearch:
        return MemoryWeb(down=True)

    def slow(self) -> WebSearch:
        return MemoryWeb(hangs=True)


class DuckDuckGoWeb(Web):
    def __init__(self) -> None:
        self._opened = web_proxy()
        self._proxy = self._opened.__enter__()

    def _client(self) -> WebSearch:
        pace = Pace(request=1, interval=0.0)
        return DuckDuckGo(proxy=self._proxy.address, ca_file=self._proxy.ca_file, pace=pace)

    def finding(self, *results: WebResult) -> WebSearch:
        entries = [(item.title, item.url, item.snippet) for item in results]
        self._proxy.pages[DUCKDUCKGO] = duckduckgo_page(entries)
        return self._client()

    def failing(self) -> WebSearch:
        self._proxy.pages.update(dict.fromkeys(EVERY_ENGINE, Page(429, "<html>slow down</html>")))
        return self._client()

    def slow(self) -> WebSearch:
        self._proxy.pages.update(dict.fromkeys(EVERY_ENGINE, Page(hangs=True)))
        return self._client()

    def close(self) -> None:
        self._opened.__exit__(None, None, None)


@pytest.fixture(params=["memory", "duckduckgo"])
def web(request: pytest.FixtureRequest) -> Iterator[Web]:
    if request.param == "memory":
        yield Web()
        return
    made = DuckDuckGoWeb()
    yield made
    made.close()


async def ask(search: WebSearch, limit: int = 5) -> Sequence[WebResult]:
    return await search.search("redis out of memory", language="en", limit=limit)


async def test_results_come_as_found(web: Web) -> None:
    assert list(await ask(web.finding(REDIS))) == [REDIS]


async def test_no_more_than_the_limit(web: Web) -> None:
    assert len(await ask(web.finding(REDIS, FORUM), limit=1)) == 1


async def test_nothing_found_is_an_empty_answer(web: Web) -> None:
    assert list(await ask(web.finding())) == []


async def test_a_failed_search_is_an_error_and_not_an_empty_answer(web: Web) -> None:
    """WB-01: a rate limit must not read as "nothing exists"."""
    with pytest.raises(WebUnavailable):
        await ask(web.failing())


async def test_a_slow_search_can_be_given_up(web: Web) -> None:
    search = web.slow()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await ask(search)


@pytest.mark.parametrize(
    "address",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://localhost:8080/v1/schema",
        "http://weaviate:8080/",
        "http://grafana.corp.internal/d/1",
    ],
)
async def test_results_inside_a_network_are_dropped(web: Web, address: str) -> None:
    """WB-06"""
    inside = WebResult("Inside", address, "secret")
    assert list(await ask(web.finding(inside, REDIS))) == [REDIS]


async def test_results_are_clean(web: Web) -> None:
    """WB-11: entities, tracking parameters, doubles and endless snippets."""
    dirty: tuple[WebResult, ...] = (
        WebResult("A &amp;amp; B", "https://a.example/?x=1&utm_source=n#top", "word " * 9000),
        WebResult("A again", "https://a.example/?x=1&utm_campaign=z", "the same page"),
    )
    found = await ask(web.finding(*dirty))
    assert [(item.title, item.url) for item in found] == [("A & B", "https://a.example/?x=1")]
    assert len(found[0].snippet) <= 500
