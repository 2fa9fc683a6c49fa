"""A chat model that cannot be used: the answer comes anyway, and doctor names the setting."""

from __future__ import annotations

import asyncio
import json

from cli_kit import CUT_OFF, Belay, Ended

from tests.servers.openai_server import OpenAIServer, Page, Say, Status, Step

KEY = "sk-belay-0123456789abcdef"
WRONG = {
    "key": (Status(401, f"Incorrect API key provided: {KEY}", code="invalid_api_key"), "KEY"),
    "name": (Status(404, "The model `m` does not exist", code="model_not_found"), "BELAY_MODEL "),
    "address": (Page(), "URL"),
}


async def run(belay: Belay, *words: str) -> Ended:
    ended = await asyncio.to_thread(belay, *words)
    ended.without_frames()
    assert KEY not in ended.out + ended.err
    return ended


async def test_doctor_names_the_wrong_setting(indexed: Belay) -> None:
    async def check(step: Step, setting: str) -> None:
        async with OpenAIServer(default=step) as server:
            belay = indexed.with_(MODEL="m", MODEL_URL=server.url, MODEL_KEY=KEY)
            checked = await run(belay, "doctor")
        assert checked.code == 1
        (line,) = (line for line in checked.out.splitlines() if line.startswith("bad"))
        assert setting in line

    async with asyncio.TaskGroup() as group:
        for step, setting in WRONG.values():
            group.create_task(check(step, setting))


async def test_an_answer_comes_without_the_model_and_says_so(indexed: Belay) -> None:
    async with OpenAIServer(default=WRONG["key"][0]) as server:
        asked = await run(indexed.with_(MODEL="m", MODEL_URL=server.url), "ask", CUT_OFF)
    assert asked.code == 0
    assert "06:15" in asked.out
    assert "language model did not answer" in asked.out
    assert "belay doctor" in asked.err


async def test_a_server_that_is_not_there(indexed: Belay) -> None:
    belay = indexed.with_(MODEL="m", MODEL_URL="http://127.0.0.1:9/v1")
    asked = await run(belay, "ask", CUT_OFF)
    assert "06:15" in asked.out
    assert "language model did not answer" in asked.out


async def test_logs_carry_the_question_and_never_the_key(indexed: Belay) -> None:
    refuse = Status(401, f"Incorrect API key provided: {KEY}", code="invalid_api_key")
    async with OpenAIServer(default=refuse) as server:
        belay = indexed.with_(MODEL="m", MODEL_URL=server.url, MODEL_KEY=KEY, LOG_LEVEL="DEBUG")
        ended = await asyncio.to_thread(belay, "ask", "--json", CUT_OFF)
    assert KEY not in ended.out + ended.err
    assert KEY.removeprefix("sk-") not in ended.out + ended.err
    records = [json.loads(line) for line in ended.err.splitlines() if line.startswith("{")]
    question = ended.json["question_id"]
    loggers = {item["logger"] for item in records if item.get("question") == question}
    assert any(name.startswith(("openai", "httpx", "httpcore")) for name in loggers), loggers


async def test_a_model_that_works(indexed: Belay) -> None:
    reply = Say("The bank's cut-off is 06:15 UTC [1].")
    async with OpenAIServer(default=reply) as server:
        belay = indexed.with_(MODEL="m", MODEL_URL=server.url, MODEL_KEY=KEY)
        asked = await run(belay, "ask", "--json", CUT_OFF)
        sent = server.requests[0].headers["Authorization"]
    assert asked.json["text"].startswith("The bank's cut-off is 06:15 UTC [1]")
    assert sent == f"Bearer {KEY}"


async def test_lm_23_the_model_is_told_the_teams_clocks(indexed: Belay) -> None:
    """LM-23: `[oncall] zone` decides what "today" is, not UTC and not the machine's clock."""
    async with OpenAIServer(default=Say("The bank's cut-off is 06:15 UTC [1].")) as server:
        belay = indexed.with_(MODEL="m", MODEL_URL=server.url, ONCALL__ZONE="Asia/Vladivostok")
        await run(belay, "ask", CUT_OFF)
    assert "Asia/Vladivostok (UTC+10:00)" in server.requests[0].system
