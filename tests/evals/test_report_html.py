"""The report as its reader opens it: in a browser, also on a phone, and with hostile documents."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bs4 import BeautifulSoup
from matplotlib.image import imread

from bot.evals.html import About, page
from bot.evals.report import report
from bot.evals.run import Result
from graph.model import Outcome
from graph.policy import Policy
from tests.evals import browser
from tests.evals.browser import Browser
from tests.evals.evaluated import result

BELAY = Path(sys.executable).with_name("belay")
ATTACKS = (
    "<img src=x onerror=document.title='owned'>",
    "</script><script>document.title='owned'</script>",
    "</title></style></svg><script>document.title='owned'</script>",
    '" onmouseover="x" autofocus onfocus="document.title=\'owned\'',
    "<!-- <iframe src=javascript:alert(1)> ]]> &lt;b&gt; \u202egnp.exe",
)
FAULTLESS = [result("which port is it?", expected=["a.md"], ranked=[("a.md", 0.9)], cited=["a.md"])]
MIXED = [
    *FAULTLESS,
    result("which port is it not?", Outcome.NOT_FOUND, expected=["b.md"], ranked=[("a.md", 0.3)]),
    result(
        "how do I restart oracle?",
        ranked=[("oracle.md", 0.95), ("b.md", 0.5)],
        cited=["oracle.md"],
        category="absent",
        text="Restart it [1].",
    ),
    result("who won the cup?", Outcome.NOT_FOUND, ranked=[("a.md", 0.1)], category="absent"),
]  # fmt: skip


@pytest.fixture(scope="session")
def chromium() -> Browser:
    program = browser.found()
    if program is None:
        pytest.skip("needs Chromium: `make peers` installs it on Debian and Ubuntu")
    return Browser(program)


def rendered(results: Sequence[Result], questions: str = "questions.jsonl") -> str:
    made_at = datetime(2026, 3, 2, 3, 0, tzinfo=UTC)
    about = About(questions, "runbooks", "some-embedder", "", Policy(), made_at)
    return page(results, report(results, Policy()), about)


def saved(folder: Path, text: str) -> Path:
    file = folder / "report.html"
    file.write_text(text, encoding="utf-8")
    return file


def text_of(html: str) -> str:
    return re.sub(r"\s+", " ", BeautifulSoup(html, "html.parser").get_text(" "))


def test_summary_says_in_words_what_happened() -> None:
    text = text_of(rendered(MIXED))
    assert "4 questions: 2 with an answer in the documents, 2 without." in text
    assert "Of those with an answer: 1 answered (50%), 0 in part, 1 refused." in text
    assert "Of those without: 1 answered (50%) all the same: false answers." in text


def test_worst_questions_show_what_was_expected_and_what_came_instead() -> None:
    soup = BeautifulSoup(rendered(MIXED), "html.parser")
    refused, false = (
        next(item for item in soup.find_all("article") if words in item.h4.text)
        for words in ("port is it not", "oracle")
    )
    assert "b.md (not found)" in refused.get_text(" ")
    assert "0.30 a.md" in re.sub(r"\s+", " ", refused.get_text(" "))
    assert "Restart it [1]." in false.get_text(" ")
    assert "which port is it?" not in [item.h4.text for item in soup.find_all("article")]


def test_tables_are_those_of_the_terminal() -> None:
    soup = BeautifulSoup(rendered(MIXED), "html.parser")
    heads = {cell.text for cell in soup.select("thead th")}
    assert {
        "recall@1",
        "recall@5",
        "AUROC of answerable against",
        "factual 0.75",
        "not_found",
    } <= heads
    assert "query types" in soup.get_text(" ")


def test_tables_have_captions_and_headers_and_charts_have_names() -> None:
    soup = BeautifulSoup(rendered(MIXED), "html.parser")
    for table in soup.find_all("table"):
        assert table.caption.text
        assert all(cell.get("scope") == "col" and cell.text for cell in table.select("thead th"))
        assert all(row.find(True).get("scope") == "row" for row in table.select("tbody tr"))
    charts = soup.find_all("svg")
    assert len(charts) == 3
    assert all(chart["role"] == "img" and len(chart["aria-label"]) > 20 for chart in charts)
    assert soup.html["lang"] == "en"
    levels = [int(item.name[1]) for item in soup.find_all(re.compile(r"^h\d$"))]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_page_needs_nothing_from_elsewhere_and_no_script() -> None:
    soup = BeautifulSoup(rendered(MIXED), "html.parser")
    assert not soup.find_all(["script", "link", "img", "iframe", "object", "base", "form"])
    assert not [tag for tag in soup.find_all(True) if tag.has_attr("src") or tag.has_attr("href")]
    assert "url(" not in soup.style.text
    assert "@import" not in soup.style.text


@pytest.mark.parametrize(
    "results",
    [
        FAULTLESS,
        [result("nothing is known", Outcome.NOT_FOUND)],
        [result("thanks", Outcome.ANSWERED, expected=["a.md"], category="")],
    ],
    ids=["only answerable", "only unanswerable", "nothing retrieved"],
)
def test_one_sided_question_sets_have_a_report(results: list[Result]) -> None:
    assert "1 question: " in text_of(rendered(results))


def test_long_lists_are_cut_and_say_so() -> None:
    many = [result(f"false {n}", ranked=[("a.md", 0.9)], cited=["a.md"]) for n in range(27)]
    html = rendered(many)
    assert html.count("<article>") == 20
    assert "… and 7 more." in html


@pytest.mark.parametrize("attack", ATTACKS)
def test_hostile_text_stays_text(chromium: Browser, tmp_path: Path, attack: str) -> None:
    """SC: questions, headings, paths, categories and answers are written by strangers."""
    hostile = result(
        attack, ranked=[(attack, 0.9)], cited=[attack], category=attack, heading=attack,
        reason=attack, text=attack,
    )  # fmt: skip
    opened = chromium.open(saved(tmp_path, rendered([*FAULTLESS, hostile], questions=attack)))
    soup = BeautifulSoup(opened.dom, "html.parser")
    assert soup.title.text == f"Belay: {attack}"
    assert soup.find("article").h4.text == attack
    assert attack in soup.find("article").ol.text
    assert not soup.find_all(["script", "img", "iframe"])
    assert not [
        tag for tag in soup.find_all(True) if any(key.startswith("on") for key in tag.attrs)
    ]
    assert opened.console == ()


def test_browser_would_report_a_script_that_got_through(chromium: Browser, tmp_path: Path) -> None:
    """What the tests above rely on: an injected script is refused by the page, and is logged."""
    broken = rendered(MIXED).replace("<main>", "<main><script>document.title='owned'</script>")
    opened = chromium.open(saved(tmp_path, broken))
    assert "owned" not in BeautifulSoup(opened.dom, "html.parser").title.text
    assert any("Content Security Policy" in line for line in opened.console)


@pytest.mark.parametrize("dark", [False, True])
def test_page_and_charts_are_visible(chromium: Browser, tmp_path: Path, dark: bool) -> None:
    picture = tmp_path / "report.png"
    file = saved(tmp_path, rendered(MIXED))
    chromium.picture(file, picture, width=1200, height=1600, dark=dark)
    pixels = imread(picture)[:, :, :3]
    brightness = pixels.mean(axis=2)
    paper = np.median(brightness)
    assert paper < 0.2 if dark else paper > 0.9
    assert 0.01 < (np.abs(brightness - paper) > 0.3).mean() < 0.3  # ink, and paper between it
    blue, orange = _coloured(pixels, hot=2), _coloured(pixels, hot=0)
    assert blue > 1000
    assert orange > 300


def _coloured(pixels: np.ndarray, hot: int) -> int:
    """How many pixels are clearly redder than blue (`hot` = 0) or the other way round (2)."""
    difference = pixels[:, :, hot] - pixels[:, :, 2 - hot]
    return int((difference > 0.35).sum())


@pytest.mark.parametrize("width", [320, 390])
def test_page_does_not_scroll_sideways_on_a_phone(
    chromium: Browser, tmp_path: Path, width: int
) -> None:
    long = result("x" * 300, ranked=[("d/" * 150, 0.9)], cited=["a.md"], heading="h" * 300)
    inner = escape(rendered([*MIXED, long]))
    wrapper = (
        f'<iframe id="phone" style="width:{width}px;height:800px;border:0" srcdoc="{inner}">'
        "</iframe><script>onload = () => { document.title = "
        "document.getElementById('phone').contentDocument.documentElement.scrollWidth }</script>"
    )
    opened = chromium.open(saved(tmp_path, wrapper))
    assert int(BeautifulSoup(opened.dom, "html.parser").title.text) <= width


def belay(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(BELAY), *words],
        check=False,
        cwd=folder,
        env={**os.environ, "BELAY_HOME": str(folder / "home"), "BELAY_WEB": "off"},
        text=True,
        capture_output=True,
    )


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any], str]:
    """(report, figures, terminal output) of `belay eval` over two documents, one hostile."""
    folder = tmp_path_factory.mktemp("eval")
    docs = folder / "docs"
    docs.mkdir()
    (docs / "billing.md").write_text("# Billing\n\nBilling listens on port 8081.\n")
    (docs / "evil.md").write_text(f"# Lockers {ATTACKS[1]}\n\nLockers open with a code.\n")
    rows = [
        {"id": "1", "question": "which port does billing use", "gold_docs": ["billing.md"]},
        {"id": "2", "question": f"{ATTACKS[0]} how do lockers open", "gold_docs": ["gone.md"]},
        {"id": "3", "question": "who won the world cup", "answerable": False, "category": "off"},
    ]
    lines = "\n".join(json.dumps(row) for row in rows)
    (folder / "questions.jsonl").write_text(lines, encoding="utf-8")
    done = belay(
        folder, "eval", "questions.jsonl", "--docs", "docs", "--json", "figures.json",
        "--report", "report.html",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    figures = json.loads((folder / "figures.json").read_text(encoding="utf-8"))
    return folder / "report.html", figures, done.stdout


def test_command_writes_a_report_that_opens(
    chromium: Browser, measured: tuple[Path, dict[str, Any], str]
) -> None:
    file, figures, shown = measured
    opened = chromium.open(file)
    text = text_of(opened.dom)
    assert opened.console == ()
    assert "3 questions: 2 with an answer in the documents, 1 without." in text
    recall = f"{figures['overall']['recall_at_1']:.3f}"
    assert recall in text
    assert recall in shown
    assert ATTACKS[0] in text
    assert "evil.md" in text


@pytest.mark.parametrize("option", ["--report", "--json"])
def test_a_file_that_cannot_be_written_is_told_before_anything_is_measured(
    tmp_path: Path, option: str
) -> None:
    done = belay(tmp_path, "eval", "no-questions.jsonl", "--docs", ".", option, "gone/report.html")
    assert done.returncode == 2
    assert f"{option}: 'gone/report.html' cannot be written" in done.stderr
    assert "Traceback" not in done.stderr


def test_types_have_no_report(tmp_path: Path) -> None:
    done = belay(tmp_path, "eval", "types", "types.jsonl", "--report", "report.html")
    assert done.returncode == 2
    assert "--report" in done.stderr
