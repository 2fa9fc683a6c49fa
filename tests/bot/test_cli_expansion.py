"""`[expansion]` as a team uses it: a chat model writes lines at a sync, and people find by them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from aiohttp import web
from cli_kit import Belay, Ended
from contract.index_chunks import NEEDS_WEAVIATE

from tests.servers.llama import MODEL, llama_server, missing
from tests.servers.openai_server import OpenAIServer, Request, Say, Status

PAGES = {
    "pool": "# Gunicorn pool\n\nWhen `gunicorn_busy` is 1 for 5 minutes, raise WORKERS to 12.\n",
    "cert": "# Certificates\n\nRenew the TLS certificate with `certbot renew` every 60 days.\n",
    "mail": "# Mail queue\n\nFlush the postfix queue with `postqueue -f`.\n",
    "site": "# Marketing site\n\nThe website is built by Hugo and published every day.\n",
    "dns": "# DNS\n\nThe zone file is in the repository; raise its serial with each change.\n",
}
LINES = [
    "the shop answers ever so slowly and people leave their baskets",
    "everything loads forever since lunch",
    "магазин еле открывается, покупатели уходят",
]
SYMPTOM = "people leave, the shop loads forever since lunch"


class Lines(Say):
    """Lines for the page about the pool, none for the others."""

    async def answer(self, request: Request, http: web.Request) -> web.StreamResponse:
        lines = LINES if "gunicorn_busy" in request.user else []
        return await Say(json.dumps({"lines": lines})).answer(request, http)


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    for name, text in PAGES.items():
        (folder := tmp_path / "docs").mkdir(exist_ok=True)
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    return tmp_path / "docs"


def expanding(tmp_path: Path, url: str, model: str = "m") -> Belay:
    belay = Belay(tmp_path / "home")
    return belay.with_(MODEL=model, MODEL_URL=url, MODEL_KEY="k", EXPANSION__ENABLED="on")


async def run(belay: Belay, *words: str | Path) -> Ended:
    ended = await asyncio.to_thread(belay, *words)
    ended.without_frames()
    return ended


def documents(found: Ended) -> list[str]:
    return [hit["id"] for hit in found.json]


@pytest.fixture(params=["sqlite", pytest.param("weaviate", marks=NEEDS_WEAVIATE)])
def engine(request: pytest.FixtureRequest) -> dict[str, str]:
    """Settings of the engine."""
    if request.param == "sqlite":
        return {}
    settings: dict[str, str] = request.getfixturevalue(request.param)
    return settings


async def test_a_symptom_finds_the_page_that_has_none_of_its_words(
    tmp_path: Path, docs: Path, engine: dict[str, str]
) -> None:
    plain = Belay(tmp_path / "plain")
    await run(plain, "sync", docs)
    before = documents(await run(plain, "search", "--json", SYMPTOM))
    async with OpenAIServer(default=Lines()) as server:
        belay = expanding(tmp_path, server.url).with_(**engine)
        synced = await run(belay, "sync", docs)
        assert "with lines of the model: 1" in synced.out
        assert len(server.requests) == len(PAGES)
        await run(belay, "sync", docs)
        assert len(server.requests) == len(PAGES)
        found = await run(belay, "search", "--json", SYMPTOM)
        asked = await run(belay.with_(MODEL=""), "ask", SYMPTOM)
    assert "docs/pool.md" not in before, "else this test shows nothing"
    assert documents(found)[0] == "docs/pool.md"
    assert not [line for line in LINES if line in found.out + asked.out]


async def test_a_model_that_is_away_is_told_and_asked_again(tmp_path: Path, docs: Path) -> None:
    async with OpenAIServer(default=Status(401, "no", code="invalid_api_key")) as server:
        belay = expanding(tmp_path, server.url)
        synced = await run(belay, "sync", docs)
        assert synced.code == 0
        assert "without lines, the model was away (see belay doctor)" in synced.out
    async with OpenAIServer(default=Lines()) as server:
        again = await run(expanding(tmp_path, server.url), "sync", docs)
    assert "with lines of the model: 1" in again.out


async def test_without_a_model_it_is_off_and_doctor_says_so(tmp_path: Path, docs: Path) -> None:
    belay = expanding(tmp_path, "http://127.0.0.1:9/v1").with_(MODEL="")
    synced = await run(belay, "sync", docs)
    assert (synced.code, "lines" in synced.out) == (0, False)
    checked = await run(belay, "doctor")
    (line,) = (line for line in checked.out.splitlines() if "expansion" in line)
    assert line.startswith("note")
    assert "BELAY_MODEL" in checked.out


@pytest.mark.skipif(bool(missing()), reason=missing())
async def test_a_real_model_gives_lines_or_none_and_costs_no_document(
    tmp_path: Path, docs: Path
) -> None:
    """The form only: what so small a model says is worth nothing."""
    for page in PAGES.keys() - {"dns"}:
        (docs / f"{page}.md").unlink()
    with llama_server() as url:
        belay = expanding(tmp_path, url, MODEL).with_(EXPANSION__LINES="1")
        synced = await run(belay.with_(EXPANSION__LANGUAGES="en"), "sync", docs)
    assert synced.code == 0, synced.err
    assert "1 indexed" in synced.out
    assert "without lines" not in synced.out
