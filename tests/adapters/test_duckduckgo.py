"""The web search through ddgs against a proxy that plays the search engines; nothing is patched."""

import asyncio
import logging
import socket
import sys
import types
from collections.abc import Iterator, Sequence

import pytest

from adapters.duckduckgo import BACKENDS, DuckDuckGo, Pace, create
from adapters.regions import normalised_region
from bot.errors import SettingsError
from graph.errors import WebUnavailable
from graph.ports import WebResult
from tests.servers.web_proxy import (
    BRAVE,
    DUCKDUCKGO,
    MOJEEK,
    Page,
    WebProxy,
    duckduckgo_page,
    mojeek_page,
    web_proxy,
)

ENGINES = (DUCKDUCKGO, MOJEEK, BRAVE)
REFUSALS = {
    "rate limit": Page(429, "<html>Too many requests</html>"),
    "accepted but not searched": Page(202, "<html>one moment</html>"),
    "forbidden": Page(403, "<html>no</html>"),
    "server error": Page(500, "<html>oops</html>"),
    "captcha with status 200": Page(200, "<html>Please solve this CAPTCHA to go on</html>"),
    "empty body": Page(200, ""),
}
FOUND = [("Redis", "https://redis.io/docs/", "OOM command not allowed")]
QUICK = Pace(request=1, interval=0.0)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def proxy() -> Iterator[WebProxy]:
    with web_proxy() as opened:
        yield opened


def client(
    proxy: WebProxy,
    *,
    backends: Sequence[str] = BACKENDS,
    region: str = "",
    pace: Pace = QUICK,
    clock: Clock | None = None,
) -> DuckDuckGo:
    return DuckDuckGo(
        proxy=proxy.address,
        ca_file=proxy.ca_file,
        backends=backends,
        region=region,
        pace=pace,
        clock=clock,
    )


async def ask(web: DuckDuckGo, query: str = "redis oom") -> Sequence[WebResult]:
    return await web.search(query, language="en", limit=5)


async def test_the_first_backend_with_results_is_enough(proxy: WebProxy) -> None:
    proxy.pages[DUCKDUCKGO] = duckduckgo_page(FOUND)
    assert [item.url for item in await ask(client(proxy))] == ["https://redis.io/docs/"]
    assert proxy.hosts == [DUCKDUCKGO]
    assert proxy.asked[0].fields["q"] == "redis oom"


@pytest.mark.parametrize("page", REFUSALS.values(), ids=REFUSALS.keys())
async def test_wb01_a_refusal_by_every_engine_is_a_failure(proxy: WebProxy, page: Page) -> None:
    proxy.pages.update(dict.fromkeys(ENGINES, page))
    with pytest.raises(WebUnavailable):
        await ask(client(proxy))


async def test_wb01_an_honest_empty_page_is_no_failure(proxy: WebProxy) -> None:
    assert list(await ask(client(proxy))) == []


async def test_wb01_a_question_about_captchas_may_find_nothing(proxy: WebProxy) -> None:
    proxy.pages[DUCKDUCKGO] = Page(body="<html>Nothing for: solve a captcha</html>")
    assert list(await ask(client(proxy), "solve a captcha")) == []


async def test_wb01_after_failures_in_a_row_nothing_is_sent_for_a_while(proxy: WebProxy) -> None:
    clock = Clock()
    web = client(proxy, pace=Pace(request=1, interval=0.0, failures=2, pause=180.0), clock=clock)
    proxy.pages.update(dict.fromkeys(ENGINES, REFUSALS["rate limit"]))
    for _ in range(2):
        with pytest.raises(WebUnavailable):
            await ask(web)
    proxy.asked.clear()
    clock.now += 179
    with pytest.raises(WebUnavailable):
        await ask(web)
    assert proxy.asked == []

    clock.now += 2
    proxy.pages = {DUCKDUCKGO: duckduckgo_page(FOUND)}
    assert len(await ask(web)) == 1
    assert len(await ask(web)) == 1


async def test_wb01_one_failed_trial_pauses_again(proxy: WebProxy) -> None:
    clock = Clock()
    web = client(proxy, pace=Pace(request=1, interval=0.0, failures=1, pause=60.0), clock=clock)
    proxy.pages.update(dict.fromkeys(ENGINES, REFUSALS["forbidden"]))
    for _ in range(2):
        with pytest.raises(WebUnavailable):
            await ask(web)
        clock.now += 61
    clock.now -= 30
    proxy.asked.clear()
    with pytest.raises(WebUnavailable):
        await ask(web)
    assert proxy.asked == []


@pytest.mark.parametrize("broken", [*REFUSALS.values(), Page(hangs=True), Page(body="<")], ids=str)
async def test_wb02_wb04_one_failing_backend_does_not_fail_the_search(
    proxy: WebProxy, broken: Page
) -> None:
    proxy.pages[DUCKDUCKGO] = broken
    proxy.pages[MOJEEK] = mojeek_page(FOUND)
    assert [item.title for item in await ask(client(proxy))] == ["Redis"]


async def test_wb02_a_refused_and_an_empty_engine_make_an_empty_answer(proxy: WebProxy) -> None:
    proxy.pages[DUCKDUCKGO] = REFUSALS["rate limit"]
    assert list(await ask(client(proxy))) == []


async def test_wb02_time_is_bounded_as_a_whole(proxy: WebProxy) -> None:
    proxy.pages.update(dict.fromkeys(ENGINES, Page(hangs=True)))
    with pytest.raises(WebUnavailable):
        await ask(client(proxy, pace=Pace(request=1, search=0.1, interval=0.0)))


async def test_wb02_an_unreachable_proxy_is_a_failure() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: refuses every connection
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(WebUnavailable):
            await ask(DuckDuckGo(proxy=address, pace=QUICK))


async def test_wb02_abandoned_searches_hold_no_more_threads_than_allowed(proxy: WebProxy) -> None:
    proxy.pages.update(dict.fromkeys(ENGINES, Page(hangs=True)))
    web = client(proxy, pace=Pace(request=1, search=0.3, interval=0.0, threads=2, failures=99))
    async with asyncio.TaskGroup() as group:
        for _ in range(5):
            group.create_task(_fails(web))
    assert len(proxy.asked) <= 2


async def _fails(web: DuckDuckGo) -> None:
    with pytest.raises(WebUnavailable):
        await ask(web)


async def test_searches_beyond_the_rate_are_refused_without_a_request(proxy: WebProxy) -> None:
    proxy.pages[DUCKDUCKGO] = duckduckgo_page(FOUND)
    pace = Pace(request=1, burst=2, interval=60.0, patience=1.0)
    clock = Clock()
    web = client(proxy, pace=pace, clock=clock)
    await ask(web)
    await ask(web)
    with pytest.raises(WebUnavailable):
        await ask(web)
    assert len(proxy.asked) == 2
    clock.now += 60
    assert len(await ask(web)) == 1


async def test_wb04_a_failing_backend_is_reported_once(
    proxy: WebProxy, caplog: pytest.LogCaptureFixture
) -> None:
    """WB-04: one line of the log, however often it is asked."""
    proxy.pages[DUCKDUCKGO] = Page(body="")
    proxy.pages[MOJEEK] = Page(hangs=True)
    proxy.pages[BRAVE] = Page()
    web = client(proxy)
    with caplog.at_level(logging.WARNING, logger="adapters"):
        for _ in range(2):
            await ask(web)
    messages = [record.getMessage() for record in caplog.records]
    assert len([message for message in messages if "mojeek" in message]) == 1


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ("", ""),
        ("wt-wt", ""),
        ("RU-ru", "ru-ru"),
        ("ru", "ru-ru"),
        (" ru_RU ", "ru-ru"),
        ("en", "us-en"),
        ("en-US", "us-en"),
        ("de", "de-de"),
        ("uk", "uk-en"),
    ],
)
def test_wb04_regions_are_normalised(given: str, used: str) -> None:
    """WB-04: one spelling for all backends."""
    assert normalised_region(given) == used


@pytest.mark.parametrize("region", ["mars", "zz-zz", "ru-", "ru-ru-ru", "../etc", "ru ru"])
def test_wb04_an_unknown_region_is_refused_at_the_start(region: str) -> None:
    """WB-04: before anybody asks."""
    with pytest.raises(SettingsError, match="region") as refused:
        create(region=region)
    assert "ru-ru" in refused.value.remedy


async def test_wb04_without_a_region_the_language_decides(proxy: WebProxy) -> None:
    proxy.pages[DUCKDUCKGO] = duckduckgo_page(FOUND)
    for region in ("wt-wt", "uk"):
        web = client(proxy, region=region)
        await web.search("память redis", language="ru", limit=3)
    assert [item.fields["l"] for item in proxy.asked] == ["ru-ru", "uk-en"]


async def test_wb04_every_backend_understands_every_spelling(proxy: WebProxy) -> None:
    proxy.pages[MOJEEK] = mojeek_page(FOUND)
    for region in ("", "wt-wt", "ru", "RU-ru", "en_US"):
        assert len(await ask(client(proxy, backends=("mojeek",), region=region))) == 1


@pytest.mark.parametrize("backends", [(), ("html",), ("duckduckgo", "bing"), ("auto",)])
def test_wb04_unknown_backends_are_refused_at_the_start(backends: tuple[str, ...]) -> None:
    with pytest.raises(SettingsError, match="backends"):
        create(backends=backends)


async def test_wb06_nothing_of_a_result_is_ever_fetched(proxy: WebProxy) -> None:
    with socket.create_server(("127.0.0.1", 0)) as canary:
        canary.setblocking(False)
        port = canary.getsockname()[1]
        proxy.pages[DUCKDUCKGO] = duckduckgo_page(
            [
                ("a", f"http://127.0.0.1:{port}/", "b"),
                ("c", f"http://localhost:{port}/", "d"),
                ("e", f"http://2130706433:{port}/", "f"),
                *FOUND,
            ]
        )
        found = await ask(client(proxy))
        with pytest.raises(BlockingIOError):
            canary.accept()
    assert [item.url for item in found] == ["https://redis.io/docs/"]
    assert set(proxy.hosts) == {DUCKDUCKGO}


async def test_wb11_entries_with_missing_fields_are_dropped(proxy: WebProxy) -> None:
    proxy.pages[DUCKDUCKGO] = duckduckgo_page(
        [("", "", "x"), ("Only a title", "https://b.example/", ""), ("No address", "", "y")]
    )
    found = await ask(client(proxy))
    assert [(item.title, item.url) for item in found] == [("Only a title", "https://b.example/")]


async def test_wb11_redirects_of_the_engine_lead_to_the_page_itself(proxy: WebProxy) -> None:
    link = "//duckduckgo.com/l/?uddg=https%3A%2F%2Fredis.io%2Fdocs%2F&amp;rut=abc"
    proxy.pages[DUCKDUCKGO] = duckduckgo_page([("Redis", link, "text")])
    assert [item.url for item in await ask(client(proxy))] == ["https://redis.io/docs/"]


async def test_an_empty_query_is_not_sent(proxy: WebProxy) -> None:
    assert list(await ask(client(proxy), "  ")) == []
    assert proxy.asked == []


@pytest.mark.parametrize("deadline", [2.0, 12.0, 60.0])
def test_a_search_ends_before_its_caller_gives_up(deadline: float) -> None:
    pace = Pace.within(deadline)
    assert pace.patience + pace.search < deadline
    assert pace.request >= 1


class Panic(BaseException):
    """As the Rust part of ddgs raises it: past every `except Exception`."""


class Panicking:
    def __init__(self, **_: object) -> None:
        pass

    def text(self, *_: object, **__: object) -> list[dict[str, str]]:
        raise Panic("called `Option::unwrap()` on a `None` value")


async def test_wb02_a_panic_of_the_engine_ends_one_search_and_no_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = types.ModuleType("ddgs")
    module.DDGS = Panicking  # type: ignore[attr-defined]  # a stand-in for the vendor's package
    monkeypatch.setitem(sys.modules, "ddgs", module)
    with pytest.raises(WebUnavailable):
        await ask(DuckDuckGo(pace=QUICK))


async def test_wb02_a_search_during_the_shutdown_is_a_failed_one(proxy: WebProxy) -> None:
    web = client(proxy)
    await web.close()
    with pytest.raises(WebUnavailable):
        await ask(web)
    assert proxy.asked == []
