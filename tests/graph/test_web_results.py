"""What of a web search may be cited."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.ports import WebResult
from graph.web_results import RESULTS_PER_HOST, SNIPPET_CHARACTERS, clean, public_url

INSIDE = [
    "http://169.254.169.254/latest/meta-data/",
    "http://localhost:8080/v1/schema",
    "http://[::ffff:10.0.0.5]/",
    "http://[::1]:9200/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.1/",
    "http://0177.0.0.1/",
    "http://127.1/",
    "http://10.0.0.5./",
    "http://１２７.０.０.１/",
    "http://8.8.8.8/",
    "http://weaviate:8080",
    "http://localhost./",
    "http://db.prod.internal/",
    "http://printer.local/",
    "http://wiki.corp/",
    "http://api.default.svc.cluster.local/",
    "http://wiki。local/",
    "http://10-0-0-5.nip.io/",
    "http://192.168.1.10.sslip.io/",
    "https://user:secret@a.example/",
    "https://good.example\\@127.0.0.1/",
    "http://127.0.0.1\\.good.example/",
    "http://[::1",
    "https://a.example:port/",
    "file:///etc/passwd",
    "ftp://a.example/x",
    "javascript:alert(1)",
    "data:text/html,x",
    "//a.example/x",
    "a.example",
    "",
]


@pytest.mark.parametrize("url", INSIDE)
def test_wb06_addresses_that_are_no_public_page_are_dropped(url: str) -> None:
    assert public_url(url) == ""
    assert clean([WebResult("t", url, "s")], 5) == ()


@pytest.mark.parametrize(
    ("url", "cleaned"),
    [
        ("HTTPS://A.Example:443/x#top", "https://a.example/x"),
        ("https://a.example", "https://a.example/"),
        ("https://a.example/?utm_source=x&q=1&gclid=2", "https://a.example/?q=1"),
        ("https://a.example:8443/", "https://a.example:8443/"),
        ("https://a.example/a b%20c", "https://a.example/a%20b%20c"),
        ("https://a.example/100%", "https://a.example/100%25"),
        ("https://en.wikipedia.org/wiki/C%2B%2B", "https://en.wikipedia.org/wiki/C%2B%2B"),
        ("https://ru.wikipedia.org/wiki/Под", "https://ru.wikipedia.org/wiki/%D0%9F%D0%BE%D0%B4"),
        ("https://v1-2-3.example.org/", "https://v1-2-3.example.org/"),
    ],
)
def test_wb11_addresses_work_and_carry_no_tracking(url: str, cleaned: str) -> None:
    assert public_url(url) == cleaned


def test_wb11_the_list_of_the_report_ends_as_one_clean_source() -> None:
    results = [
        WebResult("", "", "x"),
        WebResult("A &amp; B", "https://a.example/?x=1#t", "long " * 40_000),
        WebResult("A &amp; B", "https://www.a.example/?x=1&utm_medium=mail", "again"),
    ]
    (only,) = clean(results, 5)
    assert only.title == "A & B"
    assert only.url == "https://a.example/?x=1"
    assert len(only.snippet) <= SNIPPET_CHARACTERS


def test_wb11_one_site_does_not_fill_the_list() -> None:
    results = [WebResult(f"t{n}", f"https://a.example/{n}", "s") for n in range(6)]
    results.append(WebResult("other", "https://b.example/", "s"))
    hosts = [item.url.split("/")[2] for item in clean(results, 10)]
    assert hosts == ["a.example"] * RESULTS_PER_HOST + ["b.example"]


def test_wb11_control_and_invisible_characters_go() -> None:
    (only,) = clean([WebResult("a\x00b\u202ec", "https://a.example/", "x\x1b[31m\u200by\n\nz")], 1)
    assert only.title == "a b c"
    assert only.snippet == "x [31m y z"


def test_wb11_a_result_without_a_title_is_named_by_its_host() -> None:
    (only,) = clean([WebResult("", "https://docs.a.example/x", "text")], 1)
    assert only.title == "docs.a.example"


urls = st.one_of(
    st.text(max_size=40),
    st.builds(
        "{}://{}/{}".format,
        st.sampled_from(["http", "https", "HTTP"]),
        st.text("abc.-:@1[]%。\\", max_size=15),
        st.text(max_size=20),
    ),
)


@given(st.lists(st.builds(WebResult, st.text(max_size=30), urls, st.text(max_size=30))))
def test_wb11_anything_is_cleaned_once_and_for_all(results: list[WebResult]) -> None:
    cleaned = clean(results, 5)
    assert clean(cleaned, 5) == cleaned
    assert all(item.url.isascii() and item.url.startswith("http") for item in cleaned)
